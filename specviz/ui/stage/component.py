"""The stage: the one moving component of the Watch page. Its HTML, CSS and JavaScript live in assets/stage/."""

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from specviz.core.assets import ASSETS
from specviz.core.settings import MAX_DRAFT_LENGTH

STAGE = ASSETS / "stage"
SCRIPTS = (  # joined into one module, in this order
    "dom.js",
    "playhead.js",
    "strip.js",
    "transport.js",
    "replay.js",
    "figures.js",
    "timeline.js",
    "inspector.js",
    "diagram.js",
    "stage.js",
)
STYLES = ("stage.css", "diagram.css")
MAX_STEP = 3 * 65_536


def stage(data: dict[str, Any], key: str = "stage", on_draft_length: Callable[[int], None] | None = None) -> int | None:
    """Mount the stage with what `stage_data` made.

    Args:
        data: what to draw.
        key: of the component.
        on_draft_length: called, before the script runs again, with the draft length the visitor has let go at.

    Returns:
        The sub-step the visitor last stopped at, None before that. Reported on pause, at the end of a scrub and on a
        click, never while playing.
    """

    def let_go() -> None:
        asked = st.session_state[key].get("gamma")
        if on_draft_length and type(asked) is int and 1 <= asked <= MAX_DRAFT_LENGTH:
            on_draft_length(asked)

    result = _component()(key=key, data=data, on_step_change=_ignore, on_gamma_change=let_go)
    step = result.get("step")
    return step if type(step) is int and 0 <= step < MAX_STEP else None


def stage_script() -> str:
    """The component's JavaScript module."""
    return "\n".join((STAGE / name).read_text(encoding="utf-8") for name in SCRIPTS)


@cache
def _component() -> Any:
    return st.components.v2.component(
        "specviz_stage",
        html=(STAGE / "stage.html").read_text(encoding="utf-8"),
        css="\n".join((STAGE / name).read_text(encoding="utf-8") for name in STYLES),
        js=stage_script(),
    )


def _ignore() -> None:
    """Streamlit keeps a component's state only where a callback is given."""
