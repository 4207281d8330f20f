"""What the worksheet remembers of a visitor beside what its controls say. No drawing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from specviz.core.errors import InputError
from specviz.measure.worksheet.serving import Production
from specviz.measure.worksheet.starts import WorksheetStart
from specviz.systems import ServingCounters, read_counters


def _read(text: str, _language: str) -> ServingCounters | str:
    """What a pasted text says, or why it cannot be used, in this language."""
    try:
        return read_counters(text)
    except InputError as error:
        return str(error)


@dataclass(slots=True)
class Worksheet:
    linked: WorksheetStart | None = None  # the values of a link, where no other start has them
    produced: WorksheetStart | None = None  # pasted counters, once they were put on the map
    counted: Production | None = None  # what was read of them
    counted_text: str = ""  # the text in which they were read
    runs: int = 0  # how many of the visitor's runs were finished when the controls were last drawn
    # once for each text: every message of the visitor draws the page again
    read: Callable[[str, str], ServingCounters | str] = field(default_factory=lambda: lru_cache(1)(_read))
