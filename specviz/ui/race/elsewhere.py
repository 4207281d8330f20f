"""What When it helps says of the kinds of text in a race, and the race's figures on that page: with a way there."""

from collections.abc import Iterable, Sequence

import streamlit as st

from specviz.measure.race import RaceLap
from specviz.measure.sweep.beside_race import Beside, beside
from specviz.measure.sweep.study import Study
from specviz.ui.helps.helps_state import Sweeps, studied
from specviz.ui.shared.escaping import plain


def show_sweep_beside(laps: Sequence[RaceLap], sweeps: Sweeps) -> None:
    """On Race: why a kind of text has another word on When it helps; nothing where that page has no such sweep."""
    _show(
        _first(beside(laps, studied(sweeps, source)) for source in sweeps.sources()), "When it helps", "race_to_helps"
    )


def show_race_beside(study: Study, races: Iterable[Sequence[RaceLap]]) -> None:
    """On When it helps: why a kind of text has another word on Race; nothing where no race has these models."""
    _show(_first(beside(laps, [study]) for laps in races), "Race", "helps_to_race")


def _first(each: Iterable[list[Beside]]) -> list[Beside]:
    return next((found for found in each if found), [])


def _show(found: Sequence[Beside], page: str, key: str) -> None:
    if not found:
        return
    others = [each for each in found if each.differs]
    if others:
        titles = [plain(each.raced.title) for each in others]
        named = ", ".join(f"{title[0].lower()}{title[1:]}" for title in titles)
        st.markdown(f"**{page} has another word for {named}.**")
        for each in others:
            st.markdown(plain(each.sentence))
    else:
        st.caption(f"{page} has these kinds of text too, and the same words for them.")
    if st.button(f"Open {page}", key=key, type="tertiary", icon=":material/arrow_forward:"):
        st.switch_page(f"pages/{key.rpartition('_')[2]}.py")
