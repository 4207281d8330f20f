"""Pairs worth trying: what each one shows, from which source, and how much memory it needs. Nothing is loaded."""

from collections.abc import Sequence

import streamlit as st

from specviz.core.drafters import menu_title, named
from specviz.core.names import is_path, short_name
from specviz.data.texts import page_texts
from specviz.models.catalogue import bundled_heads, weight_bytes
from specviz.models.draft_menu import draft_groups, offered_names
from specviz.models.pairs import HUB_MODELS, PAIRS, KnownModel, Pair, known_models
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.persistent_widgets import set_widgets

MORE_MODELS = "more"  # an entry of a short menu: it stands for all that are left out
HUB_NAMES = frozenset(model.name for model in HUB_MODELS)


def must_be_downloaded(name: str) -> bool:
    return name in HUB_NAMES


def model_label(name: str) -> str:
    """A model or another draft in a menu: its short name, its size, and what it is or whether it must be downloaded."""
    if name == MORE_MODELS:
        return "More models…"
    if named(name):
        return f"{menu_title(name)} · no model"
    for head in bundled_heads():
        if head.name == name:
            return f"{name} · head · {_millions(head.parameters)}"
    model = known_models().get(name)
    short = name.rpartition("/")[2]
    if model is None:
        return f"{short_name(name)} · folder" if is_path(name) else name
    return f"{short} · {_millions(model.parameters)}{' · download' if name in HUB_NAMES else ''}"


def pair_menu(measured_here: str | None) -> None:
    """Choose a pair; the target and draft menus follow. `measured_here`: what this session measured of the pair now."""
    st.selectbox(
        "Pairs worth trying",
        [index for index, pair in enumerate(PAIRS) if {pair.target, pair.draft} <= {*offered_names()}],
        index=None,
        key="pair",
        format_func=lambda index: pair_label(PAIRS[index]),
        placeholder="Choose a pair",
        on_change=_fill_in_pair,
    )
    for group in draft_groups():
        if st.session_state.draft in group.names:
            st.caption(f"**{group.title}.** {group.about} {group.used}")
    asked = (st.session_state.target, st.session_state.draft)
    for pair in PAIRS:
        if (pair.target, pair.draft) == asked:
            st.markdown(f"**Now: {pair_label(pair)}**")
            if measured_here:
                st.markdown(f"Measured here, last run: {measured_here}")
            for statement in pair.statements:
                source = "its model card" if statement.source.startswith("assets/") else statement.source
                st.caption(f"{statement.text} ({source})")
            exact, half = (weight_bytes(pair.parameters, dtype) / 1e9 for dtype in ("float32", "bfloat16"))
            in_memory = f"Weights of both in memory: {exact:.2f} GB in float32, {half:.2f} GB in bfloat16."
            st.caption(f"{in_memory} {what_it_downloads(pair)}")


def what_it_downloads(pair: Pair) -> str:
    hub = _from_hub(pair)
    if not hub:
        return "Both ship with this app: nothing is downloaded."
    names = " and ".join(plain(model.name) for model in hub)
    return (
        f"The first run downloads {names} from the Hub, at least {_gigabytes(hub)}: 2 bytes a parameter, and some "
        "files have 4. What is on the server already is not downloaded again."
    )


def _from_hub(pair: Pair) -> list[KnownModel]:
    return [model for model in pair.models if model.name in HUB_NAMES]


def _gigabytes(models: Sequence[KnownModel]) -> str:
    return f"{weight_bytes(sum(model.parameters for model in models), 'bfloat16') / 1e9:.2f} GB"


def pair_label(pair: Pair) -> str:
    draft, target = pair.draft.rpartition("/")[2], pair.target.rpartition("/")[2]
    basis = "" if pair.lesson == "open" else f" ({pair.basis})"
    hub = _from_hub(pair)
    size = f" · downloads {_gigabytes(hub)} or more" if hub else ""
    return f"{draft} → {target} · {page_texts('pair_lessons')[pair.lesson]}{basis}{size}"


def _fill_in_pair() -> None:
    if st.session_state.pair is not None:
        pair = PAIRS[st.session_state.pair]
        set_widgets({"target": pair.target, "draft": pair.draft})


def _millions(parameters: int) -> str:
    return (
        f"{parameters / 1e9:.1f} B" if parameters >= 1e9 else f"{parameters / 1e6:.{0 if parameters >= 1e7 else 1}f} M"
    )
