"""Every way to draft: one entry each, and what a name of a draft means. The rest of the program asks here.

A new way is an entry in `METHODS` and a module that has it draft (see CONTRIBUTING, "How to add a drafter"). Menus,
links, the command line, sweeps, sentences, figures and the stage's JavaScript take what they need from the entry.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from specviz.core.errors import InputError

Loads = Literal["model", "head", "layers", "nothing"]  # a head and layers are part of the target: loaded with it


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    colour: str
    symbol: str  # of plotly.js


SMALL_MODELS = Group("Small models", "#0072B2", "circle")
HEADS = Group("Heads on the target", "#D55E00", "square")
NO_MODEL = Group("No model", "#00765a", "diamond")


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    kind: str  # in traces
    label: str  # in sentences and menus, without a model's name
    module: str | None = None  # that drafts, see `decoding/drafters/choose.py`; None: it cannot be asked for
    loads: Loads = "nothing"
    names: tuple[str, ...] = ()  # a request's; the first is the one that links have. Empty: those of models or heads
    takes: tuple[int, ...] = ()  # a name ends with a number of layers, as in "early-exit:2"; these are in the menu
    group: Group | None = None  # of the Draft menu; None: it is in none
    about: str = ""  # how it guesses: a part of what the menu says of the group
    used: str = ""  # who uses it in production: another part
    trees: bool = True  # it grows trees where the settings ask for one
    samples: bool = True  # its guesses are drawn from a distribution q; else each is certain
    fills: bool = True  # it makes as many guesses as it is asked for
    by_hand: bool = False  # a person decides on each guess
    at_once: bool = False  # all guesses of a round come from one pass
    sees_state: bool = False  # it reads what the target made of the text
    subject: str = "the draft"  # in sentences about a round
    several: bool = False  # whether the subject's verb has no s
    proposes: str = ""  # instead of "{subject} proposes {tokens}"
    nothing: str = "Nothing is drafted."  # said of a round without a guess
    title: str = ""  # of the draft's column in the lesson's picture; empty: "draft"
    gives: str = "The draft gave it"  # before q, in the inspector
    certain: str = ""  # said of a guess whose q is always 1
    lead: str = "A <b>small model drafts</b> a few tokens."  # of an offline page, as HTML

    @property
    def askable(self) -> bool:
        return self.module is not None

    @property
    def family(self) -> str:
        """What tables of measurements call it."""
        return self.kind if self.loads == "head" else self.label

    @property
    def name(self) -> str:
        """What a request and a link call it, where it is not called as its model or head."""
        return self.names[0] if self.names else ""


READ_ON = "23 November 2026"  # who serves text with what was read in the projects' documents and code on that day
PROMPT_LOOKUP = "lookup"  # in requests and links
EARLY_EXIT = "early-exit:"  # and a number: so many of the target's first layers draft
_FOLDER = "specviz.decoding.drafters"

MODEL = Method(
    kind="model",
    label="small model",
    module=f"{_FOLDER}.model",
    loads="model",
    group=SMALL_MODELS,
    about="A second, smaller language model of the same family writes the guesses, one token after the other.",
    used="Used with vLLM, SGLang, llama.cpp, LM Studio, TensorRT-LLM and transformers.",
)
OTHER = Method(  # another system's; it does not say what drafted
    kind="other", label="another draft", lead="A <b>cheap draft proposes</b> a few tokens."
)
METHODS: list[Method] = [
    MODEL,
    Method(
        kind="eagle",
        label="EAGLE head",
        module=f"{_FOLDER}.head",
        loads="head",
        group=HEADS,
        about="A head is trained for one target and reads its last hidden state: wren-eagle guesses token after token,",
        used="Served today: EAGLE heads with vLLM, SGLang, llama.cpp and TensorRT-LLM; MTP heads, their relatives, "
        "with these and transformers; Medusa heads with vLLM.",
        sees_state=True,
        subject="the head on the target",
        title="head on the target",
        gives="The head, which reads the target’s own state, gave it",
        lead="A <b>head on the big model drafts</b> a few tokens, from the big model’s own state.",
    ),
    Method(
        kind="medusa",
        label="Medusa heads",
        module=f"{_FOLDER}.head",
        loads="head",
        group=HEADS,
        about="wren-medusa up to four tokens at once.",
        at_once=True,
        sees_state=True,
        subject="the heads on the target",
        several=True,
        title="heads on the target",
        gives="The head for this place, which does not see the guesses before it, gave it",
        lead="<b>Heads on the big model draft</b> a few tokens, all at once.",
    ),
    Method(
        kind="prompt-lookup",
        label="prompt lookup",
        module=f"{_FOLDER}.prompt_lookup",
        names=(PROMPT_LOOKUP, "prompt-lookup"),
        group=NO_MODEL,
        about="Prompt lookup copies what followed the same words earlier.",
        used="vLLM, SGLang, llama.cpp and TensorRT-LLM have prompt lookup under the name n-gram, transformers under "
        "its own name;",
        trees=False,
        samples=False,
        fills=False,
        proposes="A match in the text so far proposes {tokens}.",
        nothing="No match in the text so far: nothing is drafted.",
        certain="Prompt lookup copies it from the text so far (q = 1).",
        lead="<b>Prompt lookup drafts</b> a few tokens: it copies them from the text so far.",
    ),
    Method(
        kind="early-exit",
        label="early exit",
        module=f"{_FOLDER}.early_exit",
        loads="layers",
        names=(EARLY_EXIT,),
        takes=(1, 2, 4),
        group=NO_MODEL,
        about="Early exit lets the target’s first layers guess; a target that was not trained for it mostly loses.",
        used="early exit is in transformers, for targets that were trained for it (LayerSkip).",
        subject="the target’s first layers",
        several=True,
        title="first layers",
        gives="The target’s first layers gave it",
        lead="The <b>big model’s first layers draft</b> a few tokens.",
    ),
    Method(
        kind="person",
        label="a person",
        samples=False,
        by_hand=True,
        subject="you",
        several=True,
        proposes="You propose {tokens}.",
        nothing="You skip: nothing is drafted.",
        gives="You named it for certain:",
        certain="You named it for certain (q = 1).",
        lead="A <b>person drafts</b> a few tokens.",
    ),
    OTHER,
]


def method_of(kind: str | None) -> Method:
    """The method of a trace's drafter; that of another program, and none at all, is `OTHER`."""
    return next((method for method in METHODS if method.kind == kind), OTHER)


def kinds_that(loads: Loads) -> list[str]:
    return [method.kind for method in METHODS if method.askable and method.loads == loads]


def named(draft: str) -> Method | None:
    """The method that a draft's name says by itself, in any spelling; None: it is the name of a model or a head."""
    for method in METHODS:
        if method.askable and (draft.startswith(method.names) if method.takes else draft in method.names):
            return method
    return None


def canonical(draft: str) -> str:
    """The name as requests and links have it: "lookup" for "prompt-lookup"; any other name is returned as it is."""
    method = named(draft)
    return method.name if method and not method.takes else draft


def as_typed(draft: str) -> str:
    """The name as the command line and its results have it: the kind, for a method that needs nothing in memory."""
    method = named(draft)
    return method.kind if method and not method.takes else draft


def needs_nothing(draft: str) -> bool:
    method = named(draft)
    return method is not None and method.loads == "nothing"


def spoken(draft: str) -> str:
    """A draft in a sentence: "prompt lookup", also for what a trace or a table calls it; else the name itself."""
    for method in METHODS:
        if method.names and not method.takes and (draft in method.names or draft.startswith(method.label)):
            return method.label
    return draft


def menu_title(draft: str) -> str:
    """A draft that is named by its method, in a menu: "early exit, 2 layers"; else the name itself."""
    if not draft.startswith(EARLY_EXIT):
        return spoken(draft)
    layers = draft.removeprefix(EARLY_EXIT)
    return f"early exit, {layers} {'layer' if layers == '1' else 'layers'}"


def own_names() -> Iterator[tuple[Method, str]]:
    for method in METHODS:
        if method.askable and method.takes:
            yield from ((method, f"{method.name}{number}") for number in method.takes)
        elif method.askable and method.names:
            yield method, method.name


def exit_layers(draft: str) -> int | None:
    """How many of the target's layers an early exit takes; None: the name is another drafter's."""
    if not draft.startswith(EARLY_EXIT):
        return None
    number = draft.removeprefix(EARLY_EXIT)
    if not re.fullmatch(r"[1-9][0-9]{0,2}", number):
        raise InputError(f"An early exit takes a number of layers, like {EARLY_EXIT}2, not {number[:20]!a}.")
    return int(number)
