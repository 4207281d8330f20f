"""Costs and between which values they lie: of the bundled drafts on quiet machines; and of a run, modelled."""

from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from specviz.core.metrics import Costs, speedup_at
from specviz.core.replay import DraftGuesses, dump_draft_guesses, parse_draft_guesses, replay
from specviz.core.theory import realistic_speedup
from specviz.core.trace import DrafterInfo, Machine
from specviz.data.measured.measured_methods import Quiet
from specviz.data.measured.quiet_costs import MachineCosts, QuietCosts, known_costs
from tests.support.fake_traces import fake_trace
from tests.unit.test_verdict import CALIBRATED, in_turns


def block(cost_ratio: float, check: float = 1.5, step_seconds: float = 0.004) -> Costs:
    return Costs(step_seconds, cost_ratio, {1: 1.0, 5: check, 17: 2 * check}, 0.05)


def test_costs_are_the_medians_of_their_blocks_which_give_the_interval_of_any_figure() -> None:
    costs = Costs.from_blocks([block(0.1 + each / 100, 1.5 + each / 10) for each in (8, 0, 3, 7, 1, 5, 2, 6, 4)])
    assert costs.cost_ratio == pytest.approx(0.14)
    assert costs.verification == {1: 1.0, 5: pytest.approx(1.9), 17: pytest.approx(3.8)}
    assert costs.of_draft == pytest.approx((0.11, 0.17))
    assert costs.check_interval(5) == pytest.approx((1.6, 2.2))
    assert costs.interval(lambda each: each.round_steps(4)) == pytest.approx((0.44 + 1.6 + 0.05, 0.68 + 2.2 + 0.05))


def test_costs_that_were_stored_before_are_read_and_have_no_interval() -> None:
    kind = TypeAdapter(Costs)
    old = '{"step_seconds": 0.004, "cost_ratio": 0.88, "verification": {"1": 1.0, "5": 1.5}, "overhead": 0.05}'
    costs = kind.validate_json(old)
    assert (costs.blocks, costs.of_draft, costs.check_interval(5)) == ((), None, None)
    new = Costs.from_blocks([block(0.1)] * 9)
    assert kind.validate_json(kind.dump_json(new)) == new


TRACE = fake_trace()
DRAFT = TRACE.drafter.asked_as if TRACE.drafter else ""


def on(processor: str, instructions: str) -> MachineCosts:
    costs = Costs.from_blocks([block(0.1 + off / 100) for off in range(9)])
    machine, target = Machine(f"{processor}, 2 cores, Linux", "2.13", "5.23", 1, instructions), TRACE.target
    return MachineCosts("2026-11-26", processor, machine, target.name, target.dtype, Quiet(3.0), {DRAFT: costs})


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
    stored, target = QuietCosts(1, [AMD]), TRACE.target
    others = [replace(TRACE, target=replace(target, **its)) for its in ({"name": "other"}, {"dtype": "bfloat16"})]
    both = replace(others[1], drafter=replace(TRACE.drafter, dtype="bfloat16"))
    found = [stored.find_for_run(run) for run in (TRACE, *others, both, replace(TRACE, drafter=None))]
    assert found == [AMD, None, None, None, None]
    assert QuietCosts(1, [replace(AMD, drafts={})]).find_for_run(TRACE) is None


@pytest.mark.parametrize(
    ("calibrated", "machines", "place"),
    [
        (CALIBRATED, [AMD, AMX], "AMD EPYC"),
        (None, [AMD, AMX], "AMD EPYC"),
        (CALIBRATED, [AMX], "this machine"),
        (None, [AMX], "Intel Xeon 6"),
        (CALIBRATED, [], "this machine"),
        (None, [], None),
    ],
)
def test_costs_of_the_same_kind_of_processor_come_first_then_a_calibration_then_those_of_another(
    calibrated: Costs | None, machines: list[MachineCosts], place: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specviz.data.measured.quiet_costs.quiet_costs", lambda: QuietCosts(1, machines))
    found = known_costs(replace(TRACE, recorded_on=AMD.machine), calibrated)
    assert (found and found.place) == place
    assert ("another kind of processor" in str(found)) == (place == AMX.processor)
    assert known_costs(in_turns(), replace(CALIBRATED, cost_ratio=0.88)) is None, "the run doubts it"


NANO = DrafterInfo("model", "wren-nano")


def foreseen(output: list[int], guesses: list[int]) -> DraftGuesses:
    return DraftGuesses(NANO, output, guesses, None, {}, True)


def test_modelled_time_adds_up_drafting_checking_and_overhead() -> None:
    rounds = replay(foreseen([10, 11, 12, 13, 14, 15], [10, 11, 99, 13, 14, 15]), 2, 6)
    costs = Costs(step_seconds=0.01, cost_ratio=0.1, verification={1: 1.0, 3: 1.4}, overhead=0.05)
    assert speedup_at(rounds, costs) == pytest.approx(6 / (2 * (0.2 + 1.4 + 0.05)))
    assert speedup_at([], costs) is None
    all_kept = replay(foreseen(list(range(30)), list(range(30))), 2, 30)
    assert speedup_at(all_kept, costs) == pytest.approx(realistic_speedup(1, 2, 0.1, costs.verification, 0.05))


def test_draft_guesses_survive_their_file_and_broken_ones_are_refused() -> None:
    lookup = DraftGuesses(DrafterInfo("prompt-lookup", "lookup"), [1, 2], None, [[], [5]], {5: "five"}, True)
    for draft_guesses in (foreseen([1, 2], [1, 3]), lookup):
        assert parse_draft_guesses(dump_draft_guesses(draft_guesses)) == draft_guesses
    for broken in (foreseen([1, 2], [1]), DraftGuesses(NANO, [1], None, None, {}, True)):
        with pytest.raises(ValueError, match="each place"):
            parse_draft_guesses(dump_draft_guesses(broken))
    with pytest.raises(ValueError, match="DraftGuesses"):
        parse_draft_guesses("{}")
