"""A visitor's job of one kind: its states, what it has found, and what happens when the service loses it."""

import pytest

from specviz.core.request import RunRequest
from specviz.measure.proof.rule_names import POSITIONS
from specviz.measure.sweep.plan import SweepPlan
from specviz.service.job import JobView
from specviz.service.protocol import CellSwept, Failed, Finished, Loading, Progress, Prove, Run, Sweep
from specviz.service.results import GreedyResult, ProofResult, SweepResult
from specviz.ui.shared import job_slot
from specviz.ui.shared.job_slot import JobSlot, waiting_line
from tests.support.fake_service import FakeService

PLAN = SweepPlan((), (), (1,))


def sweep(job: int) -> Sweep:
    return Sweep(job, PLAN)


def started() -> JobSlot[SweepResult]:
    slot = JobSlot("sweep", SweepResult)
    slot.start(sweep)
    return slot


def test_a_job_goes_from_idle_to_done_and_ends_once(service: FakeService) -> None:
    slot = JobSlot("sweep", SweepResult)
    assert (slot.state, slot.busy, slot.job, slot.view, slot.result) == ("idle", False, None, None, None)
    assert not slot.refresh()
    job = slot.start(sweep)
    assert service.started
    states = []
    for events in ([], [Loading(job, "wren-base")], [Progress(job, "measuring", 2)], [CellSwept(job, "a")]):
        service.tell(*events)
        assert not slot.refresh()
        states.append(slot.state)
        assert slot.busy
    assert states == ["waiting", "loading", "running", "running"]
    service.tell(Finished(job))
    assert slot.refresh(), "it has just ended"
    assert not slot.refresh(), "and says so once"
    assert (slot.state, slot.busy, slot.result) == ("done", False, SweepResult(("a",)))


def test_a_failed_job_has_its_sentence_and_what_it_found(service: FakeService) -> None:
    slot = started()
    service.tell(CellSwept(1, "a"), Failed(1, "The engine stopped."))
    assert slot.refresh()
    assert (slot.state, slot.message, slot.result) == ("failed", "The engine stopped.", SweepResult(("a",)))


def test_a_cancelled_job_has_what_it_found(service: FakeService) -> None:
    slot = started()
    service.tell(CellSwept(1, "a"))
    slot.cancel()
    assert slot.refresh()
    assert (slot.state, slot.result) == ("cancelled", SweepResult(("a",)))
    slot.cancel()
    assert service.cancelled == ["sweep"], "there is nothing to cancel a second time"


def test_a_lost_job_never_overwrites_what_was_taken_in(service: FakeService) -> None:
    slot = started()
    service.tell(Progress(1, "measuring", 2), CellSwept(1, "a"))
    slot.refresh()
    service.expire("ada")
    assert slot.refresh(), "it has ended"
    assert (slot.state, slot.message, slot.result) == ("lost", "This run has expired.", SweepResult(("a",)))
    assert not slot.refresh()


def test_a_slot_can_be_used_again_whatever_happened(service: FakeService) -> None:
    slot = started()
    service.expire("ada")
    slot.refresh()
    slot.start(sweep)
    assert (slot.state, slot.message, slot.result) == ("waiting", "", None)
    slot.reset()
    assert (slot.state, service.cancelled) == ("idle", ["sweep"])


def test_other_slots_of_the_visitor_are_left_alone(service: FakeService) -> None:
    """Found in the app: a started proof ended a running sweep, and rows not yet read were lost."""
    measuring = started()
    service.tell(CellSwept(1, "a"))
    proof = JobSlot[ProofResult | GreedyResult]("proof", ProofResult, GreedyResult)
    position = next(iter(POSITIONS))
    proof.start(lambda job: Prove(job, RunRequest("x"), "lossless", position, 500))
    service.tell(CellSwept(1, "b"))
    measuring.refresh()
    assert (measuring.state, measuring.result) == ("running", SweepResult(("a", "b")))


def test_a_result_of_another_kind_is_none(service: FakeService) -> None:
    slot = JobSlot("sweep", ProofResult)
    slot.start(sweep)
    service.tell(CellSwept(1, "a"))
    slot.refresh()
    assert slot.result is None


@pytest.mark.parametrize("look", ["wait", "refresh"])
def test_a_job_replaced_while_its_page_waits_for_it_is_no_error(
    service: FakeService, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """Found in the app: holding an arrow key on the Temperature slider showed "This run is no longer kept" in red.

    Streamlit begins the page's next run while the one before still waits, so its job is replaced and lost meanwhile.
    """
    slot = JobSlot("run", SweepResult)
    slot.start(lambda job: Run(job, RunRequest("old")))

    def while_waiting(job: int, *_: object) -> JobView:
        slot.start(lambda job: Run(job, RunRequest("new")))
        return FakeService.view(service, job)

    monkeypatch.setattr(service, "wait" if look == "wait" else "view", while_waiting)
    assert not (slot.wait(0.01) if look == "wait" else slot.refresh())
    assert (slot.job, slot.state, slot.message) == (2, "waiting", "")


def test_the_end_is_waited_for_only_so_long(service: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    slot = started()
    assert not slot.wait_for_end(0.01)
    assert slot.busy

    def end_soon(job: int, *_: object) -> JobView:
        service.tell(Finished(job))
        return service.view(job)

    monkeypatch.setattr(service, "wait", end_soon)
    assert slot.wait_for_end(3600)
    assert slot.state == "done"


def test_a_script_that_is_to_run_again_waits_no_longer(service: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    """The visitor has changed something while the page still waits for the run before."""

    class RerunAsked(BaseException):
        pass

    def end_script() -> None:
        raise RerunAsked

    slot = started()
    monkeypatch.setattr(job_slot, "let_script_end", end_script)
    with pytest.raises(RerunAsked):
        slot.wait_for_end(3600)
    assert slot.busy


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (JobView(1, place=3), "waiting: place 3 in the queue"),
        (JobView(1, place=1, message="The engine is starting."), "The engine is starting."),
        (JobView(1), "waiting"),
        (JobView(1, state="loading"), "starting"),
        (JobView(1, state="loading", loading=Loading(1, "wren-small")), "loading wren-small"),
        (
            JobView(1, state="loading", loading=Loading(1, "gpt2", 12_000_000, 548_000_000)),
            "downloading gpt2: 12 of 548 MB (2 %)",
        ),
        (JobView(1, state="running"), None),
        (JobView(1, state="done"), None),
    ],
)
def test_every_wait_is_named(view: JobView, said: str | None) -> None:
    assert waiting_line(view) == said
