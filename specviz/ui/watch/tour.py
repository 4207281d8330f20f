"""The tour of a first visit on the Watch page: its button, its place in the address, and what the stage gets of it."""

from dataclasses import asdict
from functools import cache
from typing import cast

import streamlit as st

from specviz.data.first_run import first_trace
from specviz.data.lessons.tour import NEXT, Tour, tour_of
from specviz.player.payload import BeatPayload, TourPayload
from specviz.ui.session import session
from specviz.ui.shared.view import TOUR
from specviz.ui.watch.state import FIRST, TourPlace, Watching


@cache
def first_tour() -> Tour | None:
    """The tour of the recorded first run; None where that run is missing."""
    trace = first_trace()
    return tour_of(trace) if trace else None


def button_label(place: TourPlace) -> str:
    """What the button says: the tour begins, begins again, or goes on where the visitor left it."""
    tour = first_tour()
    if place.open:
        return "Start the tour again"
    if place.at <= 1 or tour is None:
        return "New here? Three-minute tour"
    return f"Continue the tour: step {place.at} of {len(tour.beats)}"


def asked_place() -> int | None:
    """The beat that the page's address names; None where it names none that there is."""
    asked, tour = st.query_params.get(TOUR, ""), first_tour()
    beats = len(tour.beats) if tour else 0
    return int(asked) if asked in map(str, range(1, beats + 1)) else None


def unknown_place() -> str | None:
    """One line where the address asks for a beat that there is not."""
    asked, tour = st.query_params.get(TOUR), first_tour()
    if asked is None or tour is None or asked_place():
        return None
    return f"tour={asked[:40]} is not a step of the tour, 1 to {len(tour.beats)}: the tour is not opened."


def take_place(at: object) -> None:
    """Take the visitor's place in the tour from the stage."""
    tour = first_tour()
    if tour and type(at) is int and 0 <= at <= len(tour.beats) + 1:
        session().watch.tour.take(at, len(tour.beats))


def write_place(place: TourPlace) -> None:
    """Put the place into the page's address, so that a reload goes on there."""
    wanted = str(place.at) if place.open else None
    if st.query_params.get(TOUR) == wanted:
        return
    if wanted:
        st.query_params[TOUR] = wanted
    else:
        st.query_params.pop(TOUR, None)


def tour_on_stage(watching: Watching) -> TourPayload | None:
    """The tour, while it is open and its run is on screen."""
    tour, place = first_tour(), watching.tour
    if tour is None or not place.open or watching.shown is None or watching.shown.run_id != FIRST:
        return None
    beats = [cast(BeatPayload, {**asdict(beat), "lights": list(beat.lights)}) for beat in tour.beats]
    return {"started": place.started, "at": place.at, "beats": beats, "end": tour.end, "next": list(NEXT)}
