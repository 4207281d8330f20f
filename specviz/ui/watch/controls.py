"""The controls of a run: widgets in, a RunRequest out, with an undo."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from specviz.core.prompts import prompt_problem
from specviz.core.request import PROMPT_LOOKUP, RunRequest
from specviz.core.settings import DecodeSettings, DraftSchedule
from specviz.core.trace import Trace
from specviz.data.permalink import MAX_NEW_TOKENS, MAX_SEED, MAX_TEMPERATURE, MAX_TOP_K, link_of, request_from_link
from specviz.data.workloads import WORKLOADS, find_preset, workload_of
from specviz.models.pairs import known_names
from specviz.service.child import any_model_allowed
from specviz.ui.shared.address import address, models_in
from specviz.ui.shared.pair_menu import model_label, pair_menu
from specviz.ui.shared.persistent_widgets import kept, kept_choice, set_kept

OWN_TEXT = "own"  # the prompt menu's entry for text that is no preset
UNDO_STEPS = 50


@dataclass(frozen=True, slots=True)
class FormInput:
    """What the visitor asks for in this run of the script."""

    request: RunRequest
    preset: str | None
    problem: str | None  # why the request cannot be run
    acted: bool  # the visitor did something, or came by a link: from here on runs are live
    again: bool  # run the same once more


def lead() -> None:
    """One sentence that says what is on screen."""
    st.markdown(
        "##### :primary[spec]viz&emsp;A **small model drafts** a few tokens. The **big model checks them all in one "
        "pass**, keeps the right start and fixes the first mistake."
    )


def controls() -> FormInput:
    """Draw the controls and read them."""
    _take_link_once()
    with st.container(key="controls"):
        prompt, target, draft, sliders = st.columns([3, 1.5, 1.5, 2.4], gap="medium")
        with prompt:
            _prompt_controls()
        with target:
            _model_menu("Target", "target", [], TARGET_HELP)
            pressed = st.button("Run again", key="again", shortcut="Ctrl+Enter", width="stretch")
        with draft:
            _model_menu("Draft", "draft", [PROMPT_LOOKUP], DRAFT_HELP)
        with sliders:
            _slider_controls()
        asked = _read(pressed)
        with draft:  # after reading: this very change can be undone
            nothing = not st.session_state.past
            st.button("Undo", key="undo", icon=":material/undo:", on_click=_undo, disabled=nothing, width="stretch")
    return asked


def _model_menu(label: str, key: str, more: list[str], explanation: str) -> None:
    """The models to choose from; where the operator allows any, a Hub id or a folder can be typed in."""
    chosen = st.session_state[key]
    names = list(dict.fromkeys([*known_names(), *more, chosen]))
    options = kept_choice(key, names) | {"format_func": model_label, "help": explanation}
    st.selectbox(label, names, accept_new_options=any_model_allowed(), **options)


def ask_draft_length(length: int) -> None:
    """Take the draft length from the stage, whose slider is the page's one control of it."""
    st.session_state.update(gamma=length, let_go=True)


def _slider_controls() -> None:
    st.slider("Temperature", 0.0, MAX_TEMPERATURE, step=0.1, help=TEMPERATURE_HELP, **kept("temperature"))
    pairs, more = st.columns(2, gap="medium")
    with pairs.popover("Pairs", icon=":material/join:", width="stretch"):
        pair_menu()
    with more.popover("More", icon=":material/tune:", width="stretch"):
        _more_controls()


def _prompt_controls() -> None:
    menu = [OWN_TEXT, *(preset.name for workload in WORKLOADS for preset in workload.prompts)]
    chosen = kept_choice("preset", menu)
    st.selectbox("Prompt", menu, format_func=preset_label, on_change=_fill_in_preset, **chosen)
    st.text_area(
        "Prompt text",
        height=68,
        label_visibility="collapsed",
        placeholder="Write a few words for the models to continue.",
        on_change=_note_own_text,
        **kept("prompt"),
    )


def _more_controls() -> None:
    # A popover's widgets exist in the browser only while it is open, and a value set through the session's state would
    # not reach one that is opened later. So each is given its value, under a key that is new at every filling in.
    state, filled, labels = st.session_state, st.session_state.filled, PRECISION_LABELS
    settings = filled.settings

    def key(name: str) -> str:
        return f"{name}-{state.filling}"

    state.top_k = st.number_input(
        "Top-k (0 keeps every token)", 0, MAX_TOP_K, settings.top_k or 0, key=key("top_k"), help=TOP_K_HELP
    )
    state.top_p = st.slider(
        "Top-p (1 keeps every token)", 0.01, 1.0, settings.top_p or 1.0, 0.01, key=key("top_p"), help=TOP_P_HELP
    )
    state.schedule = st.radio(
        "Draft length policy",
        list(SCHEDULE_LABELS),
        list(SCHEDULE_LABELS).index(settings.draft_schedule),
        key=key("schedule"),
        format_func=SCHEDULE_LABELS.__getitem__,
        help=SCHEDULE_HELP,
    )
    state.tokens = st.slider("New tokens", 1, MAX_NEW_TOKENS, settings.max_new_tokens, key=key("tokens"))
    state.seed = st.number_input("Seed", 0, MAX_SEED, settings.seed, key=key("seed"), help=SEED_HELP)
    state.precision = st.radio(
        "Number format",
        list(labels),
        list(labels).index(filled.precision),
        key=key("precision"),
        format_func=labels.__getitem__,
        help=PRECISION_HELP,
    )


TARGET_HELP = "The model whose text is wanted. It judges every drafted token and has the last word."
DRAFT_HELP = "The cheap proposer. Prompt lookup needs no model: it copies what followed the same words earlier."
LENGTH_HELP = "γ: how many tokens the draft proposes before the target checks them."
SCHEDULE_HELP = (
    "Fixed drafts γ tokens every round. The heuristic, transformers’ own, starts at γ and drafts two more after a "
    "round that kept all, one fewer after any other. The third drafts up to γ, and stops after a token the draft is "
    "unsure of."
)
SCHEDULE_LABELS: dict[DraftSchedule, str] = {
    "fixed": "Fixed",
    "heuristic": "Heuristic: +2 or −1",
    "confidence": "Stop when unsure",
}
TOP_K_HELP = "Draw only from the k likeliest tokens."
SEED_HELP = "The same seed and settings give the same run."
TOP_P_HELP = "Draw from the likeliest tokens that have this much probability together."
TEMPERATURE_HELP = "0 always takes the likeliest token. Above 0, tokens are drawn at random."
PRECISION_HELP = (
    "float32 is exact. bfloat16 can be quicker, but then one pass over many tokens rounds differently from a pass "
    "over one, and near-ties may fall the other way."
)
PRECISION_LABELS = {"exact": "Exact: float32", "fast": "Fast: whichever is quicker on this machine"}


def preset_label(name: str) -> str:
    """What a prompt menu says of it: its kind and its first words."""
    preset, workload = find_preset(name), workload_of(name)
    if preset is None or workload is None:
        return "Your own text"
    first = " ".join(preset.text.split())
    return f"{workload.title} · {first[:70]}{'…' if len(first) > 70 else ''}"


# ---- state: the widgets' keys, a past to go back to, and whether the visitor has acted


def _take_link_once() -> None:
    state = st.session_state
    if "past" in state:
        if "prompt" not in state:  # back from another page: Streamlit forgot the widgets meanwhile
            _fill_in(*state.current)
        return
    given = address()
    linked = request_from_link(given, models_in(given))
    state.past, state.notes, state.step = [], linked.problems, linked.step
    state.acted = bool(given.keys() & link_of(linked.request, preset=linked.preset).keys()) or "prompt" in given
    state.current = (linked.request, linked.preset)
    _fill_in(*state.current)


def _fill_in(request: RunRequest, preset: str | None) -> None:
    settings = request.settings
    values: dict[str, Any] = {
        "preset": preset or OWN_TEXT,
        "prompt": request.prompt,
        "target": request.target,
        "draft": request.draft,
        "gamma": settings.draft_length,
        "temperature": settings.temperature,
        "filled": request,  # what the popover's widgets start from
        "filling": st.session_state.get("filling", 0) + 1,
    }
    set_kept(**values)


def fill_in_trace(trace: Trace) -> RunRequest | None:
    """Set the controls to what a trace from a file ran with; None, and nothing is set, where they cannot say it."""
    if trace.drafter is None or trace.drafter.kind == "person":
        return None
    exact = trace.target.dtype == "float32" and trace.drafter.dtype in (None, "float32")
    draft = trace.drafter.name if trace.drafter.kind == "model" else PROMPT_LOOKUP
    request = RunRequest(trace.prompt.text, trace.target.name, draft, "exact" if exact else "fast", trace.settings)
    linked = request_from_link(link_of(request), known_names())
    if linked.problems or linked.request != request:
        return None
    named = (preset.name for workload in WORKLOADS for preset in workload.prompts if preset.text == request.prompt)
    st.session_state.current = (request, next(named, None))
    _fill_in(*st.session_state.current)
    return request


def _fill_in_preset() -> None:
    if preset := find_preset(st.session_state.preset):
        set_kept(prompt=preset.text)


def _note_own_text() -> None:
    preset = find_preset(st.session_state.preset)
    if preset is None or preset.text != st.session_state.prompt:
        set_kept(preset=OWN_TEXT)


def _undo() -> None:
    if st.session_state.past:
        st.session_state.current = st.session_state.past.pop()
        _fill_in(*st.session_state.current)


def _read(again: bool) -> FormInput:
    state = st.session_state
    problem = prompt_problem(state.prompt)
    preset = None if state.preset == OWN_TEXT else state.preset
    request = RunRequest(
        prompt=state.prompt,
        target=state.target,
        draft=state.draft,
        precision=state.precision,
        settings=DecodeSettings(
            max_new_tokens=state.tokens,
            draft_length=state.gamma,
            temperature=round(state.temperature, 4),
            top_k=state.top_k or None,
            top_p=None if state.top_p == 1 else round(state.top_p, 4),
            seed=state.seed,
            draft_schedule=state.schedule,
        ),
    )
    changed = request != state.current[0]
    if changed and not problem:
        state.past = [*state.past[-UNDO_STEPS:], state.current]
        state.current = (request, preset)
        state.notes = []
    state.acted = state.acted or changed or again
    return FormInput(request, preset, problem, state.acted, again)
