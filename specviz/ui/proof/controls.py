"""What is to be proved, on which prompt and pair: widgets in, a request out; kept in the session and in the address."""

from typing import Any

import streamlit as st

from specviz.core.prompts import prompt_problem
from specviz.core.request import PROMPT_LOOKUP, RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.data.permalink import MAX_SEED, MAX_TEMPERATURE, MAX_TOP_K
from specviz.data.workloads import WORKLOADS, find_preset
from specviz.measure.proof.rule_names import POSITIONS
from specviz.models.pairs import known_names
from specviz.service.child import any_model_allowed
from specviz.ui.proof.link import DRAWS, Wanted, wanted_from_link
from specviz.ui.shared.address import address, models_in
from specviz.ui.shared.notices import notices
from specviz.ui.shared.pair_menu import model_label
from specviz.ui.watch.controls import (
    DRAFT_HELP,
    LENGTH_HELP,
    OWN_TEXT,
    PRECISION_HELP,
    PRECISION_LABELS,
    SEED_HELP,
    TARGET_HELP,
    TOP_K_HELP,
    TOP_P_HELP,
    preset_label,
)

LEAST_TEMPERATURE = 0.1


def controls() -> Wanted:
    """Draw the controls and read them."""
    _restore()
    with st.container(key="proof_controls"):
        prompt, models, numbers = st.columns([3, 2, 2], gap="medium")
        with prompt:
            _prompt()
        with models:
            _models()
        with numbers:
            temperature, help_text = "Temperature", TEMPERATURE_HELP
            st.slider(
                temperature, LEAST_TEMPERATURE, MAX_TEMPERATURE, step=0.1, key="proof_temperature", help=help_text
            )
            st.slider("Draft length", 1, MAX_DRAFT_LENGTH, key="proof_gamma", help=LENGTH_HELP)
        _more()
    wanted = _read()
    st.session_state.proof_kept = _values()
    notices([*st.session_state.proof_notes, wanted.problem])
    return wanted


def _prompt() -> None:
    menu = [OWN_TEXT, *(preset.name for workload in WORKLOADS for preset in workload.prompts)]
    st.selectbox("Prompt", menu, key="proof_preset", format_func=preset_label, on_change=_fill_in_preset)
    st.text_area("Prompt text", key="proof_prompt", height=68, label_visibility="collapsed", on_change=_note_own_text)


def _models() -> None:
    state, options = st.session_state, {"accept_new_options": any_model_allowed(), "format_func": model_label}
    targets = list(dict.fromkeys([*known_names(), state.proof_target]))
    drafts = list(dict.fromkeys([*known_names(), PROMPT_LOOKUP, state.proof_draft]))
    more: dict[str, Any] = options
    st.selectbox("Target", targets, key="proof_target", help=TARGET_HELP, **more)
    st.selectbox("Draft", drafts, key="proof_draft", help=DRAFT_HELP, **more)


def _more() -> None:
    with st.expander("More settings"):
        top_k, top_p, seed, precision = st.columns(4, gap="medium")
        top_k.number_input("Top-k (0 keeps every token)", 0, MAX_TOP_K, key="proof_top_k", help=TOP_K_HELP)
        top_p.slider("Top-p (1 keeps every token)", 0.01, 1.0, step=0.01, key="proof_top_p", help=TOP_P_HELP)
        seed.number_input("Seed", 0, MAX_SEED, key="proof_seed", help=SEED_HELP)
        labels = PRECISION_LABELS
        precision.radio(
            "Number format", list(labels), key="proof_precision", format_func=labels.__getitem__, help=PRECISION_HELP
        )


def position_and_draws() -> None:
    """Which token to look at, and how often. `controls` reads them: they keep their values between runs."""
    position, draws = st.columns([3, 2], gap="medium")
    position.radio(
        "Which token", list(POSITIONS), key="proof_position", format_func=POSITIONS.__getitem__, horizontal=True
    )
    draws.select_slider("How often", DRAWS, key="proof_draws", format_func=lambda n: f"{n:,}", help=DRAWS_HELP)


TEMPERATURE_HELP = (
    "Tokens are drawn at random, in proportion to the model’s odds raised to 1/temperature. At 0 there is nothing to "
    "draw: that case is the token-for-token comparison."
)
DRAWS_HELP = "Draws each way. Twice as many see differences that are smaller by a factor of 1.4."


# ---- state: kept between pages, taken from a link once


def _restore() -> None:
    state = st.session_state
    if "proof_kept" not in state:
        state.proof_kept = _from_link()
    for key, value in state.proof_kept.items():
        if key not in state:
            state[key] = value


def _from_link() -> dict[str, Any]:
    link = address()
    wanted, st.session_state.proof_notes = wanted_from_link(link, models_in(link))
    settings = wanted.request.settings
    return {
        "proof_preset": wanted.preset or OWN_TEXT,
        "proof_prompt": wanted.request.prompt,
        "proof_target": wanted.request.target,
        "proof_draft": wanted.request.draft,
        "proof_gamma": settings.draft_length,
        "proof_temperature": max(LEAST_TEMPERATURE, round(settings.temperature, 1)) if settings.temperature else 1.0,
        "proof_top_k": settings.top_k or 0,
        "proof_top_p": settings.top_p or 1.0,
        "proof_seed": settings.seed,
        "proof_precision": wanted.request.precision,
        "proof_position": wanted.position,
        "proof_draws": wanted.draws,
        "proof_rule": wanted.rule,
    }


def _values() -> dict[str, Any]:
    return {key: st.session_state[key] for key in st.session_state.proof_kept}


def keep(key: str) -> None:
    """Remember a widget's value that was drawn after the controls."""
    st.session_state.proof_kept[key] = st.session_state[key]


def _fill_in_preset() -> None:
    if preset := find_preset(st.session_state.proof_preset):
        st.session_state.proof_prompt = preset.text


def _note_own_text() -> None:
    preset = find_preset(st.session_state.proof_preset)
    if preset is None or preset.text != st.session_state.proof_prompt:
        st.session_state.proof_preset = OWN_TEXT


def _read() -> Wanted:
    state = st.session_state
    settings = DecodeSettings(
        draft_length=state.proof_gamma,
        temperature=round(state.proof_temperature, 4),
        top_k=state.proof_top_k or None,
        top_p=None if state.proof_top_p == 1 else round(state.proof_top_p, 4),
        seed=state.proof_seed,
    )
    request = RunRequest(state.proof_prompt, state.proof_target, state.proof_draft, state.proof_precision, settings)
    preset = None if state.proof_preset == OWN_TEXT else state.proof_preset
    return Wanted(
        request, preset, state.proof_position, state.proof_draws, state.proof_rule, prompt_problem(state.proof_prompt)
    )
