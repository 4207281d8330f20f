"""Which race is on screen, how it got there, and everything drawn from it."""

import logging
from dataclasses import dataclass, field
from functools import cache

import streamlit as st

from specviz.core.assets import ASSETS
from specviz.core.errors import InputError
from specviz.data.lessons.glossary import explained
from specviz.measure.race import RaceLap, parse_race
from specviz.service.job import JobView
from specviz.service.protocol import Progress, Race
from specviz.service.results import RaceResult
from specviz.ui.race.controls import race_controls
from specviz.ui.race.lanes import lanes_data, race_lanes
from specviz.ui.race.link import Entry, entry_from_link, link_of_entry
from specviz.ui.race.results import show_results
from specviz.ui.shared.address import address, models_in, write_address
from specviz.ui.shared.engine import engine, visitor
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.job_slot import JobSlot, waiting_line
from specviz.ui.shared.notices import notices
from specviz.ui.shared.run_controls import SCHEDULE_LABELS

RECORDED = ASSETS / "traces" / "race.json"
POLL_SECONDS = 1.0  # the page shares the machine with the clock
LOST = "The race has expired because this page was left or the server restarted: {kept}. Start it again."


@dataclass(slots=True)
class Racing:
    """One visitor's race; lives in the session."""

    entry: Entry  # what the controls say
    notes: list[str] = field(default_factory=list)  # what of a link could not be used
    started: Entry | None = None  # what was last raced, or is being raced
    slot: JobSlot[RaceResult] = field(default_factory=lambda: JobSlot("race", RaceResult))
    laps: list[RaceLap] = field(default_factory=list)  # on screen; empty: the recorded race is
    raced: Entry | None = None  # what those laps are of
    run_id: str = "recorded"
    place: float | None = None  # of the playback's clock
    message: str = ""  # why there is nothing newer
    finished: str = ""  # how the last race ended, where not all of it was run


def lead() -> None:
    """One sentence that says what the page does."""
    answer = explained(
        "The target model alone and speculative decoding with a draft model continue the same prompts, timed "
        "alternately on this machine. Then the lanes replay both at the speed that was measured.",
        "race-lead",
    )
    st.markdown(f"##### :primary[spec]viz&emsp;**Is it really faster?** {answer}", unsafe_allow_html=True)


def race() -> Racing:
    """Draw the controls; start a race only when its button is pressed."""
    racing = _racing()
    engine().heartbeat(visitor().id)
    entry, pressed = race_controls(racing.entry, racing.slot.busy)
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
    racing.slot.start(lambda job: Race(job, entry.request, entry.prompts, entry.repeats))
    write_address(link_of_entry(entry))


def show_race(racing: Racing) -> None:
    """The race under way, or the lanes and what it came to."""
    if racing.slot.busy:
        _show_progress(racing)
    notices([racing.message], "error")
    notices([racing.finished], "info")
    laps = racing.laps or recorded_race()
    if not laps:
        if not racing.slot.busy:
            st.info("Choose prompts and press Start the race.")
        return
    st.caption(_caption(racing, laps))
    if not racing.slot.busy:
        data = lanes_data(laps, run_id=racing.run_id, badge=_where(racing, laps), place=racing.place)
        with st.container(key="run"):
            place = race_lanes(data)
        racing.place = racing.place if place is None else place
    with st.container(key="outcome"):
        show_results(laps, _where(racing, laps))


def _show_progress(racing: Racing) -> None:
    @st.fragment(run_every=POLL_SECONDS)
    def progress() -> None:
        slot = racing.slot
        ended = slot.refresh()
        if slot.busy and slot.view:
            with st.container(border=True, key="race_progress"):
                doing = f"{plain(_step(slot.view))}. Nothing is drawn while the clock runs."
                st.progress(race_share(slot.view.progress), doing)
                if st.button("Cancel", key="race_cancel", icon=":material/close:"):
                    slot.cancel()
                    ended = slot.refresh()
        if ended:
            _take(racing)
            st.rerun()

    progress()


def race_share(progress: Progress | None) -> float:
    """How much of the race is done, from 0 to 1: finished prompts, and the finished repeats of the one being timed."""
    if progress is None or not progress.total:
        return 0.0
    within = (progress.repeat - 1) / progress.repeats if progress.repeat else 0.0
    return min(1.0, (progress.done + within) / progress.total)


def race_step(progress: Progress) -> str:
    """What the race does now, in words."""
    doing = f"repeat {progress.repeat} of {progress.repeats}" if progress.phase == "timing" else progress.phase
    return f"Prompt {progress.done + 1} of {progress.total}, {doing}"


def _step(view: JobView) -> str:
    if line := waiting_line(view):
        return f"{line[0].upper()}{line[1:]}".rstrip(".")
    return race_step(view.progress) if view.progress else "Starting"


def _take(racing: Racing) -> None:
    """The race is over: show the prompts that were finished, whatever ended it."""
    slot, asked = racing.slot, racing.started
    assert asked is not None
    laps = list(slot.result.items) if slot.result else []
    done, total = len(laps), len(asked.prompts)
    kept = f"the {done} of {total} prompts that were finished are shown" if laps else "the previous results are shown"
    if slot.state == "failed":
        racing.message = slot.message
    elif slot.state == "cancelled":
        racing.finished = f"Cancelled: {kept}."
    elif slot.state == "lost":
        racing.finished = LOST.format(kept=kept)
    if laps:
        racing.laps, racing.raced, racing.run_id, racing.place = laps, asked, f"live-{slot.job}", None


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
        invitation = "" if racing.slot.busy else " Press **Start the race** to run yours here."
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
