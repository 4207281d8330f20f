"""What a run says first: how fast it was, in how many passes, and why; for each kind of run."""

from dataclasses import replace

import pytest

from specviz.core.metrics import Costs
from specviz.core.result import at_calibrated, refutes, result_of
from specviz.core.trace import Trace
from tests.unit.test_verdict import CALIBRATED, GOOD, NO_DRAFT, SCARCE, STEP, TIMELESS, a_trace, in_turns

BUSY = in_turns(slow=(1.0, 9.0, 1.0, 1.0, 6.0))
DEAR = Costs(0.44 * STEP, 0.6, {1: 1.0, 5: 1.8}, 0.1)  # at these costs `a_trace(…, 0.44 * STEP)` would be 0.99×

LONG = "times as long as the big model takes for one token"


@pytest.mark.parametrize(
    ("trace", "costs", "says", "reason"),
    [
        (
            GOOD,
            None,
            "2.43 times as fast: 17 tokens in 4 passes of the big model instead of 17",
            "It pays if more than 44 % of the checked guesses are accepted (here 87 %), because a guess takes 0.10 and "
            f"a check 1.25 {LONG}. One run, measured here.",
        ),
        (
            in_turns(),
            CALIBRATED,
            "2.43 times as fast: 34 tokens in 8 passes of the big model instead of 34",
            "It pays if more than 44 % of the checked guesses are accepted (here 90 %), because a guess takes 0.10 and "
            f"a check 1.25 {LONG}. One run, measured here; 95 % interval 2.31 to 2.55.",
        ),
        (
            a_trace(GOOD.rounds, plain_step=0.31 * STEP),
            None,
            "0.75 times as fast, so slower: 17 tokens in 4 passes of the big model instead of 17",
            "It would not pay even if all checked guesses were accepted (here 87 %), because a guess takes 0.32 and "
            f"a check 4.03 {LONG}. One run, measured here.",
        ),
        (
            in_turns(plain_step=0.43 * STEP, slow=(1.02, 0.98)),
            None,
            "1.04 times as fast, too close to 1 to tell: 34 tokens in 8 passes of the big model instead of 34",
            "Here 90 % of the checked guesses are accepted; a guess takes 0.23 and "
            f"a check 2.91 {LONG}. One run, measured here; 95 % interval 0.99 to 1.11.",
        ),
        (
            a_trace(GOOD.rounds, plain_step=0.44 * STEP),
            DEAR,
            "1.07 times as fast: 17 tokens in 4 passes of the big model instead of 17",
            "87 % of the checked guesses are accepted. The costs of a typical round do not explain the measured speed. "
            "One run, measured here.",
        ),
        (
            SCARCE,
            None,
            "1.37 times as fast: 10 tokens in 6 passes of the big model instead of 10",
            "It pays if a pass gives more than 1.22 tokens (here 1.67), because the guesses of a round take 0.07 and "
            f"a check 1.05 {LONG}. One run, measured here.",
        ),
        (
            BUSY,
            CALIBRATED,
            "34 tokens in 8 passes of the big model instead of 34; busy machine, its time is not trusted",
            "What was counted is exact. Press Run again to time it again. At calibrated costs it would be about 2.43 "
            "times as fast.",
        ),
        (
            NO_DRAFT,
            None,
            "5 tokens in 5 passes of the big model instead of 5.",
            "No verdict: nothing was drafted, so there is nothing to compare.",
        ),
        (
            replace(TIMELESS, rounds=TIMELESS.rounds[:1]),
            None,
            "5 tokens in 1 pass of the big model instead of 5.",
            "No verdict: this run has no times.",
        ),
    ],
    ids=["helps", "an interval", "hurts", "too close", "not explained", "counted", "busy", "no draft", "no times"],
)
def test_a_result_and_its_reason_in_plain_words(trace: Trace, costs: Costs | None, says: str, reason: str) -> None:
    result = result_of(trace, costs, "measured here")
    assert (result.says, result.reason) == (says, reason)
    assert result.trusted == (trace is not BUSY)


def test_the_costs_of_a_calibration_on_a_busy_machine_are_in_no_reason() -> None:
    busy = replace(CALIBRATED, step_seconds=2.2 * STEP, cost_ratio=0.3)
    assert result_of(in_turns(), busy, "measured here") == result_of(in_turns(), None, "measured here")


def test_a_trusted_run_refutes_calibrated_costs_that_do_not_explain_it() -> None:
    steady = in_turns()
    assert not refutes(steady, CALIBRATED)
    assert at_calibrated(steady, CALIBRATED) == pytest.approx(2.43, abs=0.12)
    disturbed = replace(CALIBRATED, cost_ratio=0.35)  # measured while the machine was busy
    assert refutes(steady, disturbed)
    assert at_calibrated(steady, disturbed) is None
    assert not refutes(BUSY, disturbed), "it says nothing of any costs"
    assert at_calibrated(BUSY, disturbed)
