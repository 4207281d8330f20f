"""The stage: the one moving component of the Watch page. Its HTML, CSS and JavaScript live in assets/stage/."""

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.player.payload import FeedPayload, StagePayload
from specviz.ui.shared.components import component, html_of, ignore_change
from specviz.ui.stage.growth import split

MAX_STEP = 3 * 65_536


def stage(
    data: StagePayload,
    key: str = "stage",
    on_draft_length: Callable[[int], None] | None = None,
    on_tour: Callable[[object], None] | None = None,
) -> int | None:
    """Mount the stage with what `stage_data` made.

    Args:
        data: what to draw.
        key: of the component.
        on_draft_length: called with the draft length at which the visitor released the slider, before the script runs
            again.
        on_tour: called with the visitor's place in the tour when it changes, before the script runs again.

    Returns:
        The sub-step at which the visitor last stopped, None before that. Reported on pause, at the end of a scrub and
        on a click, never while playing.
    """

    def released() -> None:
        asked = st.session_state[key].get("gamma")
        if on_draft_length and type(asked) is int and 1 <= asked <= MAX_DRAFT_LENGTH:
            on_draft_length(asked)

    def moved() -> None:
        if on_tour:
            on_tour(st.session_state[key].get("tour"))

    changes = {
        "on_step_change": ignore_change,
        "on_gamma_change": released,
        "on_gap_change": ignore_change,
        "on_tour_change": moved,
    }
    run, rest = split(data)
    _run()(key=f"{key}-run", data=run)
    result = _component()(key=key, data=rest, **changes)
    step = result.get("step")
    return step if type(step) is int and 0 <= step < MAX_STEP else None


def feed(data: FeedPayload) -> None:
    """Hand the stage of this page what is new. Nothing is to be seen of it; a stage that missed something asks."""
    _feed()(key="feed", data=data)


@cache
def _feed() -> Any:
    return component("specviz_feed", '<div class="feed" hidden></div>', (), "stage/feed.js")


@cache
def _run() -> Any:
    return component("specviz_run", '<div class="run-part" hidden></div>', (), "stage/run.js")


@cache
def _component() -> Any:
    names = ("stage", "tree", "diagram", "tour", "views", "paper")
    styles = tuple(f"stage/{name}.css" for name in names)
    return component("specviz_stage", html_of("stage/stage.html"), styles, "stage/component.js")
