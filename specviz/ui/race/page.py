"""Which race is on screen, how it got there, and everything drawn from it."""

import logging
import re
from dataclasses import dataclass, field
from functools import cache

import streamlit as st

from specviz.core.assets import ASSETS
from specviz.core.errors import InputError
from specviz.measure.race import RaceLap, load_lap, parse_race
from specviz.service.job import JobView
from specviz.service.protocol import Race
from specviz.ui.race.controls import race_controls
from specviz.ui.race.lanes import lanes_data, race_lanes
from specviz.ui.race.link import Entry, entry_from_link, link_of_entry
from specviz.ui.race.results import show_results
from specviz.ui.shared.address import address, models_in, write_address
from specviz.ui.shared.engine import engine, visitor
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.notices import notices
from specviz.ui.shared.run_controls import SCHEDULE_LABELS

RECORDED = ASSETS / "traces" / "race.json"
POLL_SECONDS = 1.0  # the page shares the machine with the clock
LOST = "The race was ended: another run of yours took its place, or this page was left. Start it again."


@dataclass(slots=True)
class Racing:
    """One visitor's race; lives in the session."""

    entry: Entry  # what the controls say
    notes: list[str] = field(default_factory=list)  # what of a link could not be used
    started: Entry | None = None  # what was last raced, or is being raced
    job: int | None = None  # the race under way
    laps: list[RaceLap] = field(default_factory=list)  # on screen; empty: the recorded race is
    raced: Entry | None = None  # what those laps are of
    run_id: str = "recorded"
    place: float | None = None  # of the playback's clock
    message: str = ""  # why there is nothing newer
    finished: str = ""  # how the last race ended, where not all of it was run


def lead() -> None:
    """One sentence that says what the page does."""
    st.markdown(
        "##### :primary[spec]viz&emsp;**Is it really faster?** Both decoders write the same prompts, timed "
        "alternately on this machine. Then the lanes replay both at the speed that was measured."
    )


def race() -> Racing:
    """Draw the controls; start a race only when its button is pressed."""
    racing = _racing()
    engine().heartbeat(visitor().id)
    entry, pressed = race_controls(racing.entry, racing.job is not None)
    if entry != racing.entry:
        racing.entry, racing.notes = entry, []
    notices([*racing.notes, entry.problem])
    if pressed and not entry.problem:
        _start(racing)
        st.rerun()  # the button is drawn again, disabled
    if racing.started and not st.query_params:  # back from another page
        write_address(link_of_entry(racing.started))
    return racing


def _racing() -> Racing:
    if "racing" not in st.session_state:
        link = address()
        entry, problems = entry_from_link(link, models_in(link))
        st.session_state.racing = Racing(entry, problems)
    racing: Racing = st.session_state.racing
    return racing


def _start(racing: Racing) -> None:
    entry = racing.started = racing.entry
    racing.message, racing.finished, racing.notes = "", "", []
    engine().start()
    racing.job = engine().submit_task(
        visitor().id, "interactive", lambda job: Race(job, entry.request, entry.prompts, entry.repeats)
    )
    write_address(link_of_entry(entry))


def show_race(racing: Racing) -> None:
    """The race under way, or the lanes and what it came to."""
    if racing.job is not None:
        _show_progress(racing)
    notices([racing.message], "error")
    notices([racing.finished], "info")
    laps = racing.laps or recorded_race()
    if not laps:
        if racing.job is None:
            st.info("Choose prompts and press Start the race.")
        return
    st.caption(_caption(racing, laps))
    if racing.job is None:
        data = lanes_data(laps, run_id=racing.run_id, badge=_where(racing, laps), place=racing.place)
        with st.container(key="run"):
            place = race_lanes(data)
        racing.place = racing.place if place is None else place
    with st.container(key="outcome"):
        show_results(laps, _where(racing, laps))


def _show_progress(racing: Racing) -> None:
    @st.fragment(run_every=POLL_SECONDS)
    def progress() -> None:
        if racing.job is None:
            return
        view = engine().view(racing.job)
        with st.container(border=True, key="race_progress"):
            st.progress(race_share(view), f"{plain(_step(view))}. Nothing is drawn while the clock runs.")
            if st.button("Cancel", key="race_cancel", icon=":material/close:"):
                engine().cancel(visitor().id)
                view = engine().view(racing.job)
        if view.finished:
            _take(racing, view)
            st.rerun()

    progress()


def race_share(view: JobView) -> float:
    """How much of the race is done, from 0 to 1: finished prompts, and the repeats begun of the one being timed."""
    if not view.total:
        return 0.0
    begun = re.search(r"repeat (\d+) of (\d+)$", view.note)
    within = (int(begun[1]) - 1) / int(begun[2]) if begun else 0.0
    return min(1.0, (len(view.results) + within) / view.total)


def _step(view: JobView) -> str:
    if view.state == "waiting":
        return (view.message or f"Waiting: place {view.place} in the queue").rstrip(".")
    if view.state == "loading" and view.bytes_total:
        return f"Downloading {view.model}: {view.bytes_done / 1e6:.0f} of {view.bytes_total / 1e6:.0f} MB"
    if view.state == "loading":
        return f"Loading {view.model}" if view.model else "Starting"
    return view.note or "Starting"


def _take(racing: Racing, view: JobView) -> None:
    """The race is over: keep the prompts that were finished, whatever ended it."""
    asked = racing.started
    assert asked is not None
    racing.job = None
    laps = [load_lap(item) for item in view.results]
    if view.state == "failed":
        racing.message = view.message
    elif view.state == "cancelled":
        done, total = len(laps), len(asked.prompts)
        kept = f"the {done} of {total} prompts that were finished are shown" if laps else "what was there stays"
        racing.finished = f"Cancelled: {kept}." if not view.message else LOST
    if laps:
        racing.laps, racing.raced, racing.run_id, racing.place = laps, asked, f"live-{view.job}", None


def _where(racing: Racing, laps: list[RaceLap]) -> str:
    if racing.laps:
        return "measured on this machine"
    return f"recorded on {laps[0].speculative.recorded_on.machine}"


def _caption(racing: Racing, laps: list[RaceLap]) -> str:
    """What the race on screen was of, and whether the controls have moved on since."""
    first = laps[0].speculative
    assert first.drafter is not None
    draft = plain(first.drafter.name) if first.drafter.kind == "model" else "prompt lookup"
    settings = first.settings
    policy = "" if settings.draft_schedule == "fixed" else f" ({SCHEDULE_LABELS[settings.draft_schedule].lower()})"
    repeats = len(laps[0].plain_seconds)
    of = (
        f"{plain(first.target.name)} ({plain(first.target.dtype)}) with {draft}, "
        f"γ = {settings.draft_length}{policy}, temperature {settings.temperature:g}, {settings.max_new_tokens} tokens, "
        f"{repeats} {'repeat' if repeats == 1 else 'repeats'}"
    )
    if not racing.laps:
        invitation = "" if racing.job else " Press **Start the race** to run yours here."
        return f"A recorded race: {of}.{invitation}"
    stale = racing.raced != racing.entry
    return f"{':orange[From before you changed the settings:] ' if stale else ''}Your race: {of}."


@cache
def recorded_race() -> list[RaceLap]:
    """The race made by `scripts/record_race.py`; empty where it is missing or damaged."""
    try:
        return parse_race(RECORDED.read_text(encoding="utf-8"))
    except (OSError, InputError) as error:
        logging.getLogger(__name__).error("No recorded race for the first screen: %s", error)
        return []
