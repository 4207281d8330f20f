"""Lesson plans: what a YAML file may hold, and that our own say what their recorded runs hold."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from specviz.cli.main import main
from specviz.core.errors import InputError
from specviz.core.metrics import costs, count, speedup
from specviz.core.names import ORDINALS, in_words
from specviz.core.trace import Round, Trace
from specviz.data.hidden import HIDEABLE, hidden_in, written
from specviz.data.lessons import plans
from specviz.data.lessons.plan import PAGES, VIEWS, Moment, Plan, Screen
from specviz.data.lessons.plans import MAX_BYTES, MAX_PROBLEMS, OWN, PlanError, all_plans, parse_plan, read_plan_file
from specviz.player.payload import View
from specviz.ui.shared.middleware import PAGES as PAGES_OF_THE_APP
from tests.support.known import known

MOMENT = """
  - title: One moment
    minutes: 3
    link: ./?run=first&step=4&hide=result,texts
    question: "Which guess fails: the first?"
    answer: The third.
"""
PLAN = f"""
title: A plan
minutes: 3
goals:
  - See a round.
moments:{MOMENT}"""


def problems_of(text: str | bytes) -> list[str]:
    with pytest.raises(PlanError) as refused:
        parse_plan(text if isinstance(text, bytes) else text.encode(), "own")
    return refused.value.problems


def test_a_plan_is_read_with_everything_in_it() -> None:
    plan = parse_plan(PLAN.encode(), "own")
    assert (plan.name, plan.title, plan.minutes, plan.goals) == ("own", "A plan", 3, ("See a round.",))
    [moment] = plan.moments
    assert (moment.title, moment.minutes, moment.mistakes, moment.do) == ("One moment", 3, "", "")
    assert moment.question == "Which guess fails: the first?"
    assert moment.screen.link == "./?run=first&step=4&hide=result,texts"
    assert (moment.screen.page, moment.screen.step) == ("watch", 4)
    assert moment.screen.run is not None
    text = PLAN.replace("run=first", "target=someone/else").encode()
    assert parse_plan(text, "own").moments[0].screen.last("target") == "someone/else"
    with pytest.raises(PlanError, match="target=someone/else is not a model known here"):
        parse_plan(text, "own", ["wren-base", "wren-nano"])


def test_texts_that_yaml_takes_for_other_things_stay_texts_and_a_tag_makes_no_object() -> None:
    text = PLAN.replace("A plan", "2026-01-01").replace("The third.", "yes").replace("See a round.", "010")
    plan = parse_plan(text.encode(), "own")
    assert (plan.title, plan.moments[0].answer, plan.goals) == ("2026-01-01", "yes", ("010",))
    [problem] = problems_of(PLAN.replace("A plan", "!!python/name:os.system x"))
    assert problem == "Line 2, “title”: a plan has no tags (!)."


def test_all_problems_of_a_file_come_at_once_each_with_its_place() -> None:
    text = """
minutes: soon
goals: See a round.
moments:
  - title: One
    minutes: 3
    link: https://example.org/?run=first
    question:
    anwser: The third.
  - just a text
"""
    assert problems_of(text) == [
        "Line 2: “title” is missing.",
        "Line 2, “minutes”: write a whole number from 1 to 240.",
        "Line 3, “goals”: write a list here: each item on lines of its own, after a hyphen.",
        "Line 9, moment 1: “anwser” is not a field of a plan here. The fields are title, minutes, link, question, "
        "answer, mistakes, do.",
        "Line 5, moment 1: “answer” is missing.",
        "Line 8, moment 1, “question”: it is empty.",
        "Line 7, moment 1, “link”: the link leads out of this app: write what follows the host's name, such as "
        "./?run=first&step=4.",
        "Line 10, moment 2: write fields here: title, minutes, link, question, answer, mistakes, do.",
    ]


def test_what_does_not_fit_is_refused() -> None:
    assert problems_of(PLAN.replace("minutes: 3\ngoals", "minutes: 2\ngoals")) == [
        "The moments take 3 minutes together, and the plan's “minutes” says 2."
    ]
    assert problems_of(PLAN.replace("title: A plan", "title: A plan\ntitle: B")) == ["Line 3: “title” is there twice."]
    assert problems_of(PLAN.replace("The third.", "x" * 1_001)) == [
        "Line 11, moment 1, “answer”: the text has 1,001 characters, and 1,000 is the most."
    ]
    assert problems_of(PLAN.replace("The third.", "[a, b]")) == [
        "Line 11, moment 1, “answer”: write a text here, not a list and not fields."
    ]
    assert "and 30 is the most" in problems_of(PLAN + MOMENT * 30)[0]
    many = problems_of("\n".join(f"field{i}: x" for i in range(100)))
    assert (len(many), many[-1]) == (MAX_PROBLEMS + 1, "There are 74 more problems.")


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("javascript:alert(1)", "leads out of this app"),
        ("JaVaScRiPt:alert(1)", "leads out of this app"),
        ("//example.org/", "leads out of this app"),
        ("http:example", "leads out of this app"),
        ("data:text/html,x", "leads out of this app"),
        ("/\\example.org", "a backslash"),
        ("./?prompt=two words", "a space"),
        ("./?prompt=\N{RIGHT-TO-LEFT OVERRIDE}x", "an invisible character"),
        ("../play", "names no page"),
        ("./admin", "names no page"),
        ("//[", "cannot be read as a link"),
        ("./?run=first#top", "a part after #"),
        ("./?" + "&".join(f"a{i}=1" for i in range(100)), "cannot be read"),
        ("./?prompt=" + "x" * 9_000, "longer than 8,000"),
        ("./?gamma=99", "gamma=99 is not a draft length"),
        ("./?view=huge", "view=huge is not one of"),
        ("./?run=story-nothing", "run=story-nothing is not a recorded run"),
        ("./?hide=result,everything", "hide=everything names no control"),
        ("./?run=first&moment=2", "moment is not for a moment's link"),
    ],
)
def test_a_link_that_does_not_open_a_screen_of_this_app_is_refused(link: str, said: str) -> None:
    [problem] = problems_of(PLAN.replace("./?run=first&step=4&hide=result,texts", f'"{link}"'.replace("\\", "\\\\")))
    assert problem.startswith("Line 9, moment 1, “link”: ")
    assert said in problem


@pytest.mark.parametrize(
    "link", ["./", "/", "?run=first", "./?run=00ff00ff00ff00ff&gamma=3", "learn?part=quiz", "/race"]
)
def test_a_link_to_any_page_of_the_app_is_taken(link: str) -> None:
    assert parse_plan(PLAN.replace("./?run=first&step=4&hide=result,texts", link).encode(), "own")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "The file is empty"),
        (b"# nothing", "The file is empty"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"\x1f\x8b\x08\x00\x00", "not text in UTF-8"),
        (b"title: \x00", "a character that YAML does not allow"),
        (b"x" * (MAX_BYTES + 1), "more than 64,000 bytes"),
        (b"[" * 60_000, "nested too deeply"),
        (b"- " * 30_000, "nested too deeply"),
        (b"{a: " * 10_000, "nested too deeply"),
        (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "no anchors"),
        (b"title: *nothing", "no anchors"),
        (b"title: a: b", "this is not YAML"),
        (b"title: [unclosed", "this is not YAML"),
        (b"title: 'unclosed", "this is not YAML"),
        (b"\ttitle: x", "this is not YAML"),
        (b"%FOO", "this is not YAML"),
        (b'title: "\\UFFFFFFFF"', "a character that YAML does not allow"),
        (b"--- a\n--- b", "this is not YAML"),
        (b"just a text", "write fields here: title, minutes, goals, moments"),
        (b"- a\n- b", "write fields here"),
        (b"!!python/object/apply:os.system [echo]", "write fields here"),
    ],
)
def test_a_hostile_file_gives_one_sentence(text: bytes, said: str) -> None:
    [problem] = problems_of(text)
    assert said in problem
    assert len(problem) < 400


def test_a_server_has_its_own_plans_and_those_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "week-3.yaml").write_text(PLAN)
    (tmp_path / "broken.yaml").write_text("title: x")
    (tmp_path / "Not a name.yaml").write_text(PLAN)
    (tmp_path / "ten-minutes.yaml").write_text(PLAN)
    monkeypatch.setenv("SPECVIZ_LESSONS", str(tmp_path))
    plans.all_plans.cache_clear()
    try:
        assert [plan.name for plan in plans.all_plans()] == ["ten-minutes", "fifty-minutes", "week-3"]
        found = known(plans.find_plan("ten-minutes"))
        assert found.title == "Ten minutes"  # the app's own name means the app's own plan
        assert plans.find_plan("broken") is None
        assert "broken.yaml is left out" in caplog.text
    finally:
        plans.all_plans.cache_clear()


def test_pages_views_and_names_to_hide_are_those_of_the_app() -> None:
    assert tuple(page.name for page in PAGES_OF_THE_APP) == PAGES
    assert View.__args__ == VIEWS
    assert Screen.of("./").link == "./"
    race = Screen.of("race?preset=story-1&preset=code-2")
    assert (race.params, race.link) == ({"preset": ["story-1", "code-2"]}, "./race?preset=story-1&preset=code-2")
    assert hidden_in(["result,texts", " costs ,"]) == ({"result", "texts", "costs"}, [])
    assert hidden_in(["result,nothing,nothing,<b>"]) == ({"result"}, ["nothing", "<b>"])
    assert written(["texts", "menu"]) == "menu,texts"
    assert hidden_in([written(HIDEABLE)]) == (set(HIDEABLE), [])


def test_a_file_on_the_command_line_gets_every_problem_said_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(PLAN)
    bad.write_text("title: x\nmoments:\n  - a text\n")
    assert main(["lesson", "check", str(good)]) == 0
    assert "A plan: 1 moment, 3 minutes" in capsys.readouterr().out
    assert main(["lesson", "check", str(bad)]) == 2
    *problems, last = capsys.readouterr().err.splitlines()
    assert problems == [
        "Line 1: “minutes” is missing.",
        "Line 1: “goals” is missing.",
        "Line 3, moment 1: write fields here: title, minutes, link, question, answer, mistakes, do.",
    ]
    assert last == "specviz: bad.yaml is no lesson plan yet: 3 problems, see above."
    assert main(["lesson", "check", str(tmp_path / "none.yaml")]) == 2
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_plan_file(tmp_path / "none.yaml")


MOMENTS = {(plan.name, moment.title): moment for plan in all_plans() if plan.name in OWN for moment in plan.moments}
NUMBERS = re.compile(r"\d+(?:\.\d+)?")
Facts = Callable[[Trace, Round], list[str]]


def quoted(*texts: str) -> list[str]:
    return [f"“{text.strip()}”" for text in texts]


def listed(texts: list[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def the_guesses(run: Trace, round: Round) -> list[str]:
    return [in_words(len(round.drafted))]


def the_named_guesses(run: Trace, round: Round) -> list[str]:
    return [in_words(len(round.drafted)), listed(quoted(*(token.text for token in round.drafted)))]


def a_rejected_guess(run: Trace, round: Round) -> list[str]:
    failed, own = round.drafted[round.accepted], round.emitted
    accepted = quoted(*(token.text for token in round.drafted[: round.accepted]))
    [discarded] = quoted(*(token.text for token in round.drafted[round.accepted + 1 :]))
    [rejected, correction] = quoted(failed.text, own.text)
    assert own.kind == "correction"
    assert round.drafted[0].target_prob is not None
    return [
        listed(quoted(*(token.text for token in round.drafted))),
        f"The {ORDINALS[round.accepted]}, {rejected}: the target’s",
        f"there is {correction}.",
        f"{' and '.join(accepted)} are accepted, {rejected} is rejected",
        f"{discarded} is discarded",
        f"{correction} is the correction",
        f"adds {in_words(len(round.emitted_ids))} tokens",
    ]


def a_full_round(run: Trace, round: Round) -> list[str]:
    assert (round.accepted, round.emitted.kind) == (len(round.drafted), "bonus")
    [bonus] = quoted(round.emitted.text)
    return [f"all {in_words(round.accepted)} guesses", f"{in_words(len(round.emitted_ids)).capitalize()}", bonus]


def speed(run: Trace) -> str:
    return f"{speedup(run):.2f}"


def the_first_run(run: Trace, round: Round) -> list[str]:
    counts = count(run.rounds)
    assert round is run.rounds[-1]
    assert round_number(counts.tokens_per_target_call) == 3
    judged = counts.accepted + counts.rejected
    return [
        f"{counts.emitted} tokens in {len(run.rounds)} target passes, about three tokens a pass",
        f"{speed(run)} times as fast",
        f"{counts.accepted} of {judged} checked guesses",
    ]


def round_number(value: float | None) -> int:
    assert value is not None
    return round(value)


def a_run_that_pays(run: Trace, round: Round) -> list[str]:
    counts = count(run.rounds)
    assert "<!DOCTYPE html>" in run.prompt.text
    return [
        f"{counts.accepted} of {counts.accepted + counts.rejected} checked guesses were accepted",
        f"the {counts.emitted} tokens took {len(run.rounds)} target passes",
        f"{speed(run)} times as fast",
    ]


def a_run_that_does_not_pay(run: Trace, round: Round) -> list[str]:
    counts = count(run.rounds)
    return [
        f"the draft length is {run.settings.draft_length}",
        f"{counts.discarded} guesses were discarded here",
        f"{counts.accepted} of {counts.accepted + counts.rejected} judged ones accepted",
        f"The {counts.emitted} tokens took {len(run.rounds)} passes",
        f"{speed(run)} times the speed",
    ]


def a_costly_draft(run: Trace, round: Round) -> list[str]:
    counts, cost = count(run.rounds), costs(run)
    assert run.drafter is not None
    assert cost is not None
    assert run.drafter.parameters is not None
    assert run.target.parameters is not None
    assert run.drafter.parameters > run.target.parameters
    return [
        f"{counts.accepted} of {counts.accepted + counts.rejected} checked guesses were accepted",
        f"{speed(run)} times the speed",
        f"The draft, {run.drafter.name}, is bigger than the target, {run.target.name}",
        f"One guess costs {cost.cost_ratio:.2f} target steps",
    ]


FACTS: dict[tuple[str, str], Facts] = {
    ("ten-minutes", "A small model guesses"): the_guesses,
    ("ten-minutes", "Which guess fails?"): a_rejected_guess,
    ("ten-minutes", "The best round"): a_full_round,
    ("ten-minutes", "Is it three times as fast?"): the_first_run,
    ("fifty-minutes", "A small model guesses"): the_named_guesses,
    ("fifty-minutes", "Which guess fails?"): a_rejected_guess,
    ("fifty-minutes", "The best round"): a_full_round,
    ("fifty-minutes", "When it pays"): a_run_that_pays,
    ("fifty-minutes", "When it does not pay"): a_run_that_does_not_pay,
    ("fifty-minutes", "A good draft can lose"): a_costly_draft,
}
PHASES = {"A small model guesses": 0, "Which guess fails?": 1, "The best round": 1}  # else the result


def text_of(moment: Moment) -> str:
    return " ".join([moment.question, moment.answer, moment.mistakes])


def test_every_moment_with_a_run_is_checked_and_the_slowest_is_the_costly_one() -> None:
    assert {key for key, moment in MOMENTS.items() if moment.screen.run} == FACTS.keys()
    runs = [moment.screen.run for (plan, _), moment in MOMENTS.items() if plan == "fifty-minutes"]
    speeds = [speedup(run) or 0.0 for run in runs if run]
    assert min(speeds) == speedup(MOMENTS["fifty-minutes", "A good draft can lose"].screen.run)


@pytest.mark.parametrize("key", FACTS, ids=": ".join)
def test_what_a_moment_says_of_its_run_is_true(key: tuple[str, str]) -> None:
    moment = MOMENTS[key]
    run = known(moment.screen.run)
    round, phase = divmod(moment.screen.step, 3)
    assert phase == PHASES.get(moment.title, 2)
    facts, text = FACTS[key](run, run.rounds[round]), text_of(moment)
    for fact in facts:
        assert fact in text
    assert set(NUMBERS.findall(text)) <= set(NUMBERS.findall(" ".join(facts)))  # none that is not checked


@pytest.mark.parametrize("key", [key for key in MOMENTS if key not in FACTS], ids=": ".join)
def test_a_moment_without_a_run_gives_no_figures(key: tuple[str, str]) -> None:
    assert NUMBERS.findall(text_of(MOMENTS[key])) == []


@pytest.mark.parametrize("plan", [plan for plan in all_plans() if plan.name in OWN], ids=lambda plan: plan.name)
def test_the_moments_fill_the_minutes_and_say_everything(plan: Plan) -> None:
    assert sum(moment.minutes for moment in plan.moments) == plan.minutes
    assert all(moment.do and moment.mistakes for moment in plan.moments)
