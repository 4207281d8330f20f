"""The controls of a run's models, prompt and settings, written once for every page that has them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from specviz.core.request import RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings, DraftSampling, DraftSchedule, VerificationMode
from specviz.core.tree_shape import parse_tree, with_depth
from specviz.data.permalink import MAX_NEW_TOKENS, MAX_SEED, MAX_TEMPERATURE, MAX_TOP_K, NO_TREE
from specviz.data.workloads import WORKLOADS, find_preset, workload_of
from specviz.models.allowed import may_be_typed, offered_names, typed_names
from specviz.models.draft_menu import draft_groups, offered_drafts
from specviz.ui.shared.pair_menu import model_label
from specviz.ui.shared.persistent_widgets import fresh_key, set_widgets, with_index, with_value

OWN_TEXT = "own"  # the prompt menu's entry for text that is not a preset
SHOWN_CHARACTERS = 70  # of a preset in the menu

TARGET_HELP = "The model whose text is wanted. It checks all drafted tokens in one pass, and has the last word."
DRAFT_HELP = "The cheap proposer."
TYPED_HELP = (
    "A Hub id is owner/name, for example HuggingFaceTB/SmolLM2-135M: this server then downloads the model. A folder is "
    "on this server and has config.json, the tokenizer and weights in safetensors."
)
LENGTH_HELP = "γ: how many tokens the draft proposes before the target checks them."
SCHEDULE_HELP = (
    "Fixed: γ tokens in every round. Heuristic, an option of transformers: it starts at γ and drafts two more after a "
    "round that accepted all, one fewer after any other. Stop when unsure: up to γ tokens, and it stops after a token "
    "to which the draft gives less than 0.4. The default of transformers is nearest to that: up to 20 tokens, and the "
    "same limit."
)
SCHEDULE_LABELS: dict[DraftSchedule, str] = {
    "fixed": "Fixed",
    "heuristic": "Heuristic: +2 or −1",
    "confidence": "Stop when unsure",
}
DRAFT_SAMPLING_HELP = (
    "Above temperature 0. A random token: drawn from the draft’s probabilities q. Its most probable token: as vLLM, "
    "SGLang and llama.cpp do; its q is then 1. The text has the target’s distribution either way."
)
DRAFT_SAMPLING_LABELS: dict[DraftSampling, str] = {"sample": "A random token", "argmax": "Its most probable token"}
VERIFICATION_HELP = (
    "Above temperature 0. Token by token: the first rejected token ends the round. The block at once: the draft is "
    "judged as a whole (block verification, arXiv 2403.10444), and on average no fewer tokens are accepted. The text "
    "has the target’s distribution either way."
)
VERIFICATION_LABELS: dict[VerificationMode, str] = {"token": "Token by token", "block": "The block at once"}
TREES = (NO_TREE, "2,2", "4,2,1", "dynamic:8", "dynamic:16", "dynamic:32")
TREE_HELP = (
    "Several guesses for one place, all checked in one pass of the target. 4,2,1: four guesses for the first place, "
    "two after each of them, one after each of those. Dynamic: the most probable paths, as in EAGLE-2. The draft "
    "length is the depth of the tree. A tree has a fixed draft length, and is verified token by token."
)
TOKENS_HELP = "How many tokens each decoder writes at most."
TOP_K_HELP = "Draw only from the k most likely tokens."
TOP_P_HELP = "Draw only from the most likely tokens that have this much probability together."
SEED_HELP = "The same seed and settings give the same run."
TEMPERATURE_HELP = "0 always takes the most likely token (greedy). Above 0, tokens are drawn at random."
PRECISION_HELP = (
    "float32 is exact. bfloat16 can be faster, but then one pass over many tokens rounds differently from a pass "
    "over one, and nearly equal tokens may be chosen differently."
)
PRECISION_LABELS = {"exact": "Exact: float32", "fast": "Fast: whichever is faster on this machine"}


def preset_label(name: str) -> str:
    """What a prompt menu says of a preset: its kind and its first words."""
    preset, workload = find_preset(name), workload_of(name)
    if preset is None or workload is None:
        return "Your own text"
    return f"{workload.title} · {first_words(preset.text, SHOWN_CHARACTERS)}"


def draft_help() -> str:
    """What the groups of the Draft menu are, as Markdown."""
    groups = [f"**{group.title}.** {group.about} {group.used}" for group in draft_groups()]
    return "\n\n".join([DRAFT_HELP, *groups])


def tree_label(tree: str) -> str:
    """A tree in a menu: its shape, and how many guesses it has."""
    if tree == NO_TREE:
        return "None: one guess a place"
    shape = parse_tree(tree)
    return f"{tree} · {shape.nodes} guesses" if shape.children else f"dynamic · the best {shape.nodes} guesses"


def first_words(text: str, characters: int) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text.split())
    return f"{line[:characters]}{'…' if len(line) > characters else ''}"


@dataclass(frozen=True, slots=True)
class RunControls:
    """Draws the widgets of one page, each into the place it is called in; their values must be set before.

    In a popover a widget has a key of its own, see `fresh_key`; the value is under the usual key all the same.
    """

    prefix: str = ""  # of the widgets' keys
    popover: bool = False

    def prompt(self) -> None:
        """The presets, and the text itself."""
        menu = [OWN_TEXT, *(preset.name for workload in WORKLOADS for preset in workload.prompts)]
        chosen = with_index(self._key("preset"), menu)
        st.selectbox("Prompt", menu, format_func=preset_label, on_change=self._fill_in_preset, **chosen)
        st.text_area(
            "Prompt text",
            height=68,
            label_visibility="collapsed",
            placeholder="Write a few words for the models to continue.",
            on_change=self._note_own_text,
            **with_value(self._key("prompt")),
        )

    def target(self) -> None:
        """The model whose text is wanted."""
        self._model("Target", "target", offered_names(), TARGET_HELP)

    def draft(self) -> None:
        """What drafts: a small model, a head on the target, or no model."""
        self._model("Draft", "draft", offered_drafts(), draft_help())

    def draft_length(self) -> None:
        """γ. A tree of a fixed shape follows it."""
        chosen = with_value(self._key("gamma")) | {"help": LENGTH_HELP, "on_change": self._fit_tree}
        st.slider("Draft length", 1, MAX_DRAFT_LENGTH, **chosen)

    def set_draft_length(self, length: int) -> None:
        """Take γ from the stage, which has the only slider for it on its page."""
        set_widgets({self._key("gamma"): length})
        self._fit_tree()

    def temperature(self, least: float = 0.0, explanation: str = TEMPERATURE_HELP) -> None:
        """From `least` on."""
        chosen = with_value(self._key("temperature"))
        st.slider("Temperature", least, MAX_TEMPERATURE, step=0.1, help=explanation, **chosen)

    def tokens(self, step: int = 1) -> None:
        """How many tokens are written; the least is one step."""
        options = self._value("tokens") | {"step": step, "help": TOKENS_HELP}
        self._store("tokens", st.slider("New tokens", step, MAX_NEW_TOKENS, **options))

    def top_k(self) -> None:
        """0 keeps every token."""
        options = self._value("top_k") | {"help": TOP_K_HELP}
        self._store("top_k", st.number_input("Top-k (0 keeps every token)", 0, MAX_TOP_K, **options))

    def top_p(self) -> None:
        """1 keeps every token."""
        options = self._value("top_p") | {"step": 0.01, "help": TOP_P_HELP}
        self._store("top_p", st.slider("Top-p (1 keeps every token)", 0.01, 1.0, **options))

    def seed(self) -> None:
        """Of the random draws."""
        self._store("seed", st.number_input("Seed", 0, MAX_SEED, **self._value("seed") | {"help": SEED_HELP}))

    def schedule(self) -> None:
        """How the draft length changes from round to round."""
        self._radio("Draft length schedule", "schedule", SCHEDULE_LABELS, SCHEDULE_HELP, disabled=self._has_tree)

    def draft_sampling(self) -> None:
        """Which token of its distribution the draft takes."""
        self._radio("The draft takes", "draft_sampling", DRAFT_SAMPLING_LABELS, DRAFT_SAMPLING_HELP)

    def verification(self) -> None:
        """How a draft is judged."""
        self._radio("Verification", "verification", VERIFICATION_LABELS, VERIFICATION_HELP, disabled=self._has_tree)

    def tree(self) -> None:
        """Whether a draft has several guesses a place. What does not go with a tree follows it."""
        key = self._widget_key("tree")
        options = list(dict.fromkeys([*TREES, self._value("tree")["value"]]))
        chosen = with_index(self._key("tree"), options) | {"key": key, "help": TREE_HELP, "format_func": tree_label}
        self._store("tree", st.selectbox("Tree", options, on_change=self._fit_to_tree, args=(key,), **chosen))

    def precision(self) -> None:
        """The models' number formats."""
        self._radio("Number format", "precision", PRECISION_LABELS, PRECISION_HELP)

    def values_of(self, request: RunRequest) -> dict[str, Any]:
        """What the widgets must hold to ask for this request; the prompt menu is the page's business."""
        settings = request.settings
        values = {
            "target": request.target,
            "draft": request.draft,
            "precision": request.precision,
            "gamma": settings.draft_length,
            "schedule": settings.draft_schedule,
            "temperature": settings.temperature,
            "top_k": settings.top_k or 0,
            "top_p": settings.top_p or 1.0,
            "tokens": settings.max_new_tokens,
            "seed": settings.seed,
            "draft_sampling": settings.draft_sampling,
            "verification": settings.verification,
            "tree": settings.tree or NO_TREE,
        }
        return {self._key(name): value for name, value in values.items()}

    def request(self, prompt: str, stop_at_eos: bool = True) -> RunRequest:
        """What the widgets ask for. A setting that the page has no widget for has its default."""
        default = self.values_of(RunRequest(prompt))

        def value(name: str) -> Any:
            key = self._key(name)
            return st.session_state.get(key, default[key])

        tree = None if value("tree") == NO_TREE else with_depth(value("tree"), value("gamma"))
        settings = DecodeSettings(
            max_new_tokens=value("tokens"),
            draft_length=value("gamma"),
            temperature=round(value("temperature"), 4),
            top_k=value("top_k") or None,
            top_p=None if value("top_p") == 1 else round(value("top_p"), 4),
            seed=value("seed"),
            stop_at_eos=stop_at_eos,
            draft_schedule="fixed" if tree else value("schedule"),
            draft_sampling=value("draft_sampling"),
            verification="token" if tree else value("verification"),
            tree=tree,
        )
        return RunRequest(prompt, value("target"), value("draft"), value("precision"), settings)

    def _model(self, label: str, name: str, names: list[str], explanation: str) -> None:
        """The models to choose from; where the operator allows it, a Hub id or a folder can be typed in."""
        key = self._key(name)
        options = list(dict.fromkeys([*names, st.session_state[key]]))
        more = with_index(key, options) | {"format_func": model_label, "help": explanation}
        st.selectbox(label, options, accept_new_options=may_be_typed(), **more)
        if may_be_typed():
            st.caption(f"Or type {typed_names()}.", help=TYPED_HELP)

    def _radio(
        self, label: str, name: str, labels: Mapping[Any, str], explanation: str, *, disabled: bool = False
    ) -> None:
        options = with_index(self._key(name), labels) | {"key": self._widget_key(name), "help": explanation}
        chosen = st.radio(label, list(labels), format_func=labels.__getitem__, disabled=disabled, **options)
        self._store(name, chosen)

    @property
    def _has_tree(self) -> bool:
        return bool(st.session_state.get(self._key("tree"), NO_TREE) != NO_TREE)

    def _fit_to_tree(self, key: str) -> None:
        """A tree was chosen: its depth is the draft length, which is fixed, and it is verified token by token."""
        state, tree = st.session_state, st.session_state[key]
        if tree == NO_TREE:
            return
        depth = parse_tree(tree).depth or state.get(self._key("gamma"))
        follows = {"gamma": depth, "schedule": "fixed", "verification": "token"}
        wanted = {self._key(name): value for name, value in follows.items()}
        changed = {name: value for name, value in wanted.items() if state.get(name, value) != value}
        if changed:
            set_widgets({self._key("tree"): tree, **changed})

    def _fit_tree(self) -> None:
        """The draft length was chosen: a tree of a fixed shape gets as many depths."""
        state, key = st.session_state, self._key("tree")
        tree = state.get(key, NO_TREE)
        fitted = tree if tree == NO_TREE else with_depth(tree, state[self._key("gamma")])
        if fitted != tree:
            set_widgets({key: fitted})

    def _key(self, name: str) -> str:
        return f"{self.prefix}{name}"

    def _widget_key(self, name: str) -> str:
        return fresh_key(self._key(name)) if self.popover else self._key(name)

    def _value(self, name: str) -> dict[str, Any]:
        return with_value(self._key(name)) | {"key": self._widget_key(name)}

    def _store(self, name: str, value: object) -> None:
        if self.popover:
            st.session_state[self._key(name)] = value

    def _fill_in_preset(self) -> None:
        if preset := find_preset(st.session_state[self._key("preset")]):
            set_widgets({self._key("prompt"): preset.text})

    def _note_own_text(self) -> None:
        preset = find_preset(st.session_state[self._key("preset")])
        if preset is None or preset.text != st.session_state[self._key("prompt")]:
            set_widgets({self._key("preset"): OWN_TEXT})
