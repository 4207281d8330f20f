"""What the state of a page keeps of the link that its visitor came by. No drawing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from specviz.data.links.page_link import Params

Found = TypeVar("Found")


@dataclass(slots=True)
class Arrival:
    read: bool = False  # the link; once in a visit, and once in each moment of a lesson
    acted: bool = False  # the visitor chose something or opened a link: from here on the address says what
    notes: list[str] = field(default_factory=list)  # what of the link could not be used

    def read_once(self, given: Params, reading: Callable[[Params], tuple[Found, list[str]]]) -> Found | None:
        """What the link asks for, where it was not read before; None later.

        `reading` makes of the address's parameters what is asked for, and a line for each part that cannot be used.
        """
        if self.read:
            return None
        found, self.notes = reading(given)
        self.read, self.acted = True, self.acted or bool(given)
        return found

    def change(self) -> None:
        """Something else was asked for: what the link could not have is no longer said."""
        self.acted, self.notes = True, []
