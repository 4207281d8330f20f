"""What Watch hands to its stage: the run on screen, and the tour of a first visit."""

from collections.abc import Callable, Collection
from typing import Any, TypeVar, cast

import streamlit as st

from specviz.core.languages import cache_by_language, current_language
from specviz.core.metrics import Costs
from specviz.core.names import machine_in_words
from specviz.data.lessons.story import Tour, tour_of
from specviz.data.links.hidden import PARAMETER, View, written
from specviz.data.links.permalink import link_of
from specviz.data.measured.first_run import first_trace
from specviz.data.measured.quiet_costs import known_costs
from specviz.data.texts import page_texts
from specviz.player.data import compared, result_data, stage_data
from specviz.player.payload import SentRun, SentStage
from specviz.ui.shared.address import TOUR
from specviz.ui.shared.stage import LastingRun
from specviz.ui.watch.watch_state import FIRST, ShownRun, TourPlace, WatchState

SAYS = page_texts("watch")
Made = TypeVar("Made")


@cache_by_language
def first_tour() -> Tour:
    tour = tour_of(first_trace())
    assert tour, "the first run has no place for it"
    return tour


def asked_place() -> int | None:
    asked = st.query_params.get(TOUR, "")
    return int(asked) if asked in map(str, range(1, len(first_tour().beats) + 1)) else None


def unknown_place() -> str | None:
    asked = st.query_params.get(TOUR)
    if asked is None or asked_place():
        return None
    return SAYS["tour_unknown"].format(asked=asked[:40], last=len(first_tour().beats))


def move_tour(watching: WatchState, at: object) -> None:
    """Take the place from the stage; 0: the visitor left the tour, and may go on later, which a button then says."""
    place, beats = watching.tour, len(first_tour().beats)
    if type(at) is int and 0 <= at <= beats + 1:
        place.open, watching.redraw = at > 0, watching.redraw or at == 0
        if place.open or place.at > beats:
            place.at = at


def write_place(place: TourPlace) -> None:
    if not place.open or place.at > len(first_tour().beats):
        st.query_params.pop(TOUR, None)
    elif st.query_params.get(TOUR) != str(place.at):
        st.query_params[TOUR] = str(place.at)


def stage_payload(
    watching: WatchState, draft_length: int, view: View = "full", hide: Collection[str] = ()
) -> SentStage:
    """Everything the stage shows now. `draft_length` is what the controls say."""
    shown = watching.shown
    watching.feed.version += 1
    not_run = watching.form.problem or watching.message or watching.run.missing
    again = "from_before_again" if view in ("simple", "full") and "run" not in hide else "from_before"
    stored = SAYS[again] if shown.source == "stored" else None
    notice = watching.notice or (SAYS["not_run"] if not_run else stored)
    running = watching.run.busy and not watching.shows_previous_run
    if shown.stored_id and not running:
        made = _made_for_all(shown, watching.costs_of(shown), current_language())
        watching.feed.drawn.clear()
    else:
        of = shown, running, current_language()
        made = _kept(watching.feed.drawn, of, lambda: _made(shown, None, running=running))
    payload: SentStage = {**made, "run_id": shown.run_id}
    payload["stream"], payload["version"] = watching.feed.stream, watching.feed.version
    payload["notice"] = notice
    payload["idle"] = notice or payload["idle"]
    payload["link"] = link_on_stage(watching) | ({PARAMETER: written(hide)} if hide else {})
    payload["playhead"] = watching.step
    payload["gamma"] = draft_length
    payload["view"] = view
    _tell_result(watching, payload, hide)
    if hide:
        payload["hide"] = sorted(hide)
    place = watching.tour
    if place.open and shown.run_id == FIRST:
        payload["tour"] = {"started": place.started, "at": place.at, "tour": first_tour()}
    return payload


def _tell_result(watching: WatchState, payload: SentStage, hide: Collection[str]) -> None:
    """Its place in the session: whether it is what was asked for, and the run that it is compared with."""
    if "result" in hide:
        del payload["result"]
        return
    previous = payload["notice"] == SAYS["not_run"] or watching.shows_previous_run
    result = payload["result"]
    payload["result"] = {**result, "previous": previous, "same": "" if "texts" in hide else result["same"]}
    if (before := watching.compared_with) is None:
        return
    costs = watching.costs_of(before)
    known = known_costs(before.trace, costs)
    of = before.trace, before.draft_guesses, costs, known.costs if known else None
    payload["before"] = _kept(watching.feed.compared, (before, costs, current_language()), lambda: compared(*of))


def _kept(held: list[Any], of: tuple[object, ...], make: Callable[[], Made]) -> Made:
    """What was made last for this visitor alone, unless it was made of something else."""
    known = held[:]  # once: two scripts of one visitor may run at the same time
    if known and known[0] == of:
        found: Made = known[1]
        return found
    made = make()
    held[:] = of, made
    return made


HASHED: dict[Any, Callable[[Any], object]] = {ShownRun: lambda shown: (shown.stored_id, shown.source), Costs: repr}


# Those who want the same wait for who makes it, and no others do. With its JSON each has about a megabyte.
@st.cache_resource(show_spinner=False, max_entries=32, hash_funcs=HASHED)
def _made_for_all(shown: ShownRun, costs: Costs | None, language: str) -> SentStage:
    return _made(shown, costs, running=False)


def _made(shown: ShownRun, costs: Costs | None, *, running: bool) -> SentStage:
    """The part of the payload that depends on the run alone, which nobody may change."""
    known = None if running else known_costs(shown.trace, costs)
    more: dict[str, Any] = {"guesses": shown.draft_guesses, "costs": costs, "known": known.costs if known else None}
    made = stage_data(shown.trace, run_id=shown.run_id, source=shown.source, running=running, **more)
    where = "recorded_on" if shown.source == "recorded" else "measured_here"
    where = SAYS[where].format(machine=machine_in_words(shown.trace.recorded_on.machine))
    made["result"] = result_data(shown.trace, where, costs, known)
    made["run"] = cast(SentRun, LastingRun(made["run"]))
    return made


def link_on_stage(watching: WatchState) -> dict[str, str]:
    """What reproduces the run on screen: its settings, and the run itself where this server has it; else nothing."""
    if not watching.shown.linked:
        return {}
    return link_of(watching.asked or watching.form.current, run=watching.shown.stored_id or None)
