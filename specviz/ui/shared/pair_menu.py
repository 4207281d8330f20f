"""Pairs worth trying: what each one shows, from which source, and how much memory it needs. Nothing is loaded."""

import streamlit as st

from specviz.core.request import PROMPT_LOOKUP
from specviz.models.pairs import HUB_MODELS, PAIRS, Pair, known_models
from specviz.ui.shared.persistent_widgets import set_widgets

LESSONS = {
    "pays": "pays",
    "no better": "a bigger draft, no better",
    "does not pay": "does not pay",
    "open": "find out",
}
HUB_NAMES = frozenset(model.name for model in HUB_MODELS)


def model_label(name: str) -> str:
    """A model in a menu: its short name, its size, and whether it has to be downloaded."""
    if name == PROMPT_LOOKUP:
        return "prompt lookup · no model"
    model = known_models().get(name)
    short = name.rpartition("/")[2]
    if model is None:
        return name
    return f"{short} · {_millions(model.parameters)}{' · download' if name in HUB_NAMES else ''}"


def pair_menu(measured_here: str | None) -> None:
    """Choose a pair; the target and draft menus follow. `measured_here`: what this session measured of the pair now."""
    st.selectbox(
        "Pairs worth trying",
        range(len(PAIRS)),
        index=None,
        key="pair",
        format_func=lambda index: _pair_label(PAIRS[index]),
        placeholder="Choose a pair",
        on_change=_fill_in_pair,
    )
    asked = (st.session_state.target, st.session_state.draft)
    for pair in PAIRS:
        if (pair.target, pair.draft) == asked:
            st.markdown(f"**Now: {_pair_label(pair)}**")
            if measured_here:
                st.markdown(f"Measured here, last run: {measured_here}")
            _about(pair)


def _about(pair: Pair) -> None:
    for statement in pair.statements:
        source = "its model card" if statement.source.startswith("assets/") else statement.source
        st.caption(f"{statement.text} ({source})")
    exact, half = pair.float32_bytes / 1e9, pair.bfloat16_bytes / 1e9
    hub = [name for name in (pair.target, pair.draft) if name in HUB_NAMES]
    where = "downloaded from the Hub at the first run" if hub else "bundled"
    st.caption(f"Weights of both: {exact:.2f} GB in float32, {half:.2f} GB in bfloat16; {where}.")


def _pair_label(pair: Pair) -> str:
    draft, target = pair.draft.rpartition("/")[2], pair.target.rpartition("/")[2]
    basis = "" if pair.lesson == "open" else f" ({pair.basis})"
    return f"{draft} → {target} · {LESSONS[pair.lesson]}{basis}"


def _fill_in_pair() -> None:
    if st.session_state.pair is not None:
        pair = PAIRS[st.session_state.pair]
        set_widgets({"target": pair.target, "draft": pair.draft})


def _millions(parameters: int) -> str:
    return (
        f"{parameters / 1e9:.1f} B" if parameters >= 1e9 else f"{parameters / 1e6:.{0 if parameters >= 1e7 else 1}f} M"
    )
