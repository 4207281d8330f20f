"""Where the machine is too busy to time two runs, quiet costs say which is faster, and why."""

from dataclasses import replace

import pytest

from specviz.core.costs import Costs
from specviz.core.metrics import count, estimated_at
from specviz.core.result import KnownCosts
from specviz.core.trace import DrafterInfo, Round, Trace
from specviz.data.measured.quiet_costs import MachineCosts, QuietCosts
from specviz.measure import ranking
from specviz.measure.ranking import RankedRun, known_costs, ranked
from tests.support.known import known
from tests.unit.test_quiet_costs import AMD, AMX, on
from tests.unit.test_quiet_costs import TRACE as MADE
from tests.unit.test_verdict import CALIBRATED, a_round, a_trace, in_turns


def task(rounds: list[Round], draft_length: int = 4) -> Trace:
    made = a_trace(rounds)
    drafter = DrafterInfo("model", f"accepts {count(rounds).accepted}")
    return replace(made, drafter=drafter, settings=replace(made.settings, draft_length=draft_length, max_new_tokens=64))


SOME, MOST = (task([a_round(i, accepted) for i in range(8)]) for accepted in (2, 3))
OF_8 = task([a_round(i, 6, drafted=8) for i in range(5)], draft_length=8)
FASTER, SLOWER = (f"by quiet measurements {word}" for word in ("faster", "slower"))


def ran(trace: Trace, cost_ratio: float, noise: float = 0.01) -> RankedRun:
    blocks = [replace(CALIBRATED, cost_ratio=cost_ratio * (1 + noise * off)) for off in range(-4, 5)]
    return RankedRun(trace, KnownCosts(Costs.from_blocks(blocks), "this machine", ""))


MORE, FEWER = "More are accepted (75 %, was 50 %)", "Fewer are accepted (50 %, was 75 %)"


@pytest.mark.parametrize(
    ("now", "then", "why", "said"),
    [
        (
            ran(MOST, 0.5),
            ran(SOME, 0.1),
            f"{MORE}, but each guess costs more",
            f"{SLOWER}, 0.68 to 0.71 times the speed of the run before",
        ),
        (
            ran(SOME, 0.1),
            ran(MOST, 0.5),
            f"{FEWER}, but each guess costs less",
            f"{FASTER}, 1.40 to 1.47 times the speed of the run before",
        ),
        (
            ran(MOST, 0.26),
            ran(SOME, 0.1),
            f"{MORE}, but each guess costs more",
            "by quiet measurements about as fast as the run before (0.96 to 1.00 times its speed)",
        ),
        (
            ran(MOST, 0.1),
            ran(SOME, 0.1),
            f"{MORE}, and each guess costs about the same",
            f"{FASTER}, 1.32 to 1.35 times the speed of the run before",
        ),
        (
            ran(MOST, 0.3, noise=0.1),
            ran(SOME, 0.1, noise=0.1),
            f"{MORE}, but each guess costs more",
            "by quiet measurements too close to call beside the run before (0.75 to 1.14 times its speed)",
        ),
        (
            ran(MOST, 0.248),
            ran(SOME, 0.1),
            f"{MORE}, but each guess costs more",
            "by quiet measurements about as fast as the run before (0.98 to 1.02 times its speed)",
        ),
        (
            ran(OF_8, 0.1),
            ran(SOME, 0.1),
            "More tokens per target call (7.00, was 3.00), but a round takes longer",
            f"{FASTER}, 1.67 to 1.73 times the speed of the run before",
        ),
    ],
    ids=["dearer", "cheaper", "hardly slower", "only more accepted", "too noisy", "even", "another length"],
)
def test_what_is_known_ranks_two_runs_and_says_why(now: RankedRun, then: RankedRun, why: str, said: str) -> None:
    """Found: on a busy machine only "59 % accepted → now 86 %" was offered, and newcomers took the worse draft."""
    assert ranked(now, then, pinned=False) == f"{why}: {said}."


def test_a_pinned_run_is_called_so() -> None:
    assert "the speed of the pinned run." in ranked(ran(MOST, 0.5), ran(SOME, 0.1), pinned=True)


def test_a_run_that_was_only_timed_again_is_called_so() -> None:
    """Found: "As many are accepted (59 %, was 59 %), and each guess costs about the same"."""
    said = (
        "The same draft and draft length as in the run before: what was counted is the same, and only the times differ."
    )
    assert ranked(ran(SOME, 0.1), ran(SOME, 0.1), pinned=False) == said


def test_runs_of_different_tasks_and_costs_without_an_interval_rank_nothing() -> None:
    now, then = ran(MOST, 0.5), ran(SOME, 0.1)
    others = (
        replace(SOME, target=replace(SOME.target, name="other")),
        replace(SOME, target=replace(SOME.target, dtype="bfloat16")),
        replace(SOME, prompt=replace(SOME.prompt, text="other")),
        replace(SOME, settings=replace(SOME.settings, temperature=1.0)),
    )
    assert [ranked(now, replace(then, trace=other), pinned=False) for other in others] == [""] * 4
    assert ranked(now, RankedRun(SOME, KnownCosts(CALIBRATED, "this machine", "")), pinned=False) == ""


def stored(monkeypatch: pytest.MonkeyPatch, *machines: MachineCosts) -> None:
    monkeypatch.setattr(ranking, "quiet_costs", lambda: QuietCosts(1, list(machines)))


RUN = replace(MADE, recorded_on=AMD.machine)


def test_costs_of_the_same_kind_of_processor_come_first_then_a_calibration_then_those_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored(monkeypatch, on("AMD EPYC", "avx2"), AMX)
    assert known(known_costs(RUN, CALIBRATED)).place == "AMD EPYC"
    assert "a quiet AMD EPYC (avx2), the same kind of processor" in known(known_costs(RUN, None)).source
    stored(monkeypatch, AMX)
    assert known_costs(RUN, CALIBRATED) == KnownCosts(
        CALIBRATED, "this machine", "By calibrated costs of this machine."
    )
    said = "a quiet Intel Xeon 6 (amx), another kind of processor: here they can differ."
    assert said in known(known_costs(RUN, None)).source
    stored(monkeypatch)
    assert known_costs(RUN, None) is None


def test_a_calibration_that_the_run_doubts_does_not_speak_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stored(monkeypatch)
    assert known_costs(in_turns(), CALIBRATED)
    assert known_costs(in_turns(), replace(CALIBRATED, cost_ratio=0.88)) is None


def test_the_counts_are_exact_so_equal_costs_give_equal_ends() -> None:
    run = ran(SOME, 0.1, noise=0.0)
    estimate = known(estimated_at(SOME.rounds, run.known.costs))
    assert estimate.said == f"{3 / 1.75:.2f}"
