"""This visitor's job of one kind: start it, look at it, cancel it. Every page that asks the engine for work uses it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import Lock
from time import monotonic

import streamlit as st

from specviz.core.names import short_name
from specviz.data.texts import page_texts
from specviz.models.draft_menu import to_download
from specviz.service.job import JobView, Slot
from specviz.service.protocol import JobCommand, JobProgress, Loading
from specviz.ui.shared.below_streamlit import run_part_next
from specviz.ui.shared.engine import engine, visitor
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.persistent_widgets import seconds_since_set

SAYS = page_texts("shared")
PAUSE_SECONDS = 0.1
IDLE = JobView(0, "idle")


def found_something(view: JobView) -> bool:
    return view.rounds > 0 or bool(view.items)


class JobSlot:
    """The latest job of this kind, as it was last seen. Lives in the visitor's session.

    Streamlit may begin a page's next run while the one before is still in `wait` or `refresh`. So what is seen of a
    job that was replaced meanwhile is dropped.
    """

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.view = IDLE  # what it has found stays when the job fails, is cancelled or is lost
        self.missing: dict[str, int] = {}  # what `download` brings; the job that is wanted waits for it
        self._wanted: tuple[Callable[[int], JobCommand], bool]
        self._agreed = False  # the job may download
        self._new = False  # no script has looked since `start`
        self._lock = Lock()

    @property
    def busy(self) -> bool:
        return not self.view.finished

    @property
    def downloading(self) -> bool:
        """Whether the visitor waits for a download and for what comes with it, and for nothing else yet."""
        return self._agreed and self.view.state in ("waiting", "loading")

    @property
    def ended(self) -> str:
        """How a job that is over has ended, where not by being done."""
        return SAYS[self.view.state] if self.view.state in ("cancelled", "lost") else self.view.message

    def start(self, make: Callable[[int], JobCommand], *, fresh: bool = False, agreed: bool = False) -> int:
        """Ask the engine for what `make` makes of a job number; returns that number.

        What is stored or under way for another visitor is taken, unless it is to be measured `fresh`. A job that must
        download a model waits until the visitor has `agreed` to that, see `offer_download`; its number is 0.
        """
        self._agreed, missing = agreed, {} if agreed else to_download(make(0).models)
        if missing:
            self.reset()
            self.missing, self._wanted = missing, (make, fresh)
            return 0
        self.missing = {}
        engine().start()
        job = engine().submit(visitor(), self.slot, make, fresh=fresh)
        with self._lock:
            self.view = JobView(job)
        self._new = True
        return job

    def download(self) -> None:
        """Start the job that waits for this."""
        if self.missing:
            make, fresh = self._wanted
            self.start(make, fresh=fresh, agreed=True)

    def cancel(self) -> None:
        """End the job; the next `refresh` shows it as cancelled, with what it has found."""
        self.missing = {}
        if self.busy:
            engine().cancel(visitor(), self.slot)

    def reset(self) -> None:
        self.cancel()
        with self._lock:
            self.view = IDLE

    def refresh(self) -> bool:
        """Ask the service how far the job is; True if it ended since the last look."""
        return self._see(lambda job: engine().view(job))

    def wait_for_end(self, timeout: float) -> bool:
        """As `refresh`, but first wait until the job is over or `timeout` seconds have passed."""
        return self.wait(timeout, lambda _: False)

    def first_look(self, patience: float) -> bool:
        """As `wait_for_end` the first time after `start`, later as `refresh`: a short job needs no polling."""
        new, self._new = self._new, False
        return self.wait_for_end(patience) if new and patience else self.refresh()

    def wait(self, timeout: float, enough: Callable[[JobView], bool] = found_something) -> bool:
        """As `refresh`, but first wait until the job has found `enough` or `timeout` seconds have passed.

        A script that the visitor has asked to run again ends here, at the next of its short pauses.
        """

        def look(job: int) -> JobView:
            return engine().wait(job, enough, max(0.0, min(PAUSE_SECONDS, deadline - monotonic())))

        deadline, job = monotonic() + timeout, self.view.job
        while (view := self.view).job == job and not view.finished and not enough(view):
            if monotonic() >= deadline:
                break
            if self._see(look):
                return True
            st.session_state.get("session")  # Streamlit ends this script where state is read, if another one is due
        return self.view.job == job and self.refresh()

    def _see(self, look: Callable[[int], JobView]) -> bool:
        before = self.view
        if before.finished:
            return False
        seen = look(before.job)
        with self._lock:
            now = self.view
            if now.job != before.job or now.finished:
                return False
            if seen.state == "lost":  # the service has forgotten the results too; the visitor keeps theirs
                seen = replace(now, state="lost", message=seen.message)
            self.view = seen
        return seen.finished


def beside_line(engines: int) -> str | None:
    """What to say beside times that were measured while other engines were busy; None where none was."""
    return SAYS["busy_engines"].format(count=engines) if engines else None


def waiting_line(view: JobView) -> str | None:
    if view.state == "waiting":
        return view.message or SAYS["waiting_place" if view.place else "waiting"].format(place=view.place)
    if view.state != "loading":
        return None
    if (loading := view.loading) is None:
        return SAYS["starting"]
    model, done, total = short_name(loading.model), loading.bytes_done, loading.bytes_total
    if not total:
        return SAYS["loading"].format(model=model)
    share = 100 * done // total
    return SAYS["downloading"].format(model=model, done=done / 1e6, total=total / 1e6, share=share)


POLL_SECONDS = 1.0
SHORT_SECONDS = 1.5  # most jobs that a visitor waits for are over by then: their script waits, and draws once
RECEIVED_SECONDS = 2.5  # after which a browser on a slow phone has received what the widgets were set to


def done_share(progress: JobProgress | None, loading: Loading | None = None) -> float:
    """How much is done, from 0 to 1: finished items, and the finished repeats of the one being timed; of a download."""
    if loading and loading.bytes_total:
        return min(1.0, loading.bytes_done / loading.bytes_total)
    if progress is None or not progress.total:
        return 0.0
    within = (progress.repeat - 1) / progress.repeats if progress.repeat else 0.0
    return min(1.0, (progress.done + within) / progress.total)


def show_progress(
    slot: JobSlot, line: Callable[[JobView], str], look: Callable[[], bool], part: str, every: float = POLL_SECONDS
) -> None:
    """How far a job is, as a bar with a line below it; for the rest see `while_busy`."""
    while_busy(lambda: slot.busy, partial(draw_progress, slot, line), look, part=part, every=every)


def draw_progress(slot: JobSlot, line: Callable[[JobView], str]) -> None:
    if slot.view is not IDLE:
        st.progress(done_share(slot.view.progress, slot.view.loading), plain(line(slot.view)))


def while_busy(
    busy: Callable[[], bool],
    draw: Callable[[], None],
    look: Callable[[], bool],
    *,
    part: str | None = None,
    every: float = POLL_SECONDS,
) -> None:
    """Draw how far a job is, again and again until it is over. Without a job, only the place is there.

    Where the script has just set its widgets (an undo, a preset), a slow browser would never receive them if the script
    ran again at once. So the page is drawn again only a while after that.

    `look` asks the engine, `every` so many seconds, whether there is more to draw in the fragment of the key `part`.
    """
    first = [True]  # the script has just looked

    @st.fragment(run_every=every)
    def poll() -> None:
        received = seconds_since_set() > RECEIVED_SECONDS
        more = not first and look()
        first.clear()
        if not busy() and received:
            st.rerun()
        draw()
        if more and part:
            run_part_next(part)

    with st.container():  # always there, so that what stands below stays as it is
        if busy():
            poll()
