"""The controls of a race: widgets in, what to race on out. Nothing starts before the button is pressed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from specviz.core.prompts import prompt_problem
from specviz.core.request import PROMPT_LOOKUP, RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.data.permalink import MAX_NEW_TOKENS, MAX_SEED, MAX_TEMPERATURE, MAX_TOP_K, link_of, request_from_link
from specviz.data.workloads import WORKLOADS, find_preset
from specviz.measure.race import MAX_PROMPTS, MAX_REPEATS, RacePrompt
from specviz.models.pairs import known_names
from specviz.service.child import any_model_allowed
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

DEFAULT_PRESETS = ("story-1", "code-2", "structured-1", "random-1")
DEFAULT_REPEATS = 5
SHOWN_CHARACTERS = 18  # of a preset in the menu
NO_PROMPT = "No prompt is chosen: pick at least one, or write one."


@dataclass(frozen=True, slots=True)
class Entry:
    """What a visitor wants raced; the request's own prompt means nothing."""

    request: RunRequest = field(default_factory=lambda: RunRequest("", settings=DecodeSettings(stop_at_eos=False)))
    presets: tuple[str, ...] = DEFAULT_PRESETS
    own: str = ""  # one prompt a line
    repeats: int = DEFAULT_REPEATS

    @property
    def prompts(self) -> list[RacePrompt]:
        """Presets first, then the visitor's own lines; blank lines are none."""
        chosen = [RacePrompt(name, preset.text) for name in self.presets if (preset := find_preset(name))]
        lines = [line for line in self.own.splitlines() if line.strip()]
        return chosen + [RacePrompt(f"own-{number}", line) for number, line in enumerate(lines, start=1)]

    @property
    def problem(self) -> str | None:
        """One sentence that says why this cannot be raced; None when it can."""
        too_long = prompt_problem(self.own) if self.own.strip() else None
        if too_long:
            return too_long
        prompts = self.prompts
        if not prompts:
            return NO_PROMPT
        if len(prompts) > MAX_PROMPTS:
            return f"A race takes at most {MAX_PROMPTS} prompts, not {len(prompts)}."
        found = ((prompt.name, prompt_problem(prompt.text)) for prompt in prompts)
        return next((f"{name}: {problem}" for name, problem in found if problem), None)


def link_of_entry(entry: Entry) -> dict[str, str | list[str]]:
    """The address's parameters, every setting among them: a run's, but with several presets, and the race's own."""
    link = link_of(entry.request)
    del link["prompt"]
    own = {"prompt": entry.own} if entry.own.strip() else {}
    stops = {"repeats": str(entry.repeats), "same_length": "0" if entry.request.settings.stop_at_eos else "1"}
    return {"preset": list(entry.presets), **own, **link, **stops}


def entry_from_link(params: Mapping[str, Sequence[str]]) -> tuple[Entry, list[str]]:
    """What an address asks for, and a line for each part of it that fell back to the default."""
    rest = {key: values for key, values in params.items() if key not in ("preset", "prompt")}
    asked = [*params.get("target", []), *params.get("draft", [])] if any_model_allowed() else []
    linked = request_from_link(rest, [*known_names(), *asked])
    problems = list(linked.problems)
    own = (params.get("prompt") or [""])[-1]
    given = list(dict.fromkeys(params.get("preset", [])))
    presets = tuple(name for name in given if find_preset(name))
    if len(presets) < len(given):
        problems.append("The link names a preset that is not known here: leaving it out.")
    if not presets and not own.strip():
        presets = DEFAULT_PRESETS
    repeats = _choice(params, "repeats", [str(n) for n in range(1, MAX_REPEATS + 1)], DEFAULT_REPEATS, problems)
    same_length = _choice(params, "same_length", ["0", "1"], 1, problems)
    settings = replace(linked.request.settings, stop_at_eos=not same_length)
    request = replace(linked.request, prompt="", settings=settings)
    return Entry(request, presets, own, repeats), problems


def _choice(
    params: Mapping[str, Sequence[str]], name: str, allowed: Sequence[str], default: int, problems: list[str]
) -> int:
    given = params.get(name) or [str(default)]
    if given[-1] in allowed:
        return int(given[-1])
    problems.append(f"The link's {name} is not from {allowed[0]} to {allowed[-1]}: using {default}.")
    return default


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
