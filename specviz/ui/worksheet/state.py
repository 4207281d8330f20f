"""What the worksheet remembers of a visitor while other pages are shown. No drawing."""

from dataclasses import dataclass, field
from typing import Any

from specviz.measure.worksheet.starts import Start


@dataclass(slots=True)
class Worksheet:
    """One visitor's worksheet."""

    link_read: bool = False
    linked: Start | None = None  # the values of a link, where no other start has them
    produced: Start | None = None  # pasted counters, once they were put on the map
    notes: list[str] = field(default_factory=list)  # what of a link could not be used
    values: dict[str, Any] = field(default_factory=dict)  # what the widgets held when last drawn, by their keys
    runs: int = 0  # how many of the visitor's runs were finished then
