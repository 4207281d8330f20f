"""What a visitor asks for: models, prompt and settings of one run. Links, pages and the engine all use it."""

from dataclasses import dataclass, field
from typing import Literal

from specviz.core.settings import DecodeSettings

PROMPT_LOOKUP = "lookup"  # the draft that needs no model
DEFAULT_TARGET = "wren-base"
DEFAULT_DRAFT = "wren-nano"

Precision = Literal["exact", "fast"]  # exact: both models in float32; fast: each in the dtype that is faster here


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run, before anything is loaded or tokenized."""

    prompt: str
    target: str = DEFAULT_TARGET
    draft: str = DEFAULT_DRAFT  # a model name, or PROMPT_LOOKUP
    precision: Precision = "exact"
    settings: DecodeSettings = field(default_factory=DecodeSettings)
