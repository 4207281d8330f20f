"""Where a visitor is in a lesson plan, and the plans that visitors uploaded. No drawing."""

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock

from specviz.data.lessons.plan import Moment, Plan
from specviz.data.lessons.plans import find_plan, parse_plan
from specviz.player.payload import View

LESSON, MOMENT, NOTES = "lesson", "moment", "notes"  # in the address
MOST = 64  # uploaded plans, of at most 64 kB each; the one that was not opened for the longest time goes first
PREFIX = "own-"  # of an uploaded plan's name


@dataclass(slots=True)
class Walk:
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
        return self.plan.moments[self.at - 1]

    @property
    def last(self) -> int:
        return len(self.plan.moments)

    @property
    def link(self) -> dict[str, str]:
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


class OwnPlans:
    """Of all visitors. Safe between threads."""

    def __init__(self) -> None:
        self._plans: OrderedDict[str, Plan] = OrderedDict()
        self._lock = Lock()

    def add(self, data: bytes, known_models: Collection[str]) -> Plan:
        """Read a plan and hold it; the same file has the same name.

        Raises:
            PlanError: it is no plan.
        """
        plan = parse_plan(data, f"{PREFIX}{sha256(data).hexdigest()[:16]}", known_models)
        with self._lock:
            self._plans[plan.name] = plan
            self._plans.move_to_end(plan.name)
            while len(self._plans) > MOST:
                self._plans.popitem(last=False)
        return plan

    def find(self, name: str) -> Plan | None:
        """The plan of that name; None where the server does not have it, or no longer."""
        with self._lock:
            if name in self._plans:
                self._plans.move_to_end(name)
            return self._plans.get(name)


OWN_PLANS = OwnPlans()


def plan_named(name: str) -> Plan | None:
    """The plan that a link names: the app's, the server's, or an uploaded one."""
    return OWN_PLANS.find(name) if name.startswith(PREFIX) else find_plan(name)
