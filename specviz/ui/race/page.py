"""Which race is on screen, how it got there, and everything drawn from it."""

import streamlit as st

from specviz.core.names import short_name
from specviz.data.lessons.glossary import explained
from specviz.data.permalink import left_out_of_link
from specviz.measure.pace import Pace, in_minutes
from specviz.measure.race import RaceLap
from specviz.ui.race.controls import race_controls
from specviz.ui.race.lanes import lanes_data, race_lanes
from specviz.ui.race.link import Entry, entry_from_link, link_of_entry
from specviz.ui.race.measuring import show_measuring
from specviz.ui.race.results import show_results
from specviz.ui.race.state import Racing, recorded_race
from specviz.ui.session import session
from specviz.ui.shared.address import address, models_in, write_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.heading import heading
from specviz.ui.shared.hiding import hidden_in_link
from specviz.ui.shared.job_size import UNKNOWN, limit_sentence, pace_here
from specviz.ui.shared.job_slot import beside_line
from specviz.ui.shared.notices import notices
from specviz.ui.shared.run_controls import SCHEDULE_LABELS


def lead() -> None:
    """One sentence that says what the page does."""
    answer = explained(
        "The target model writes alone and with a draft model, timed alternately on the same prompts. The lanes replay "
        "the measured times.",
        "race-lead",
    )
    heading(f"**Is it really faster?** {answer}", html=True)


def race() -> Racing:
    """Draw the controls; start a race only when its button is pressed."""
    racing = _racing()
    racing.refresh()
    entry, pressed = race_controls(racing.entry, racing.slot.busy)
    if entry != racing.entry:
        racing.entry, racing.notes, racing.acted = entry, [], True
    notices([*racing.notes, entry.problem, left_out_of_link(entry.own)])
    if not entry.problem:
        st.caption(size_sentence(entry, pace_here(entry.request)))
    racing.acted = racing.acted or pressed
    if racing.acted and entry.prompts:
        write_address({**link_of_entry(entry), **hidden_in_link()})
    if pressed and not entry.problem:
        racing.start()
        st.rerun()  # the button is drawn again, disabled
    return racing


def size_sentence(entry: Entry, pace: Pace | None) -> str:
    """What a race is made of, and about how long it takes."""
    tokens = entry.request.settings.max_new_tokens
    parts = ((len(entry.prompts), "prompt"), (entry.repeats, "repeat"), (tokens, "token"))
    of = " × ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in parts)
    written = f"{of}: each decoder writes at most {entry.tokens:,}"
    if pace is None:
        return f"{written}; {UNKNOWN}. {limit_sentence()}"
    seconds = entry.tokens * pace.both
    return (
        f"{written}, {in_minutes(seconds)} for both, going by this server’s own measurements. {limit_sentence(seconds)}"
    )


def _racing() -> Racing:
    racing = session().race
    if not racing.link_read:
        link = address()
        racing.entry, racing.notes = entry_from_link(link, models_in(link))
        racing.link_read, racing.acted = True, bool(link)
    return racing


def show_race(racing: Racing) -> None:
    """The race under way, or the lanes and the results."""
    if racing.slot.busy:
        show_measuring(racing)
        return
    notices([racing.message], "error")
    notices([racing.finished, beside_line(racing.slot.beside)], "info")
    laps = racing.laps or recorded_race()
    if not laps:
        st.info("There is no race yet. Choose prompts and press Start the race.")
        return
    st.caption(_caption(racing, laps))
    data = lanes_data(laps, run_id=racing.run_id, badge=_where(racing, laps), place=racing.place)
    with st.container(key="run"):
        place = race_lanes(data)
    racing.place = racing.place if place is None else place
    with st.container(key="outcome"):
        show_results(laps, _where(racing, laps))


def _where(racing: Racing, laps: list[RaceLap]) -> str:
    if racing.laps:
        return "measured on this machine"
    return f"recorded on {laps[0].speculative.recorded_on.machine}"


def _seeds(lap: RaceLap) -> str:
    """Which seeds the repeats have; nothing to say for greedy decoding."""
    if lap.speculative.settings.greedy:
        return ""
    seeds = lap.seeds
    return f", a new seed in each ({seeds[0]} to {seeds[-1]})" if len(seeds) > 1 else f", seed {seeds[0]} in each"


def _caption(racing: Racing, laps: list[RaceLap]) -> str:
    """What the race on screen was of, and whether the controls have moved on since."""
    first = laps[0].speculative
    assert first.drafter is not None
    lookup = first.drafter.kind == "prompt-lookup"
    draft = "prompt lookup" if lookup else plain(short_name(first.drafter.name))
    settings = first.settings
    policy = "" if settings.draft_schedule == "fixed" else f" ({SCHEDULE_LABELS[settings.draft_schedule].lower()})"
    repeats = len(laps[0].plain_seconds)
    of = (
        f"{plain(short_name(first.target.name))} ({plain(first.target.dtype)}) with {draft}, "
        f"γ = {settings.draft_length}{policy}{settings.manner}, temperature {settings.temperature:g}, "
        f"{settings.max_new_tokens} tokens, {repeats} {'repeat' if repeats == 1 else 'repeats'}{_seeds(laps[0])}"
    )
    if not racing.laps:
        return f"A recorded race: {of}. Press **Start the race** to run yours here."
    stale = racing.raced != racing.entry
    return f"{':orange[From before you changed the settings:] ' if stale else ''}Your race: {of}."
