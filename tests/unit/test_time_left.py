"""How long a sweep and a comparison of drafts still take: at this machine's pace. No engine and no clock."""

from dataclasses import replace

import pytest

from specviz.core.metrics import Costs
from specviz.core.replay import Prospect
from specviz.core.request import RunRequest
from specviz.measure import paired
from specviz.measure.paired import show_duration
from specviz.measure.sweep.rows import SweepRow
from specviz.service import protocol as wire
from specviz.ui.when_it_helps import by_draft, when_it_helps_page
from specviz.ui.when_it_helps import sweeps as sweeps_module
from specviz.ui.when_it_helps.by_draft import drafts_to_compare
from specviz.ui.when_it_helps.sweeps import ByDraft, SweepChoice, WhenItHelpsState
from tests.support.fake_rows import a_row
from tests.support.fake_service import FakeService
from tests.support.fake_traces import draft_guesses_of, fake_trace
from tests.support.known import known

COSTS = Costs(0.04, 0.1, {k: 1 + k / 10 for k in range(1, 18)}, 0.1)
PROSPECT = Prospect("wren-nano", draft_guesses_of(fake_trace()), COSTS, 64, [])
SLOW = 8  # times as slow as the machine of the stored sweep


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its one number is the time."""
    now = [1_000.0]
    for module in (paired, sweeps_module):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def test_what_is_left_of_a_sweep_goes_by_this_machine_from_its_first_cell(
    service: FakeService, clock: list[float]
) -> None:
    """Found on a busy machine: the page promised what the stored sweep took, and that grew eightfold."""
    sweeps = WhenItHelpsState()
    sweeps.start(SweepChoice(workloads=("story",), prompts=1).plan())
    job, row = known(sweeps.slot.job), row_taking(0.3, 0.7)
    clock[0] += 600  # in a queue, and while a model was loaded
    service.tell(wire.JobProgress(job, "measuring", 31), wire.JobItem(job, "sweep", "This cannot be measured."))
    sweeps.refresh()
    assert left_of(sweeps) == ""
    service.tell(wire.JobItem(job, "sweep", row))
    sweeps.refresh()
    assert left_of(sweeps) == show_duration(29 * row.new_tokens)
    clock[0] += row.new_tokens  # nothing comes: others have their turns
    assert left_of(sweeps) == show_duration(2 * 29 * row.new_tokens)


def row_taking(seconds: float, plain: float) -> SweepRow:
    """A row of a run in which a token takes so long."""
    row = a_row()
    return replace(row, speculative_seconds=seconds * row.new_tokens, autoregressive_seconds=plain * row.plain_tokens)


def left_of(sweeps: WhenItHelpsState) -> str:
    line = when_it_helps_page._progress_line(sweeps, known(sweeps.slot.view))
    return line.partition("; ")[2].partition(" left")[0]


def test_the_first_of_some_drafts_promises_nothing_because_its_costs_may_be_known(
    service: FakeService, clock: list[float]
) -> None:
    """Found: they are measured when the server starts, so it was there at once, and seconds were promised for all."""
    state = ByDraft()
    job = state.slot.start(lambda job: wire.GuessAlong(job, RunRequest("Once"), drafts_to_compare()))
    for left in ("", show_duration(3 * 40)):
        service.tell(wire.JobProgress(job, "guessing", 5), wire.JobItem(job, "guess along", PROSPECT))
        state.refresh()
        clock[0] += 0 if left else 40
        service.tell(wire.JobProgress(job, "guessing", 5))
        line = by_draft._progress_line(state, known(state.slot.view))
        assert left in line
        assert ("left" in line) == bool(left)
