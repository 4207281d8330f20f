"""Where a visitor is in a lesson plan. No drawing."""

from dataclasses import dataclass, field

from specviz.data.lessons.plan import Moment, Plan
from specviz.player.payload import View

LESSON, MOMENT, NOTES = "lesson", "moment", "notes"  # in the address


@dataclass(slots=True)
class Walk:
    """A lesson under way."""

    plan: Plan
    at: int = 1  # the moment, from 1
    problem: str = ""  # what of the address could not be used
    entered: int = 0  # whose screen was set up last; 0: none yet
    times: int = 0  # how often a screen was set up: a stage of its own for each
    moves: int = 0  # by this visitor; what another window did is not told to it again
    here: bool = False  # whether the page on screen is the moment's
    address: dict[str, list[str]] = field(default_factory=dict)  # of that page: the browser's is the lesson's
    view_before: View | None = None  # the one to come back to

    @property
    def moment(self) -> Moment:
        """The one it is at."""
        return self.plan.moments[self.at - 1]

    @property
    def last(self) -> int:
        """The number of the last moment."""
        return len(self.plan.moments)

    @property
    def link(self) -> dict[str, str]:
        """The address that leads back here."""
        return {LESSON: self.plan.name, MOMENT: str(self.at)}

    def go(self, at: int, *, told: bool = True) -> None:
        """Go to a moment, and set up its screen, again where it is the same; a place that there is not is ignored.

        Args:
            at: from 1.
            told: whether the visitor did it here, so that the other window follows.
        """
        if 1 <= at <= self.last:
            self.at, self.entered, self.problem, self.moves = at, 0, "", self.moves + told


def place_in(plan: Plan, asked: str | None) -> tuple[int, str]:
    """The moment that an address asks for, and one line where there is no such moment."""
    last = len(plan.moments)
    if asked is None:
        return 1, ""
    if asked in map(str, range(1, last + 1)):
        return int(asked), ""
    return 1, f"moment={asked[:20]} is not a moment of “{plan.title}”, 1 to {last}: showing the first."
