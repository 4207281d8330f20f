"""What docs/teaching.md says about lessons, links and plans is what the program does."""

import re
from pathlib import Path

import pytest

from specviz.data.hidden import HIDEABLE
from specviz.data.lessons import plan_reader
from specviz.data.lessons.method_runs import METHOD_RUNS
from specviz.data.lessons.plan import FIRST, Plan
from specviz.data.lessons.plan_reader import parse_plan
from specviz.data.lessons.plans import find_plan
from specviz.data.lessons.recorded_runs import RECORDED_RUNS, STORY
from specviz.models.allowed import offered_names
from specviz.ui.lesson import own_plans

TEXT = (Path(__file__).parents[2] / "docs" / "teaching.md").read_text(encoding="utf-8")
PLAIN = " ".join(TEXT.split())


@pytest.fixture(scope="module")
def example() -> Plan:
    [found] = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    return parse_plan(found.encode(), "example", offered_names())


def test_the_example_of_a_plan_is_one(example: Plan) -> None:
    assert (example.title, len(example.moments)) == ("Dice in the draft", 2)
    assert sum(moment.minutes for moment in example.moments) == example.minutes


def test_what_the_example_says_of_its_run_is_true(example: Plan) -> None:
    moment = example.moments[0]
    run = moment.screen.run
    assert run is not None
    round, phase = divmod(moment.screen.step, 3)
    token = run.rounds[round].drafted[2]
    assert (phase, token.text, token.status) == (1, " because", "rejected")
    assert token.target_prob is not None
    assert token.draft_prob is not None
    assert token.u is not None
    assert token.target_prob < token.draft_prob
    assert f"here {token.target_prob / token.draft_prob:.2f}: mostly yes" in moment.answer
    assert f"the draw was {token.u:.2f}" in moment.answer


def test_all_names_of_controls_are_listed_with_what_they_hide() -> None:
    assert re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", TEXT, re.MULTILINE)[: len(HIDEABLE)] == list(HIDEABLE.items())


def test_the_addresses_of_lessons_lead_to_moments() -> None:
    addresses = re.findall(r"\?lesson=([a-z0-9-]+)&moment=([0-9]+)", TEXT)
    assert len(addresses) >= 3
    for name, moment in addresses:
        plan = find_plan(name)
        assert plan is not None
        assert 1 <= int(moment) <= len(plan.moments)


def test_the_recorded_runs_are_all_named() -> None:
    stories = (f"{STORY}{name}" for name in RECORDED_RUNS)
    assert {*re.findall(r"`run=([a-z-]+)`", TEXT)} == {FIRST, *stories, *METHOD_RUNS}


@pytest.mark.parametrize(
    "said",
    [
        f"up to {plan_reader.MAX_TITLE} characters",
        f"a whole number up to {plan_reader.MAX_MINUTES}",
        f"a list of up to {plan_reader.MAX_GOALS} sentences",
        f"a list of up to {plan_reader.MAX_MOMENTS} moments",
        f"up to {plan_reader.MAX_TEXT:,} characters each",
        f"at most {plan_reader.MAX_BYTES:,} bytes",
        f"{own_plans.MOST} newer plans",
    ],
)
def test_the_limits_are_the_programs(said: str) -> None:
    assert said in PLAIN


@pytest.mark.parametrize("figure", ["within 3.9 s", "within 1.2 s", "491 MB"])
def test_the_figures_of_a_class_are_those_of_operating(figure: str) -> None:
    operating = (Path(__file__).parents[2] / "docs" / "operating.md").read_text(encoding="utf-8")
    assert figure in PLAIN
    assert figure.removeprefix("within ") in operating
