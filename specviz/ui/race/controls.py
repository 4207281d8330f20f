"""The controls of a race: widgets in, what to race on out. Nothing starts before the button is pressed."""

from typing import Any

import streamlit as st

from specviz.data.workloads import find_preset
from specviz.measure.race import MAX_PROMPTS, MAX_REPEATS
from specviz.ui.race.link import PRESET_NAMES, Entry
from specviz.ui.shared.persistent_widgets import restore_widgets, with_default, with_value
from specviz.ui.shared.run_controls import RunControls, first_words

CONTROLS = RunControls("race_")
SHOWN_CHARACTERS = 18  # of a preset in the menu


def race_controls(entry: Entry, running: bool) -> tuple[Entry, bool]:
    """Draw the controls, filled with `entry` where the visitor comes from another page.

    Returns:
        What they say now, and whether the start button was pressed.
    """
    restore_widgets(_values(entry))
    with st.container(key="controls"):
        prompts, models, sliders = st.columns([3.2, 1.6, 2.4], gap="medium")
        with prompts:
            _prompt_controls()
        with models:
            CONTROLS.target()
            CONTROLS.draft()
        with sliders:
            _slider_controls()
        start, more = st.columns([1, 3.8], gap="medium")
        pressed = start.button(
            "Start the race",
            type="primary",
            key="race_start",
            disabled=running,
            icon=":material/flag:",
            width="stretch",
        )
        with more:
            _more_controls()
    return _read(), pressed


def _prompt_controls() -> None:
    chosen = with_default("race_presets")
    st.multiselect("Prompts", PRESET_NAMES, format_func=preset_label, placeholder="Choose prompts", **chosen)
    st.text_area(
        "Your own prompts, one a line",
        height=68,
        placeholder="One prompt a line",
        help=f"Up to {MAX_PROMPTS} prompts in all.",
        **with_value("race_own"),
    )


def _slider_controls() -> None:
    length, temperature = st.columns(2, gap="medium")
    with length:
        CONTROLS.draft_length()
    with temperature:
        CONTROLS.temperature()
    tokens, repeats = st.columns(2, gap="medium")
    with tokens:
        CONTROLS.tokens()
    repeats.slider("Repeats", 1, MAX_REPEATS, help=REPEATS_HELP, **with_value("race_repeats"))


def _more_controls() -> None:
    with st.expander("More settings"):
        first, second, third, fourth = st.columns(4, gap="medium")
        with first:
            st.checkbox("The same length for both", help=SAME_LENGTH_HELP, **with_value("race_same_length"))
            CONTROLS.seed()
        with second:
            CONTROLS.top_k()
            CONTROLS.top_p()
        with third:
            CONTROLS.tree()
            CONTROLS.schedule()
        with fourth:
            CONTROLS.draft_sampling()
            CONTROLS.verification()
            CONTROLS.precision()


REPEATS_HELP = (
    "How often each decoder is timed on each prompt; the two are timed alternately. Above temperature 0 each repeat "
    "has a new seed: the one in More settings, the next one, and so on."
)
SAME_LENGTH_HELP = (
    "On: both write the same number of tokens, also after an end-of-text token. Off: each stops where its text ends."
)


def preset_label(name: str) -> str:
    """The name first: the lanes and the table go by it."""
    preset = find_preset(name)
    return f"{name} · {first_words(preset.text if preset else '', SHOWN_CHARACTERS)}"


def _values(entry: Entry) -> dict[str, Any]:
    """What the widgets must hold to ask for this race."""
    return {
        **CONTROLS.values_of(entry.request),
        "race_presets": list(entry.presets),
        "race_own": entry.own,
        "race_repeats": entry.repeats,
        "race_same_length": not entry.request.settings.stop_at_eos,
    }


def _read() -> Entry:
    state = st.session_state
    request = CONTROLS.request("", stop_at_eos=not state.race_same_length)
    return Entry(request, tuple(state.race_presets), state.race_own, state.race_repeats)
