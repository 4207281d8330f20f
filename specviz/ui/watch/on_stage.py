"""What Watch hands to its stage: the run on screen, and the tour of a first visit."""

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, cast

import streamlit as st

from specviz.core.languages import cache_by_language, current_language
from specviz.core.metrics import Costs
from specviz.core.names import machine_in_words
from specviz.core.verdict import result_of, waiting
from specviz.data.lessons.story import Tour, tour_of
from specviz.data.links.hidden import PARAMETER, View, written
from specviz.data.links.permalink import link_of
from specviz.data.measured.first_run import first_trace
from specviz.data.measured.quiet_costs import known_costs
from specviz.data.texts import page_texts
from specviz.player.data import compared, differences, run_name, stage_data
from specviz.player.payload import SentRun, SentStage
from specviz.ui.shared.address import TOUR
from specviz.ui.shared.stage import LastingRun
from specviz.ui.watch.watch_state import FIRST, CachedPayload, ShownRun, TourPlace, WatchState

SAYS = page_texts("watch")


@cache_by_language
def first_tour() -> Tour | None:
    trace = first_trace()
    return tour_of(trace) if trace else None


def button_label(place: TourPlace) -> str:
    """What the button says: the tour begins, begins again, or goes on where the visitor left it."""
    tour = first_tour()
    if place.open:
        return SAYS["tour_again"]
    if place.at <= 1 or tour is None:
        return SAYS["tour_new"]
    return SAYS["tour_on"].format(at=place.at, steps=len(tour.beats))


def asked_place() -> int | None:
    asked, tour = st.query_params.get(TOUR, ""), first_tour()
    beats = len(tour.beats) if tour else 0
    return int(asked) if asked in map(str, range(1, beats + 1)) else None


def unknown_place() -> str | None:
    asked, tour = st.query_params.get(TOUR), first_tour()
    if asked is None or tour is None or asked_place():
        return None
    return SAYS["tour_unknown"].format(asked=asked[:40], last=len(tour.beats))


def move_tour(place: TourPlace, at: object) -> None:
    tour = first_tour()
    if tour and type(at) is int and 0 <= at <= len(tour.beats) + 1:
        place.move(at, len(tour.beats))


def write_place(place: TourPlace) -> None:
    tour = first_tour()
    if tour is None or not place.open or place.at > len(tour.beats):
        st.query_params.pop(TOUR, None)
    elif st.query_params.get(TOUR) != str(place.at):
        st.query_params[TOUR] = str(place.at)


MOST_PAYLOADS = 32  # with their JSON about a megabyte each


def stage_payload(
    watching: WatchState, draft_length: int, view: View = "full", hide: Collection[str] = ()
) -> SentStage | None:
    """Everything the stage shows now; None where there is no run at all. `draft_length` is what the controls say."""
    shown = watching.shown
    if shown is None:
        return None
    watching.feed.version += 1
    not_run = watching.form.problem or watching.message or watching.run.missing
    again = "from_before_again" if view in ("simple", "full") and "run" not in hide else "from_before"
    stored = SAYS[again] if shown.source == "stored" else None
    notice = watching.notice or (SAYS["not_run"] if not_run else stored)
    payload = _build_run(watching, shown)
    payload["stream"], payload["version"] = watching.feed.stream, watching.feed.version
    payload["notice"] = notice
    payload["idle"] = notice or payload["idle"]
    payload["link"] = link_on_stage(watching, shown) | ({PARAMETER: written(hide)} if hide else {})
    payload["playhead"] = watching.step
    payload["gamma"] = draft_length
    payload["view"] = view
    _tell_result(watching, shown, payload, hide)
    if hide:
        payload["hide"] = sorted(hide)
    place = watching.tour
    if place.open and shown.run_id == FIRST and (tour := first_tour()):
        payload["tour"] = {"started": place.started, "at": place.at, "tour": tour}
    return payload


def _tell_result(watching: WatchState, shown: ShownRun, payload: SentStage, hide: Collection[str]) -> None:
    """Its place in the session: whether it is what was asked for, and the run that it is compared with."""
    if "result" in hide:
        del payload["result"]
        return
    if payload["notice"] == SAYS["not_run"] or watching.shows_previous_run:
        says = SAYS["previous_result"].format(says=payload["result"].says)
        payload["result"] = replace(payload["result"], says=says)
    if "texts" in hide:
        payload["result"] = replace(payload["result"], same="")
    before = watching.compared_with
    if before is None:
        return
    made, costs = watching.feed.compared, watching.costs_of(before)
    if made is None or not made.is_of(before, costs, current_language()):
        then = known_costs(before.trace, costs)
        lines = compared(before.trace, before.draft_guesses, costs, then.costs if then else None)
        made = watching.feed.compared = CachedPayload(lines, (before, costs, current_language()))
    payload["name"], payload["differs"] = run_name(shown.trace), differences(shown.trace, before.trace)
    unlike = differences(before.trace, shown.trace)
    payload["before"] = {**made.payload, "differs": unlike, "pinned": before is watching.pinned}


def _build_run(watching: WatchState, shown: ShownRun) -> SentStage:
    """The part that depends on the run alone, in a new dictionary; its rounds are not made again for each drawing."""
    running = watching.run.busy and not watching.shows_previous_run
    if shown.stored_id and not running:
        watching.feed.drawn = None
        return {**_build_finished(shown, watching.shown_costs), "run_id": shown.run_id}
    drawn = watching.feed.drawn
    if drawn is None or not drawn.is_of(shown, running, current_language()):
        drawn = watching.feed.drawn = CachedPayload(_made(shown, running, None), (shown, running, current_language()))
    return drawn.payload.copy()


def _made(shown: ShownRun, running: bool, costs: Costs | None) -> SentStage:
    known, run_id = None if running else known_costs(shown.trace, costs), shown.run_id
    more: dict[str, Any] = {"guesses": shown.draft_guesses, "costs": costs, "known": known.costs if known else None}
    made = stage_data(shown.trace, run_id=run_id, source=shown.source, running=running, **more)
    where = "recorded_on" if shown.source == "recorded" else "measured_here"
    where = SAYS[where].format(machine=machine_in_words(shown.trace.recorded_on.machine))
    made["result"] = waiting() if running else result_of(shown.trace, costs, where, known)
    made["run"] = cast(SentRun, LastingRun(made["run"]))
    return made


@dataclass(slots=True)
class FinishedRun:
    """One visitor makes the payload; those who want the same wait for it, and no others."""

    making: Lock = field(default_factory=Lock)
    made: CachedPayload[SentStage] | None = None


_FINISHED: OrderedDict[object, FinishedRun] = OrderedDict()  # the one asked for last is last
_LOOKING = Lock()  # never held while a payload is made


def _build_finished(shown: ShownRun, costs: Costs | None) -> SentStage:
    """The payload of a run that has an id, made once for all who read it in a language; nobody may change it."""
    key = shown.stored_id, shown.source, current_language()
    with _LOOKING:
        run = _FINISHED.setdefault(key, FinishedRun())
        _FINISHED.move_to_end(key)
        while len(_FINISHED) > MOST_PAYLOADS:
            _FINISHED.popitem(last=False)
    with run.making:
        if run.made is None or not run.made.is_of(costs):
            run.made = CachedPayload(_made(shown, False, costs), (costs,))
        return run.made.payload


def link_on_stage(watching: WatchState, shown: ShownRun) -> dict[str, str]:
    """What reproduces the run on screen: its settings, and the run itself where this server has it; else nothing."""
    if not shown.linked:
        return {}
    return link_of(watching.asked or watching.form.current, run=shown.stored_id or None)
