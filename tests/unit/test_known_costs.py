"""Which costs speak for a run on a machine that is too busy to time it."""

from dataclasses import replace

import pytest

from specviz.core.result import KnownCosts
from specviz.data.measured.quiet_costs import MachineCosts, QuietCosts, known_costs
from tests.support.known import known
from tests.unit.test_quiet_costs import AMD, AMX, on
from tests.unit.test_quiet_costs import TRACE as MADE
from tests.unit.test_verdict import CALIBRATED, in_turns


def stored(monkeypatch: pytest.MonkeyPatch, *machines: MachineCosts) -> None:
    monkeypatch.setattr("specviz.data.measured.quiet_costs.quiet_costs", lambda: QuietCosts(1, list(machines)))


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
