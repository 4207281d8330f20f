"""What is stored is measured on a quiet machine."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import quiet
from benchmarks.methods import Runs, on_kind
from benchmarks.quiet import QuietMachine, others_share, problem_of, quiet_machine
from scripts.write_cards import as_a_draft
from scripts.write_measured_tables import methods_section
from specviz.core.intervals import interval_of_ratios
from specviz.data.measured.measured_methods import MethodSetting, Quiet, stored_methods
from specviz.ui.learn.family import _source
from specviz.ui.when_it_helps.by_method import where
from tests.support.fake_traces import fake_trace
from tests.support.known import known

ROOT = Path(__file__).resolve().parents[2]
OF_DECODING = (  # programs whose stored figures are times of decoding
    *(f"benchmarks/{name}.py" for name in ("batches", "decoding", "int8_draft")),
    *(f"benchmarks/{name}.py" for name in ("methods", "pass_shares", "quiet_costs")),
    *(f"scripts/record_{name}.py" for name in ("first", "methods", "race", "story", "sweep")),
)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A made-up machine, on which 10 s pass: the steps of its calibrations, and the seconds that others take."""
    made = SimpleNamespace(steps=[0.003, 0.003], others=0.0)

    def later(seconds: float) -> Callable[[], float]:
        looks = count()
        return lambda: seconds * next(looks)

    monkeypatch.setattr(quiet, "load_model", lambda *_: None)
    monkeypatch.setattr(quiet, "calibrated_step", lambda _: made.steps.pop(0))
    monkeypatch.setattr(quiet, "perf_counter", later(10.0))
    monkeypatch.setattr(quiet, "process_time", later(10.0))
    looks = count()
    monkeypatch.setattr(quiet, "_busy_seconds", lambda: (10.0 + made.others) * next(looks))
    return made


def test_what_was_measured_on_a_quiet_machine_may_be_stored(machine: SimpleNamespace) -> None:
    with quiet_machine() as found:
        found.add_steps([0.0031, 0.0033, 0.0035])
    assert found.said()["calibrated_step_ms"] == 3.0
    assert found.said()["others_share_of_a_core"] == 0.0


def test_slower_steps_than_the_calibrated_ones_are_not_stored(machine: SimpleNamespace) -> None:
    said = r"a step of the target took 7\.70 ms, and 3\.00 ms when it was calibrated"
    with pytest.raises(SystemExit, match=said), quiet_machine() as found:
        found.add_steps([0.0077] * 5)


def test_a_machine_that_is_slower_at_the_end_is_seen_without_any_other_step(machine: SimpleNamespace) -> None:
    machine.steps = [0.003, 0.004]
    with pytest.raises(SystemExit, match=r"took 4\.00 ms, and 3\.00 ms"), quiet_machine():
        pass


def test_other_programs_are_seen_although_every_step_is_slow_alike(machine: SimpleNamespace) -> None:
    machine.steps, machine.others = [0.0077, 0.0077], 9.0
    with pytest.raises(SystemExit, match="other programs took 90% of a core"), quiet_machine():
        pass


def test_a_fault_of_the_measurement_is_not_hidden(machine: SimpleNamespace) -> None:
    machine.others = 9.0
    with pytest.raises(ZeroDivisionError), quiet_machine():
        print(1 / 0)


def test_the_share_of_others_is_without_this_program() -> None:
    assert others_share(busy=12.0, own=10.0, wall=10.0) == pytest.approx(0.2)
    assert others_share(busy=9.9, own=10.0, wall=10.0) == 0.0  # clocks differ a little
    assert problem_of(QuietMachine(0.003, [0.003], others=0.05)) is None


def test_what_the_processors_did_is_read_from_this_machine() -> None:
    first = quiet._busy_seconds()
    assert 0 < first <= quiet._busy_seconds()


@pytest.mark.parametrize("program", OF_DECODING)
def test_programs_that_store_times_of_decoding_ask_for_a_quiet_machine(program: str) -> None:
    text = (ROOT / program).read_text(encoding="utf-8")
    asked = text.find("quiet_machine(", text.find("def main("))
    written = re.search(r"\breport\(|write_text\(|\.replace\(options\.csv\)", text[asked:])
    assert asked > 0
    assert written, "and writes afterwards"


def test_the_speedups_of_each_prompt_are_stored_and_give_the_interval() -> None:
    rounds = fake_trace().rounds
    runs = [[Runs(rounds, rounds, [ratio], [0.003])] for ratio in (1.2, 1.4, 1.9)]
    best = on_kind([MethodSetting(4)], runs, [0, 0, 0]).best
    assert best.speedups == [1.2, 1.4, 1.9]
    assert (best.low, best.high) == pytest.approx(interval_of_ratios(best.speedups), abs=0.001)


@pytest.mark.parametrize(("step", "disturbed"), [(8.0, False), (1.0, True), (None, False)])
def test_a_comparison_that_other_programs_disturbed_says_so_wherever_it_is_shown(
    step: float | None, disturbed: bool
) -> None:
    found = replace(known(stored_methods()), quiet=step and Quiet(step))
    assert found.disturbed == disturbed
    for shown in (where(found), methods_section(found), as_a_draft(["wren-eagle"], found), _source(found)):
        assert ("too high" in " ".join(shown.split())) == disturbed
