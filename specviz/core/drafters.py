"""Every way to draft, and what a name of a draft means. The rest of the program asks here.

A new way is an entry in assets/texts/tables/methods.yaml and a module that has it draft (CONTRIBUTING, "How to add a
drafter"). Menus, links, options, sweeps, sentences, figures and the stage take what they need
from the entry.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from specviz.core.errors import InputError
from specviz.core.texts import AppTexts, Sentences

say = Sentences("drafters")

Loads = Literal["model", "head", "layers", "nothing"]  # a head and layers are part of the target: loaded with it


@dataclass(frozen=True, slots=True)
class Group:
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    kind: str  # in traces
    label: str  # in sentences and menus, without a model's name
    module: str | None = None  # that drafts, see `decoding/drafters/choose.py`; None: it cannot be asked for
    loads: Loads = "nothing"
    names: tuple[str, ...] = ()  # a request's; the first is the one that links have. Empty: those of models or heads
    takes: tuple[int, ...] = ()  # a name ends with a number of layers, as in "early-exit:2"; these are in the menu
    group: Group | None = None  # of the Draft menu; None: it is in none
    about: str = ""  # how it guesses: a part of the menu's one line on the group
    trees: bool = True  # it grows trees where the settings ask for one
    samples: bool = True  # its guesses are drawn from a distribution q; else each is certain
    fills: bool = True  # it makes as many guesses as it is asked for
    by_hand: bool = False  # a person decides on each guess
    at_once: bool = False  # all guesses of a round come from one pass
    sees_state: bool = False  # it reads what the target made of the text
    subject: str = "the draft"  # in sentences about a round
    several: bool = False  # whether the subject's verb has no s
    proposes: str = ""  # instead of "{subject} guesses {tokens}"
    nothing: str = "Nothing is drafted."  # said of a round without a guess
    title: str = ""  # of the draft's column in the lesson's picture; empty: "draft"
    gives: str = "The draft gave it"  # before q, in the inspector
    certain: str = ""  # said of a guess whose q is always 1
    lead: str = "The <b>draft</b>, a small model, guesses a few tokens."  # of an offline page, as HTML

    @property
    def here(self) -> "Method":
        """With its words in the language of who reads them."""
        own, usual = next((each for each in methods() if each.kind == self.kind), self), methods()[0]
        unsaid = {name: getattr(usual, name) for name in USUAL if getattr(self, name) == getattr(MODEL, name)}
        return replace(own, **unsaid)

    @property
    def askable(self) -> bool:
        return self.module is not None

    @property
    def name(self) -> str:
        """What a request and a link call it, where it is not called as its model or head."""
        return self.names[0] if self.names else ""


READ_ON = date(2026, 11, 23)  # who serves text with what was read in the projects' documents and code on that day
PROMPT_LOOKUP = "lookup"  # in requests and links
LOOKUP_FIRST = "lookup-"  # and a head: it drafts where the text so far has no match
EARLY_EXIT = "early-exit:"  # and a number: so many of the target's first layers draft
USUAL = ("subject", "nothing", "gives", "lead")  # those of the first one serve where another has none of its own
methods = AppTexts("tables/methods", tuple[Method, ...])
METHODS = [*methods.read().content]
MODEL, *_, OTHER = METHODS


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


def typed_name(draft: str) -> str:
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
    return say("exit_one") if layers == "1" else say("exit", layers=layers)


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
        raise InputError(say("no_layers", example=f"{EARLY_EXIT}2", number=ascii(number[:20])))
    return int(number)
