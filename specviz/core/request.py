"""What a visitor asks for: models, prompt and settings of one run. Links, pages and the engine all use it."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from specviz.core.settings import SETTINGS, DecodeSettings, Setting
from specviz.core.texts import Sentences

say = Sentences("request")

DEFAULT_TARGET = "wren-base"
DEFAULT_DRAFT = "wren-nano"


@dataclass(frozen=True, slots=True)
class RunRequest:
    prompt: str
    target: str = DEFAULT_TARGET
    draft: str = DEFAULT_DRAFT  # a model's or a head's name, or a method's: see `core/drafters.py`
    settings: DecodeSettings = field(default_factory=DecodeSettings)

    @classmethod
    def from_shown(cls, prompt: str, target: str, draft: str, shown: Mapping[str, Any]) -> Self:
        """The request of what links and controls hold, by `Setting.link`."""
        values = {row.name: row.taken(shown[row.link]) for row in SHOWN.values()}
        return cls(prompt, target, draft, DecodeSettings(**values))

    def shown(self) -> dict[str, Any]:
        """What links and controls hold of this request's settings, by `Setting.link`."""
        return {row.link: row.shown(getattr(self.settings, row.name)) for row in SHOWN.values()}


# What links and controls hold, in their order: the settings that have a name in links.
SHOWN = {name: row for name, row in SETTINGS.items() if row.link}


def is_locked(row: Setting, shown: Mapping[str, Any]) -> bool:
    """Whether another setting of what a link or a page's controls hold keeps this one at its default."""
    lock = SHOWN.get(row.locked_by)
    return lock is not None and lock.taken(shown[lock.link]) != lock.default


def unlocked(shown: Mapping[str, Any]) -> dict[str, Any]:
    """What links and controls hold, with each locked setting at its default."""
    defaults = {row.link: row.shown(row.default) for row in SHOWN.values() if is_locked(row, shown)}
    return {**shown, **defaults}


MAX_PROMPT_CHARACTERS = 20_000  # far more than any bundled context window; it stops a pasted megabyte


def prompt_problem(text: str) -> str | None:
    """One sentence that says why `text` cannot be a prompt; None if it can."""
    if len(text) > MAX_PROMPT_CHARACTERS:
        return say("too_long", count=len(text), most=MAX_PROMPT_CHARACTERS)
    kinds = {unicodedata.category(character) for character in text}
    if all(kind[0] in "CZ" for kind in kinds):  # no letter, digit, mark or symbol
        return say("empty")
    if "Cs" in kinds:
        return say("half")
    return None
