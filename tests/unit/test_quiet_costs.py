"""The costs of the bundled drafts on quiet machines: what is stored, and which processor's are taken."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import quiet
from benchmarks import quiet_costs as program
from specviz.core.costs import Costs
from specviz.core.errors import DisturbedError, InputError
from specviz.core.trace import Machine
from specviz.data.measured.measured_methods import Quiet
from specviz.data.measured.quiet_costs import MachineCosts, QuietCosts, read_quiet_costs
from tests.support.fake_traces import fake_trace

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


def test_a_new_measurement_takes_the_place_of_that_of_the_same_machine(tmp_path: Path) -> None:
    file = tmp_path / "quiet_costs.json"
    for each in (AMD, INTEL, replace(AMD, created="2026-12-01")):
        program.store(each, file)
    assert read_quiet_costs(file).machines == [INTEL, replace(AMD, created="2026-12-01")]
    assert len(file.read_text().splitlines()) == 4, "a line for each machine"
    file.write_text(file.read_text().replace('"avx2"', "2"))
    with pytest.raises(InputError, match="the quiet costs"):
        read_quiet_costs(file)


def test_every_repeat_is_stored_and_drafts_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def calibrate(target: object, loaded: object, drafter: str) -> SimpleNamespace:
        asked.append(drafter)
        return SimpleNamespace(blocks=(block(0.123456), block(0.2)))

    monkeypatch.setattr(quiet, "calibrate", calibrate)
    drafters = {name: Named(name) for name in ("nano", "small")}
    found = program.costs_of(None, drafters, repeats=3)  # type: ignore[arg-type]
    assert asked == [drafters["nano"], drafters["small"]] * 3
    assert [costs.cost_ratio for costs in found["nano"].blocks] == [0.1235, 0.2] * 3
    assert found["small"].of_draft == (0.1235, 0.2)


class Named:
    loaded = None

    def __init__(self, name: str) -> None:
        self.name = name


def test_a_calibration_whose_repeats_do_not_agree_stores_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(*_: object) -> None:
        raise DisturbedError("The repeats do not agree.")

    monkeypatch.setattr(program, "costs_of", refused)
    monkeypatch.setattr(program, "load_model", lambda *_: None)
    monkeypatch.setattr(program, "make_drafter", lambda *_, **__: None)
    monkeypatch.setattr(program, "quiet_machine", lambda *_: nullcontext())
    monkeypatch.setattr("sys.argv", ["quiet_costs", "--out", str(tmp_path / "found.json")])
    with pytest.raises(SystemExit, match=r"Not stored: The repeats do not agree\."):
        program.main()
    assert not list(tmp_path.iterdir())


def test_the_bundled_drafts_whose_guesses_cost_one_step_each() -> None:
    names = program.drafts_of("wren-base")
    assert {"wren-nano", "wren-small", "wren-eagle", "lookup", "early-exit:2"} <= set(names)
    assert "wren-medusa" not in names, "all its guesses share one pass"
    assert "wren-base" not in names
