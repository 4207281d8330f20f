"""What a page asks for is one frozen model: its link, what its widgets hold, and what is done with it.

A field of the model says with a `Widget` how it is drawn; the settings of a run are drawn by `RunControls`, once for
every page, and pairs of models that are worth trying by `pair_menu`.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Generic, TypeVar

import streamlit as st

from specviz.core.languages import ENGLISH, current_language
from specviz.core.names import show_size
from specviz.core.request import SHOWN, is_locked, prompt_problem
from specviz.core.settings import NO_TREE, Setting, parse_tree, resize_tree
from specviz.data.links.page_link import PageLink, Params
from specviz.data.prompts import workloads
from specviz.data.texts import join_choices, page_texts
from specviz.models import draft_menu as models
from specviz.models.catalogue import PAIRS, Pair, catalogue_texts, weight_bytes
from specviz.ui.session import Arrival, session
from specviz.ui.shared.address import address, models_in, write_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.persistent_widgets import Widget, draw, fresh_key, restore_widgets, set_widgets

SAYS = page_texts("models")
OWN_FIELD = "own_text"


def _about(group: models.DraftGroup) -> str:
    return SAYS["group"].format(title=group.title, about=group.about)


def tree_label(tree: str) -> str:
    if tree == NO_TREE:
        return SAYS["no_tree"]
    shape = parse_tree(tree)
    return SAYS["tree_fixed" if shape.children else "tree_dynamic"].format(tree=tree, guesses=shape.nodes)


@dataclass(frozen=True, slots=True)
class RunControls:
    """Draws the widgets of one page, each into the place it is called in; their values must be set before.

    In a popover a widget has a key of its own, see `fresh_key`; the value is under the usual key all the same.
    """

    prefix: str = ""  # of the widgets' keys
    popover: bool = False

    def prompt(self) -> None:
        self._prompt_menu()
        self._prompt_text(label_visibility="collapsed")

    def _prompt_menu(self) -> None:
        key = self._key("preset")
        menu = [workloads.OWN_TEXT, *offered_presets(st.session_state[self._key("target")], [st.session_state[key]])]
        shown, used = st.session_state[key], fresh_key(key)

        def fill_in() -> None:
            choice = st.session_state[used]
            if choice == shown:  # no choice: a browser that has no answer to an own text yet says it once more
                return
            st.session_state[key] = choice
            if preset := workloads.find_preset(choice):
                set_widgets({self._key("prompt"): preset.text})

        draw("selectbox", SAYS["prompt"], key, menu, fresh=True, format_func=workloads.preset_label, on_change=fill_in)

    def _prompt_text(self, **more: Any) -> None:
        key = self._key("prompt")
        more |= {"placeholder": SAYS["prompt_empty"], "height": 140 if self.popover else 68}
        more |= {"on_change": self._note_own_text, "args": (self._used(key),)}
        draw("text_area", SAYS["prompt_text"], key, fresh=self.popover, **more)
        if current_language() != ENGLISH:
            st.caption(SAYS["english_models"])

    def prompt_line(self, run: Callable[[], None]) -> None:
        """The menu, and a text field that closes over what it runs: `run` is called where the visitor asks for that."""
        left, right = st.columns([2.8, 1], gap="small", vertical_alignment="bottom")
        with left:
            self._prompt_menu()
        key = self._key(f"{OWN_FIELD}-{st.session_state.get('times_own_closed', 0)}")
        look: dict[str, Any] = {"icon": ":material/edit:", "width": "stretch", "key": key}
        with right.popover(SAYS["own_text"], on_change="rerun", **look):
            inside = replace(self, popover=True)
            inside._prompt_text()
            if self._chats():
                inside.draw("prompt_format")
            problem = prompt_problem(st.session_state[self._key("prompt")])
            if problem:  # the page's own line for it is behind this field
                st.error(plain(problem))

            def run_it() -> None:
                if prompt_problem(st.session_state[self._key("prompt")]) is None:
                    _close_own_field()
                    run()

            st.button(SAYS["run_text"], key=self._key("run_own"), type="primary", on_click=run_it, width="stretch")

    def target(self, *, short: bool = False) -> None:
        self._model(SAYS["target"], "target", models.offered_names(), SAYS["target_help"], short)

    def draft(self, *, short: bool = False) -> None:
        explanation = "\n\n".join([SAYS["draft_help"], *map(_about, models.draft_groups())])
        offered = models.offered_drafts(st.session_state.get(self._key("target"), ""))
        self._model(SAYS["draft_label"], "draft", offered, explanation, short)

    def draw(self, *names: str, **changes: Any) -> None:
        for row in (replace(SHOWN[name].here, **changes) for name in names):
            key = self._key(row.link)
            kind, shown, look = self._widget(row, key)
            draw(kind, row.label, key, *shown, fresh=self.popover, help=row.help, **look)

    def _widget(self, row: Setting, key: str) -> tuple[str, Sequence[Any], dict[str, Any]]:
        """Its kind, its options or limits, and its look."""
        if row.choices:
            locked = is_locked(row, {"tree": st.session_state.get(self._key("tree"), NO_TREE)})
            return "radio", [row.choices], {"format_func": row.labels.__getitem__, "disabled": locked}
        if row.kind is str:  # texts to choose from; where it is the tree, what does not go with one follows it
            followed = {"format_func": tree_label, "on_change": self._fit_to_tree, "args": (self._used(key),)}
            options = list(dict.fromkeys([*row.offered, st.session_state[key]]))
            return "selectbox", [options], followed if row.name == "tree" else {}
        if row.kind is bool:
            return "toggle", [], {}
        if row.typed:
            return "number_input", row.limits, {}
        least, most = row.limits
        limits = [row.kind(limit) for limit in (row.step if row.above else least, most)]
        followed = {"on_change": self._fit_tree} if row.name == "draft_length" else {}
        return "slider", limits, {"step": row.step, "format": "localized", **followed}

    def more(
        self, groups: Sequence[Sequence[str]], elsewhere: Collection[str], columns: Sequence[Any] | None = None
    ) -> None:
        """Groups of settings, each in its column. What the page has nowhere yet comes last."""
        elsewhere = {*chain(*groups), *elsewhere} | (set() if self._chats() else {"prompt_format"})
        rest = [name for name, row in SHOWN.items() if row.label and name not in elsewhere]
        below = [nullcontext()] * len(groups)
        for group, column in zip((*groups[:-1], [*groups[-1], *rest]), columns or below, strict=True):
            with column:
                self.draw(*group)

    def _chats(self) -> bool:
        """Whether it is the visitor's choice how the target reads a prompt."""
        key = self._key("prompt_format")
        return models.reads_chats(st.session_state[self._key("target")]) or st.session_state.get(key) == "chat"

    def set_draft_length(self, length: int) -> None:
        """Take γ from the stage, which has the only slider for it on its page."""
        set_widgets({self._key("gamma"): length})
        self._fit_tree()

    def _model(self, label: str, name: str, names: list[str], explanation: str, short: bool) -> None:
        """The models to choose from; where the operator allows it, a Hub id or a folder can be typed in.

        A `short` menu has the Hub's once "More models…" was chosen: then nothing else changes.
        """
        first = [each for each in names if each not in models.HUB_NAMES] if short else []
        key, typed = self._key(name), models.allows_typing() and not first
        chosen, short = st.session_state[key], f"{key}_all" not in st.session_state and 0 < len(first) < len(names)
        options = list(dict.fromkeys([*(first if short else names), chosen]))
        say = models.draft_label if name == "draft" else models.model_label

        def choose() -> None:
            if st.session_state[key] == models.MORE_MODELS:
                st.session_state[f"{key}_all"] = True
                set_widgets({key: chosen})
                st.toast(SAYS["more_models"])
            elif name == "target":
                self._fit_to_target()

        if short:
            options.append(models.MORE_MODELS)
        look: dict[str, Any] = {"format_func": say, "help": explanation, "accept_new_options": typed}
        draw("selectbox", label, key, options, on_change=choose, **look)
        if typed:
            st.caption(SAYS["typed"].format(names=join_choices(models.typed_names())), help=SAYS["typed_help"])

    def _fit_to_target(self) -> None:
        """A target was chosen: one with a chat template reads prompts in it, and the draft is one that goes with it."""
        state, target = st.session_state, st.session_state[self._key("target")]
        wanted = "chat" if models.reads_chats(target) else "raw"
        if state.get(key := self._key("prompt_format"), "raw") != wanted:
            set_widgets({key: wanted})
        draft = state.get(key := self._key("draft"))
        if draft and (other := models.draft_for(target, draft)) != draft:
            set_widgets({key: other})
            st.toast(plain(SAYS["draft_changed"].format(draft=draft, target=target, label=models.draft_label(other))))

    def _fit_to_tree(self, key: str) -> None:
        """A tree was chosen: its depth is the draft length, and what it locks gets its default."""
        state, tree = st.session_state, st.session_state[key]
        if tree == NO_TREE:
            return
        depth = parse_tree(tree).depth or state.get(self._key("gamma"))
        locked = {row.link: row.shown(row.default) for row in SHOWN.values() if row.locked_by == "tree"}
        wanted = {self._key(name): value for name, value in {"gamma": depth, **locked}.items()}
        changed = {name: value for name, value in wanted.items() if state.get(name, value) != value}
        if changed:
            set_widgets({self._key("tree"): tree, **changed})

    def _fit_tree(self) -> None:
        """The draft length was chosen: a tree of a fixed shape gets as many depths."""
        state, key = st.session_state, self._key("tree")
        tree = state.get(key, NO_TREE)
        fitted = tree if tree == NO_TREE else resize_tree(tree, state[self._key("gamma")])
        if fitted != tree:
            set_widgets({key: fitted})

    def _key(self, name: str) -> str:
        return f"{self.prefix}{name}"

    def _used(self, key: str) -> str:
        """The widget's own key."""
        return fresh_key(key) if self.popover else key

    def _note_own_text(self, key: str) -> None:
        preset = workloads.find_preset(st.session_state.get(self._key("preset"), workloads.OWN_TEXT))
        text = st.session_state[key]
        if preset is None or preset.text != text:
            set_widgets({self._key("prompt"): text} | ({self._key("preset"): workloads.OWN_TEXT} if preset else {}))
            if self.popover and prompt_problem(text) is None:
                _close_own_field()


def offered_workloads(target: str, kept: Collection[str] = ()) -> tuple[workloads.Workload, ...]:
    """The kinds of prompts for this target, and those of the presets that are chosen already."""
    if models.reads_chats(target) or any(workloads.workload_of(preset) in workloads.CHAT_WORKLOADS for preset in kept):
        return (*workloads.CHAT_WORKLOADS, *workloads.WORKLOADS)
    return workloads.WORKLOADS


def offered_presets(target: str, kept: Collection[str] = ()) -> list[str]:
    return [preset.name for workload in offered_workloads(target, kept) for preset in workload.prompts]


def _close_own_field() -> None:
    """A new field takes its place, and begins closed.

    To set its state would close only a field that the server has shown as open: one that was used before the answer to
    its opening came stays open.
    """
    st.session_state.times_own_closed = st.session_state.get("times_own_closed", 0) + 1


def pair_menu(measured_here: str | None) -> None:
    """Choose a pair; the target and draft menus follow. `measured_here`: what this session measured of the pair now."""

    def fill_in() -> None:
        if st.session_state.pair is not None:
            pair = PAIRS[st.session_state.pair]
            set_widgets({"target": pair.target, "draft": pair.draft})

    offered = [index for index, pair in enumerate(PAIRS) if {pair.target, pair.draft} <= {*models.offered_names()}]
    menu: dict[str, Any] = {"index": None, "key": "pair", "placeholder": SAYS["choose_pair"], "on_change": fill_in}
    st.selectbox(SAYS["pairs"], offered, format_func=lambda index: pair_label(PAIRS[index]), **menu)
    asked = (st.session_state.target, st.session_state.draft)
    for group in models.draft_groups():
        if asked[1] in group.names:
            st.caption(_about(group))
    for pair in catalogue_texts().pairs:
        if (pair.target, pair.draft) == asked:
            st.markdown(SAYS["pair"].format(pair=pair_label(pair)))
            if measured_here:
                st.markdown(SAYS["pair_measured"].format(verdict=measured_here))
            for statement in pair.statements:
                source = SAYS["model_card"] if statement.source.startswith("assets/") else statement.source
                st.caption(SAYS["said_by"].format(says=statement.text, by=source))
            st.caption(SAYS["weights"].format(size=show_size(weight_bytes(pair.parameters, "float32"))))


def pair_label(pair: Pair) -> str:
    draft, target = pair.draft.rpartition("/")[2], pair.target.rpartition("/")[2]
    basis = "" if pair.lesson == "open" else f" ({pair.basis})"
    least = sum(weight_bytes(model.parameters, "bfloat16") for model in pair.models if model.name in models.HUB_NAMES)
    downloads = f" · {SAYS['downloads'].format(size=show_size(least))}" if least else ""
    return f"{draft} → {target} · {page_texts('pair_lessons')[pair.lesson]}{basis}{downloads}"


Model = TypeVar("Model", bound=PageLink)
Reading = Callable[[Params], tuple[Model, list[str]]]


class Form(Generic[Model]):
    """Restores, draws and reads the widgets of a page, whose keys begin with its name."""

    def __init__(self, page: str, start: Model, *, prefix: str | None = None, writes: bool = True) -> None:
        self.page, self.start, self.writes = page, start.fitted(), writes
        self.prefix = f"{page}_" if prefix is None else prefix
        self.controls = RunControls(self.prefix)
        self.names = [name for name in type(start).model_fields if name not in start.UNDRAWN]

    @property
    def asked(self) -> Model:
        """What this visitor asks for."""
        found: Model = session().asked.get(self.page, self.start)
        return found

    @property
    def came(self) -> Arrival:
        return session().arrival(self.page)

    def open(self, reading: Reading[Model] | None = None) -> Model:
        """Take what the link asks for, once, set the widgets where they hold nothing, and read them.

        `reading` makes of the link what is asked for, by default the model itself; see `Arrival.read_once`.
        """

        def read(given: Params) -> tuple[Model, list[str]]:
            return type(self.start).read(given, context=models_in(given))

        if linked := self.came.read_once(address(), reading or read):
            session().asked[self.page] = linked.fitted()
        restore_widgets(self._values(self.asked))
        return self._look()

    def _values(self, asked: Model) -> dict[str, object]:
        """What the widgets hold, by their keys."""
        values = {name: getattr(asked, name) for name in self.names}
        return {self.key(name): [*value] if isinstance(value, tuple) else value for name, value in values.items()}

    def take(self, asked: Model) -> None:
        """Set the widgets to this. It is no choice of the visitor; what a link could not have is no longer said."""
        session().asked[self.page] = asked.fitted()
        self.came.notes = []
        set_widgets(self._values(self.asked))

    def draw(self, name: str, options: Any = None, **more: Any) -> Any:
        """The widget of a field. Of numbers the limits are the link's; a menu has these options."""
        metadata, says = type(self.start).model_fields[name].metadata, page_texts(self.page)
        widget = next(each for each in metadata if isinstance(each, Widget))
        shown, look = self.limits(name) if options is None else [options], {"help": says.get(f"{name}_help"), **more}
        return draw(widget.kind, says[widget.label or name], self.key(name), *shown, fresh=widget.fresh, **look)

    def limits(self, name: str) -> list[Any]:
        about = type(self.start).model_fields[name]
        return [getattr(each, end) for end in ("ge", "le") for each in about.metadata if hasattr(each, end)]

    def read(self) -> Model:
        """What the widgets hold now; the address says it too, once the visitor has chosen something."""
        asked = self._look()
        if self.came.acted and self.writes:
            write_address(asked.parameters())
        return asked

    def _look(self) -> Model:
        """A field keeps its value where Streamlit has forgotten the widget: the visitor is going to another page."""
        state = st.session_state
        values = {name: state[key] for name in self.names if (key := self.key(name)) in state}
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        asked = self.asked.model_copy(update=given).fitted()
        if asked != self.asked:
            session().asked[self.page] = asked
            self.came.change()
        return asked

    def set(self, **values: object) -> None:
        set_widgets({self.key(name): value for name, value in values.items()})

    def key(self, name: str) -> str:
        return f"{self.prefix}{name}"
