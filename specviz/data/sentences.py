"""Sentences about computed figures: their texts are in assets/sentences, one file for each module that says them.

A text names what it is given, as in {found.speed:.2f}. A share is written {share!p}, a small number in words {count!w},
and a word for one or for several {count:prompt|prompts}.
"""

import string
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from specviz.core.files import ASSETS
from specviz.core.names import in_words
from specviz.data.texts import read_texts

FOLDER = ASSETS / "sentences"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


OUR_OWN: dict[str | None, Callable[[Any], str]] = {"p": percent, "w": in_words}


class _Figures(string.Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion in OUR_OWN:
            return OUR_OWN[conversion](value)
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        one, several, many = format_spec.partition("|")
        return (one if value == 1 else many) if several else str(super().format_field(value, format_spec))


class Sentences:
    """The sentences of one file, by name."""

    def __init__(self, name: str) -> None:
        self._file = FOLDER / f"{name}.yaml"

    @cached_property
    def _texts(self) -> dict[str, str]:
        return read_texts(self._file, dict[str, str]).content

    def __call__(self, name: str, /, **figures: object) -> str:
        return filled(self._texts[name], **figures)


def filled(text: str, **figures: object) -> str:
    return _Figures().vformat(text, (), figures)


def any_of(values: Sequence[object]) -> str:
    """In a sentence: 2, 3 or 4."""
    *before, last = map(str, values)
    return f"{', '.join(before)} or {last}" if before else last
