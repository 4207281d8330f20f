"""What the app's lesson plans say about their recorded runs is what these runs hold."""

import re
from collections.abc import Callable

import pytest

from specviz.core.metrics import costs, count, speedup
from specviz.core.number_words import ORDINALS, in_words
from specviz.core.trace import Round, Trace
from specviz.data.lessons.plan import Moment, Plan
from specviz.data.lessons.plans import OWN, all_plans

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
        f"{counts.accepted} of {judged} judged guesses",
    ]


def round_number(value: float | None) -> int:
    assert value is not None
    return round(value)


def a_run_that_pays(run: Trace, round: Round) -> list[str]:
    counts = count(run.rounds)
    assert "<!DOCTYPE html>" in run.prompt.text
    return [
        f"{counts.accepted} of {counts.accepted + counts.rejected} judged guesses were accepted",
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
        f"{counts.accepted} of {counts.accepted + counts.rejected} judged guesses were accepted",
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


def test_every_moment_with_a_run_is_checked() -> None:
    assert {key for key, moment in MOMENTS.items() if moment.screen.run} == FACTS.keys()


@pytest.mark.parametrize("key", FACTS, ids=": ".join)
def test_what_a_moment_says_of_its_run_is_true(key: tuple[str, str]) -> None:
    moment = MOMENTS[key]
    run = moment.screen.run
    assert run is not None
    round, phase = divmod(moment.screen.step, 3)
    assert phase == PHASES.get(moment.title, 2)
    facts, text = FACTS[key](run, run.rounds[round]), text_of(moment)
    for fact in facts:
        assert fact in text
    assert set(NUMBERS.findall(text)) <= set(NUMBERS.findall(" ".join(facts)))  # none that is not checked


@pytest.mark.parametrize("key", [key for key in MOMENTS if key not in FACTS], ids=": ".join)
def test_a_moment_without_a_run_gives_no_figures(key: tuple[str, str]) -> None:
    assert NUMBERS.findall(text_of(MOMENTS[key])) == []


def test_the_slowest_run_of_the_long_lesson_is_the_costly_one() -> None:
    runs = [moment.screen.run for (plan, _), moment in MOMENTS.items() if plan == "fifty-minutes"]
    speeds = [speedup(run) or 0.0 for run in runs if run]
    assert min(speeds) == speedup(MOMENTS["fifty-minutes", "A good draft can lose"].screen.run)


@pytest.mark.parametrize("plan", [plan for plan in all_plans() if plan.name in OWN], ids=lambda plan: plan.name)
def test_the_moments_fill_the_minutes_and_say_everything(plan: Plan) -> None:
    assert sum(moment.minutes for moment in plan.moments) == plan.minutes
    assert all(moment.do and moment.mistakes for moment in plan.moments)
