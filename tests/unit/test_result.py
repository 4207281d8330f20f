"""What a run says first: how fast it was, in how many passes, and why; for each kind of run."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from specviz.core.metrics import Costs
from specviz.core.trace import Trace
from specviz.core.verdict import KnownCosts, doubts, result_of
from tests.unit.test_verdict import (
    CALIBRATED,
    CALIBRATED_SCARCE,
    GOOD,
    NO_DRAFT,
    SCARCE,
    STEP,
    TIMELESS,
    a_trace,
    in_turns,
)

BUSY = in_turns(slow=(1.0, 9.0, 1.0, 1.0, 6.0))
DEAR = Costs(0.44 * STEP, 0.6, {1: 1.0, 5: 1.8}, 0.1)  # at these costs `a_trace(…, 0.44 * STEP)` would be 0.99×
SPREAD = (0.97, 1.01, 0.99, 1.03, 1.0, 0.5, 1.02, 0.98, 2.0)  # of nine repeats, of which two were disturbed


def repeated(costs: Costs) -> Costs:
    """Costs with repeats around them."""
    return Costs.from_blocks(
        [
            replace(
                costs,
                cost_ratio=costs.cost_ratio * spread,
                verification={k: 1 + (v - 1) * spread for k, v in costs.verification.items()},
            )
            for spread in SPREAD
        ]
    )


RUNS: dict[str, tuple[Trace, Costs | None]] = {
    "helps": (GOOD, None),
    "an interval": (in_turns(), CALIBRATED),
    "hurts": (a_trace(GOOD.rounds, plain_step=0.31 * STEP), None),
    "too close": (in_turns(plain_step=0.43 * STEP, slow=(1.02, 0.98)), None),
    "not explained": (a_trace(GOOD.rounds, plain_step=0.44 * STEP), DEAR),
    "counted": (SCARCE, None),
    "busy": (BUSY, CALIBRATED),
    "busy, known": (BUSY, CALIBRATED),
    "repeats": (in_turns(), repeated(CALIBRATED)),
    "repeats, counted": (SCARCE, repeated(CALIBRATED_SCARCE)),
    "no draft": (NO_DRAFT, None),
    "no times": (replace(TIMELESS, rounds=TIMELESS.rounds[:1]), None),
}
KNOWN = {"busy, known": KnownCosts(repeated(CALIBRATED), "AMD EPYC", "Measured on AMD EPYC.")}
SAID = yaml.safe_load((Path(__file__).parents[1] / "fixtures/results.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", RUNS)
def test_a_result_and_its_reason_in_plain_words(name: str) -> None:
    result = result_of(*RUNS[name], "measured here", KNOWN.get(name))
    assert {"says": result.says, "reason": result.reason} == SAID[name]
    assert result.trusted == (not name.startswith("busy"))
    said = f"{result.speedup:.2f} times as fast" if result.speedup else ""
    assert said in result.says
    timed = "times as fast" in result.says and "on a quiet machine" not in result.says
    assert timed == (result.speedup is not None), "a speed that is not trusted is no number"
    assert (result.interval is not None) == ("95 % interval" in result.reason or "quiet machine" in result.says)


def test_the_costs_of_a_calibration_on_a_busy_machine_are_in_no_reason() -> None:
    busy = replace(CALIBRATED, step_seconds=2.2 * STEP, cost_ratio=0.3)
    assert result_of(in_turns(), busy, "measured here") == result_of(in_turns(), None, "measured here")


@pytest.mark.parametrize(
    ("changes", "doubted"),
    [
        ({}, False),
        ({"cost_ratio": 0.35}, True),
        ({"verification": {1: 1.0, 5: 2.5}}, True),
        ({"cost_ratio": 0.15, "verification": {1: 1.0, 5: 1.35}}, False),
    ],
    ids=["its own", "another c", "another v", "a little off"],
)
def test_a_steady_run_doubts_costs_that_its_own_draft_steps_and_checks_refute(
    changes: dict[str, Any], doubted: bool
) -> None:
    """Found: c = 0.88 of a draft whose quiet c is 0.3 was stored and used while two runs gave 1.39 and 1.23."""
    costs = repeated(replace(CALIBRATED, **changes))
    assert doubts(in_turns(), costs) == doubted
    assert not doubts(BUSY, costs), "it says nothing of any costs"
    slower = in_turns(plain_step=1.2 * STEP, slow=(1.2,) * 8)
    assert not doubts(slower, costs), "it was disturbed more than the calibration"
    assert not doubts(GOOD, costs), "its decoders took no turns"


def test_a_run_with_faster_steps_than_a_doubted_calibration_is_not_called_busy() -> None:
    """Found: the calibration was disturbed, not the run, and the page said 0.82 of a run that was measured at 1.39."""
    disturbed = replace(CALIBRATED, step_seconds=1.3 * STEP, cost_ratio=0.88)
    result = result_of(in_turns(), disturbed, "measured here")
    assert result.trusted
    assert result == result_of(in_turns(), None, "measured here")


def test_costs_without_an_interval_give_no_verdict() -> None:
    known = KnownCosts(CALIBRATED, "this machine", "By calibrated costs of this machine.")
    result = result_of(BUSY, CALIBRATED, "measured here", known)
    assert result.says.startswith("34 tokens in 8 passes")
    assert "interval is not known it would be about 2.43 times as fast: no verdict" in result.reason


@pytest.mark.parametrize(("cost_ratio", "side"), [(0.1, ""), (1.2, ", so slower"), (0.75, ", too close to call")])
def test_on_a_busy_machine_the_interval_of_quiet_costs_decides_the_word(cost_ratio: float, side: str) -> None:
    known = KnownCosts(repeated(replace(CALIBRATED, cost_ratio=cost_ratio)), "this machine", "")
    says = result_of(BUSY, None, "measured here", known).says
    assert re.match(rf"\d\.\d\d to \d\.\d\d times as fast on a quiet machine{side}: 34 tokens", says), says
