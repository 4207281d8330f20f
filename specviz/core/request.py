"""What a visitor asks for: models, prompt and settings of one run. Links, pages and the engine all use it."""

import re
from dataclasses import dataclass, field
from typing import Literal

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings

PROMPT_LOOKUP = "lookup"  # the draft that needs no model
EARLY_EXIT = "early-exit:"  # and a number: so many of the target's first layers draft
DEFAULT_TARGET = "wren-base"
DEFAULT_DRAFT = "wren-nano"

Precision = Literal["exact", "fast"]  # exact: both models in float32; fast: each in the dtype that is faster here


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run, before anything is loaded or tokenized."""

    prompt: str
    target: str = DEFAULT_TARGET
    draft: str = DEFAULT_DRAFT  # a model's or a head's name, an early exit, or PROMPT_LOOKUP
    precision: Precision = "exact"
    settings: DecodeSettings = field(default_factory=DecodeSettings)


def exit_layers(draft: str) -> int | None:
    """How many of the target's layers an early exit takes; None: the name is another drafter's.

    Raises:
        InputError: there is no number of layers in it.
    """
    if not draft.startswith(EARLY_EXIT):
        return None
    number = draft.removeprefix(EARLY_EXIT)
    if not re.fullmatch(r"[1-9][0-9]{0,2}", number):
        raise InputError(f"An early exit takes a number of layers, like {EARLY_EXIT}2, not {number[:20]!a}.")
    return int(number)
