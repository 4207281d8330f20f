"""What When it helps says of the kinds of text in a race, and the race's figures on that page: with a way there."""

from collections.abc import Iterable, Sequence

import streamlit as st

from specviz.measure.race import RaceLap
from specviz.measure.sweep.beside_race import Beside, beside
from specviz.measure.sweep.study import Study
from specviz.ui.helps.helps_state import Sweeps
from specviz.ui.helps.studied import studied
from specviz.ui.shared.escaping import plain


def show_sweep_beside(laps: Sequence[RaceLap], sweeps: Sweeps) -> None:
    found = _first(beside(laps, studied(sweeps, source)) for source in sweeps.sources())
    if not found:
        return
    _say(found, "When it helps")
    if st.button("Open When it helps", key="race_to_helps", type="tertiary", icon=":material/arrow_forward:"):
        st.switch_page("pages/helps.py")


def show_race_beside(study: Study, races: Iterable[Sequence[RaceLap]]) -> None:
    found = _first(beside(laps, [study]) for laps in races)
    if not found:
        return
    _say(found, "Race")
    if st.button("Open Race", key="helps_to_race", type="tertiary", icon=":material/arrow_forward:"):
        st.switch_page("pages/race.py")


def _first(each: Iterable[list[Beside]]) -> list[Beside]:
    return next((found for found in each if found), [])


def _say(found: Sequence[Beside], page: str) -> None:
    others = [each for each in found if each.differs]
    if not others:
        st.caption(f"{page} has these kinds of text too, and the same words for them.")
        return
    st.markdown(f"**{page} has another word for {_titles(others)}.**")
    for each in others:
        st.markdown(plain(each.sentence))


def _titles(others: Sequence[Beside]) -> str:
    return ", ".join(f"{plain(each.raced.title)[0].lower()}{plain(each.raced.title)[1:]}" for each in others)
