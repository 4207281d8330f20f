"""What a run says first: how fast it was, in how many passes, and why; for each kind of run."""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.metrics import Costs
from specviz.core.trace import Trace
from specviz.core.verdict import KnownCosts, doubts, result_of
from tests.support.figures import rounded
from tests.unit.test_verdict import (
    CALIBRATED,
    CALIBRATED_SCARCE,
    GOOD,
    SCARCE,
    STEP,
    in_turns,
)

BUSY = in_turns(slow=(1.0, 9.0, 1.0, 1.0, 6.0))
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


RUNS: dict[str, tuple[Trace, Costs | None]] = {  # without costs: the table "results" of `test_both.py`
    "counted": (SCARCE, None),
    "busy, known to be slower": (BUSY, CALIBRATED),
    "busy, known to be even": (BUSY, CALIBRATED),
    "repeats": (in_turns(), repeated(CALIBRATED)),
    "repeats, counted": (SCARCE, repeated(CALIBRATED_SCARCE)),
}
KNOWN = {
    "busy, known to be slower": KnownCosts(repeated(replace(CALIBRATED, cost_ratio=1.2)), "", "Measured there."),
    "busy, known to be even": KnownCosts(repeated(replace(CALIBRATED, cost_ratio=0.75)), "", "Measured there."),
}


def test_a_result_and_its_reason_in_plain_words(snapshot: SnapshotAssertion) -> None:
    """A speed that is not trusted is no number."""
    found = {name: result_of(*run, "measured here", KNOWN.get(name)) for name, run in RUNS.items()}
    assert rounded("\n".join(f"{name}: {result}" for name, result in found.items())) == snapshot


@pytest.mark.parametrize(("slower", "cost_ratio"), [(2.2, 0.3), (1.3, 0.88)], ids=["busy", "doubted"])
def test_the_costs_of_a_disturbed_calibration_are_in_no_result(slower: float, cost_ratio: float) -> None:
    """Found: the calibration was disturbed, not the run, and the page said 0.82 of a run that was measured at 1.39."""
    disturbed = replace(CALIBRATED, step_seconds=slower * STEP, cost_ratio=cost_ratio)
    result = result_of(in_turns(), disturbed, "measured here")
    assert result.trusted
    assert result == result_of(in_turns(), None, "measured here")


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
