"""What a run says first: how fast it was, in how many passes, and why; for each kind of run."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from specviz.core.metrics import Costs
from specviz.core.result import at_calibrated, refutes, result_of
from specviz.core.trace import Trace
from tests.unit.test_verdict import CALIBRATED, GOOD, NO_DRAFT, SCARCE, STEP, TIMELESS, a_trace, in_turns

BUSY = in_turns(slow=(1.0, 9.0, 1.0, 1.0, 6.0))
DEAR = Costs(0.44 * STEP, 0.6, {1: 1.0, 5: 1.8}, 0.1)  # at these costs `a_trace(…, 0.44 * STEP)` would be 0.99×
RUNS: dict[str, tuple[Trace, Costs | None]] = {
    "helps": (GOOD, None),
    "an interval": (in_turns(), CALIBRATED),
    "hurts": (a_trace(GOOD.rounds, plain_step=0.31 * STEP), None),
    "too close": (in_turns(plain_step=0.43 * STEP, slow=(1.02, 0.98)), None),
    "not explained": (a_trace(GOOD.rounds, plain_step=0.44 * STEP), DEAR),
    "counted": (SCARCE, None),
    "busy": (BUSY, CALIBRATED),
    "no draft": (NO_DRAFT, None),
    "no times": (replace(TIMELESS, rounds=TIMELESS.rounds[:1]), None),
}
SAID = yaml.safe_load((Path(__file__).parents[1] / "fixtures/results.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", RUNS)
def test_a_result_and_its_reason_in_plain_words(name: str) -> None:
    result = result_of(*RUNS[name], "measured here")
    assert {"says": result.says, "reason": result.reason} == SAID[name]
    assert result.trusted == (name != "busy")
    said = f"{result.speedup:.2f} times as fast" if result.speedup else ""
    assert said in result.says
    assert ("times as fast" in result.says) == (result.speedup is not None), "a speed that is not trusted is no number"
    assert (result.interval is not None) == ("95 % interval" in result.reason)


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
