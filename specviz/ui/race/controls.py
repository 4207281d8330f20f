"""The controls of a race: widgets in, what to race on out. Nothing starts before the button is pressed."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from specviz.core.request import PROMPT_LOOKUP, RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.data.permalink import MAX_NEW_TOKENS, MAX_SEED, MAX_TEMPERATURE, MAX_TOP_K
from specviz.data.workloads import WORKLOADS, find_preset
from specviz.measure.race import MAX_PROMPTS, MAX_REPEATS
from specviz.models.pairs import known_names
from specviz.service.child import any_model_allowed
from specviz.ui.race.link import Entry
from specviz.ui.shared.pair_menu import model_label
from specviz.ui.watch.controls import (
    DRAFT_HELP,
    LENGTH_HELP,
    PRECISION_HELP,
    PRECISION_LABELS,
    SCHEDULE_HELP,
    SCHEDULE_LABELS,
    SEED_HELP,
    TARGET_HELP,
    TEMPERATURE_HELP,
    TOP_K_HELP,
    TOP_P_HELP,
)

SHOWN_CHARACTERS = 18  # of a preset in the menu


def race_controls(entry: Entry, running: bool) -> tuple[Entry, bool]:
    """Draw the controls, filled with `entry` where the visitor comes from elsewhere.

    Returns:
        What they say now, and whether the start button was pressed.
    """
    if "race_presets" not in st.session_state:
        _fill_in(entry)
    with st.container(key="controls"):
        prompts, models, sliders = st.columns([3.2, 1.6, 2.4], gap="medium")
        with prompts:
            _prompt_controls()
        with models:
            _model_menu("Target", "race_target", known_names(), TARGET_HELP)
            _model_menu("Draft", "race_draft", [*known_names(), PROMPT_LOOKUP], DRAFT_HELP)
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
    names = [preset.name for workload in WORKLOADS for preset in workload.prompts]
    st.multiselect("Prompts", names, key="race_presets", format_func=preset_label, placeholder="Choose prompts")
    st.text_area(
        "Your own prompts, one a line",
        key="race_own",
        height=68,
        placeholder="One prompt a line",
        help=f"Up to {MAX_PROMPTS} prompts in all.",
    )


def _model_menu(label: str, key: str, names: Sequence[str], explanation: str) -> None:
    options = list(dict.fromkeys([*names, st.session_state[key]]))
    st.selectbox(
        label,
        options,
        key=key,
        format_func=model_label,
        help=explanation,
        accept_new_options=any_model_allowed(),
    )


def _slider_controls() -> None:
    length, temperature = st.columns(2, gap="medium")
    length.slider("Draft length", 1, MAX_DRAFT_LENGTH, key="race_gamma", help=LENGTH_HELP)
    temperature.slider("Temperature", 0.0, MAX_TEMPERATURE, step=0.1, key="race_temperature", help=TEMPERATURE_HELP)
    tokens, repeats = st.columns(2, gap="medium")
    tokens.slider("New tokens", 1, MAX_NEW_TOKENS, key="race_tokens")
    repeats.slider("Repeats", 1, MAX_REPEATS, key="race_repeats", help=REPEATS_HELP)


def _more_controls() -> None:
    with st.expander("More settings"):
        first, second, third, fourth = st.columns(4, gap="medium")
        first.checkbox("The same length for both", key="race_same_length", help=SAME_LENGTH_HELP)
        first.number_input("Seed", 0, MAX_SEED, key="race_seed", help=SEED_HELP)
        second.number_input("Top-k (0 keeps every token)", 0, MAX_TOP_K, key="race_top_k", help=TOP_K_HELP)
        second.slider("Top-p (1 keeps every token)", 0.01, 1.0, step=0.01, key="race_top_p", help=TOP_P_HELP)
        with third:
            _choices("Draft length policy", "race_schedule", SCHEDULE_LABELS, SCHEDULE_HELP)
        with fourth:
            _choices("Number format", "race_precision", PRECISION_LABELS, PRECISION_HELP)


def _choices(label: str, key: str, labels: Mapping[Any, str], explanation: str) -> None:
    st.radio(label, list(labels), key=key, format_func=labels.__getitem__, help=explanation)


REPEATS_HELP = "How often each decoder is timed on each prompt, in turns. The median counts; its spread is shown."
SAME_LENGTH_HELP = "Both go on to the same number of tokens, past an end of text. Off: each stops where its text ends."


def preset_label(name: str) -> str:
    """The name first: the lanes and the table go by it."""
    preset = find_preset(name)
    first = " ".join(preset.text.split()) if preset else ""
    return f"{name} · {first[:SHOWN_CHARACTERS]}{'…' if len(first) > SHOWN_CHARACTERS else ''}"


def _fill_in(entry: Entry) -> None:
    request, settings = entry.request, entry.request.settings
    st.session_state.update(
        race_presets=list(entry.presets),
        race_own=entry.own,
        race_target=request.target,
        race_draft=request.draft,
        race_gamma=settings.draft_length,
        race_temperature=settings.temperature,
        race_tokens=settings.max_new_tokens,
        race_repeats=entry.repeats,
        race_same_length=not settings.stop_at_eos,
        race_seed=settings.seed,
        race_top_k=settings.top_k or 0,
        race_top_p=settings.top_p or 1.0,
        race_precision=request.precision,
        race_schedule=settings.draft_schedule,
    )


def _read() -> Entry:
    state = st.session_state
    settings = DecodeSettings(
        max_new_tokens=state.race_tokens,
        draft_length=state.race_gamma,
        temperature=round(state.race_temperature, 4),
        top_k=state.race_top_k or None,
        top_p=None if state.race_top_p == 1 else round(state.race_top_p, 4),
        seed=state.race_seed,
        stop_at_eos=not state.race_same_length,
        draft_schedule=state.race_schedule,
    )
    request = RunRequest("", state.race_target, state.race_draft, state.race_precision, settings)
    return Entry(request, tuple(state.race_presets), state.race_own, state.race_repeats)
