"""What the Race and the sweep page make of a job that the service has lost. No engine."""

from specviz.measure.sweep.plan import SweepPlan
from specviz.service.protocol import CellSwept, LapRaced, Progress, Race, Sweep
from specviz.ui.helps import state as sweep_state
from specviz.ui.helps.state import HERE, Sweeps
from specviz.ui.race.link import Entry
from specviz.ui.race.state import Racing
from tests.support.fake_rows import a_row
from tests.support.fake_service import FakeService


def test_a_lost_race_shows_the_prompts_that_were_finished(service: FakeService) -> None:
    racing = Racing(Entry(), started=Entry())
    racing.slot.start(lambda job: Race(job, Entry().request, Entry().prompts))
    service.tell(Progress(1, "timing", 4), LapRaced(1, "a lap"))  # type: ignore[arg-type]
    assert not racing.refresh()
    service.expire("ada")
    assert racing.refresh()
    assert racing.laps == ["a lap"]
    assert racing.message == "", "it is not an error"
    assert racing.finished.startswith("The race has expired")
    assert "the 1 of 4 prompts that were finished are shown" in racing.finished


def test_a_lost_sweep_keeps_every_row_once(service: FakeService) -> None:
    sweeps = Sweeps()
    sweeps.slot.start(lambda job: Sweep(job, SweepPlan((), (), (1,))))
    service.tell(CellSwept(1, a_row()), CellSwept(1, "One cannot be measured."))
    sweeps.refresh()
    service.expire("ada")
    for _ in range(2):
        sweeps.refresh()
    assert len(sweeps.rows[HERE]) == 1
    assert sweeps.problems == ["One cannot be measured."]
    assert sweeps.outcome == sweep_state.LOST
