"""The costs of the bundled drafts on quiet machines: what is stored, and which processor's are taken."""

from dataclasses import replace

import pytest

from benchmarks import quiet_costs as program
from specviz.core.costs import Costs
from specviz.core.result import KnownCosts
from specviz.core.trace import Machine
from specviz.data.measured.measured_methods import Quiet
from specviz.data.measured.quiet_costs import MachineCosts, QuietCosts, known_costs
from tests.support.fake_traces import fake_trace
from tests.support.known import known
from tests.unit.test_verdict import CALIBRATED, in_turns

TRACE = fake_trace()
DRAFT = TRACE.drafter.asked_as if TRACE.drafter else ""


def block(cost_ratio: float) -> Costs:
    return Costs(0.003, cost_ratio, {1: 1.0, 5: 1.5, 17: 2.5}, 0.05)


def on(processor: str, instructions: str, cost_ratio: float = 0.1, **changes: object) -> MachineCosts:
    costs = Costs.from_blocks([block(cost_ratio + off / 100) for off in range(9)])
    machine = Machine(f"{processor}, 2 cores, Linux", "2.13", "5.23", 1, instructions)
    dtype = TRACE.target.dtype
    found = MachineCosts("2026-11-26", processor, machine, TRACE.target.name, dtype, Quiet(3.0), {DRAFT: costs})
    return replace(found, **changes)  # type: ignore[arg-type]


AMD, INTEL, AMX = on("AMD EPYC", "avx2"), on("Intel Xeon", "avx512"), on("Intel Xeon 6", "amx")


@pytest.mark.parametrize(
    ("machine", "nearest"),
    [
        (AMD.machine, AMD),
        (replace(AMD.machine, machine="AMD Ryzen, 8 cores, Linux"), AMD),
        (replace(AMD.machine, machine="AMD EPYC, 64 cores, Linux", instructions="avx512_bf16"), INTEL),
        (replace(AMX.machine, instructions="avx512"), INTEL),
        (replace(AMD.machine, machine="Intel Xeon, 4 cores, Linux", instructions=""), INTEL),
        (Machine("Apple M4", "2.13", "5.23", 1, "neon"), AMD),
    ],
    ids=["the same", "its instructions", "between two", "instructions before names", "not reported", "another kind"],
)
def test_the_costs_of_the_processor_that_is_most_like_the_run_s(machine: Machine, nearest: MachineCosts) -> None:
    stored = QuietCosts(1, [AMD, INTEL, AMX])
    assert stored.find_for_run(replace(TRACE, recorded_on=machine)) is nearest


def test_another_target_format_or_draft_has_no_quiet_costs() -> None:
    stored = QuietCosts(1, [AMD])
    assert stored.find_for_run(TRACE)
    for other in (
        replace(TRACE, target=replace(TRACE.target, name="other")),
        replace(TRACE, target=replace(TRACE.target, dtype="bfloat16")),
        replace(TRACE, drafter=None),
    ):
        assert stored.find_for_run(other) is None
    assert QuietCosts(1, [replace(AMD, drafts={})]).find_for_run(TRACE) is None


def test_the_bundled_drafts_whose_guesses_cost_one_step_each() -> None:
    names = program.drafts_of("wren-base")
    assert {"wren-nano", "wren-small", "wren-eagle", "lookup", "early-exit:2"} <= set(names)
    assert "wren-medusa" not in names, "all its guesses share one pass"
    assert "wren-base" not in names


RUN = replace(TRACE, recorded_on=AMD.machine)


def test_costs_of_the_same_kind_of_processor_come_first_then_a_calibration_then_those_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spoken(calibrated: Costs | None, *machines: MachineCosts) -> KnownCosts | None:
        monkeypatch.setattr("specviz.data.measured.quiet_costs.quiet_costs", lambda: QuietCosts(1, list(machines)))
        return known_costs(RUN, calibrated)

    for calibrated in (CALIBRATED, None):
        assert known(spoken(calibrated, AMD, AMX)).place == "AMD EPYC"
    assert known(spoken(CALIBRATED, AMX)).costs == CALIBRATED
    assert known(spoken(None, AMX)).place == "Intel Xeon 6"
    assert "another kind of processor" in known(spoken(None, AMX)).source
    assert spoken(None) is None
    assert spoken(CALIBRATED)
    monkeypatch.setattr("specviz.data.measured.quiet_costs.quiet_costs", lambda: QuietCosts(1, []))
    assert known_costs(in_turns(), replace(CALIBRATED, cost_ratio=0.88)) is None, "the run doubts it"
