"""Where a visitor is in a lesson plan, and the plans that visitors uploaded. No drawing."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from time import monotonic

from specviz.core.errors import InputError
from specviz.data.lessons.plans import LessonPlan, Moment, find_plan, parse_plan
from specviz.data.links.hidden import View
from specviz.data.texts import page_texts

SAYS = page_texts("lesson")
LESSON, MOMENT, NOTES = "lesson", "moment", "notes"  # in the address
MOST = 64  # uploaded plans, of at most 64 kB each; the one that was not opened for the longest time goes first
MOST_OF_ONE = 8  # ... of one visitor, or of one public address
IN_USE = 1800.0  # seconds: a plan that was opened since does not go for one of somebody else
PREFIX = "own-"  # of an uploaded plan's name


@dataclass(slots=True)
class Walk:
    plan: LessonPlan
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
        """Go to a moment, and set up its screen, again where it is the same; a place that there is not is ignored."""
        if 1 <= at <= self.last:
            self.at, self.entered, self.problem, self.moves = at, 0, "", self.moves + told


def place_in(plan: LessonPlan, asked: str | None) -> tuple[int, str]:
    """The moment that an address asks for, and one line where there is no such moment."""
    last = len(plan.moments)
    if asked is None:
        return 1, ""
    if asked in map(str, range(1, last + 1)):
        return int(asked), ""
    return 1, SAYS["no_moment"].format(asked=asked[:20], title=plan.title, last=last)


class OwnPlans:
    """Of all visitors. Safe between threads."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._held: dict[str, tuple[LessonPlan, str, float]] = {}  # with owner and time; the one opened last is last
        self._lock = Lock()

    def add(self, data: bytes, known_models: Collection[str], owner: str) -> LessonPlan:
        """Read a plan and hold it; the same file has the same name.

        Who has their share gives up the oldest of their own. On a full server one that nobody uses goes.
        PlanError: it is no plan. InputError: all places are in use.
        """
        plan = parse_plan(data, f"{PREFIX}{sha256(data).hexdigest()[:16]}", known_models)
        with self._lock:
            own = [name for name, (_, its, _) in self._held.items() if its == owner]
            if plan.name not in self._held and len(own) >= MOST_OF_ONE:
                del self._held[own[0]]
            elif plan.name not in self._held and len(self._held) >= MOST:
                oldest, (_, _, opened) = next(iter(self._held.items()))
                if self._clock() - opened < IN_USE:
                    raise InputError(SAYS["no_room"])
                del self._held[oldest]
            self._hold(plan, owner)
        return plan

    def find(self, name: str) -> LessonPlan | None:
        with self._lock:
            if (held := self._held.get(name)) is None:
                return None
            self._hold(held[0], held[1])
            return held[0]

    def _hold(self, plan: LessonPlan, owner: str) -> None:
        self._held.pop(plan.name, None)
        self._held[plan.name] = plan, owner, self._clock()


OWN_PLANS = OwnPlans()


def plan_named(name: str) -> LessonPlan | None:
    return OWN_PLANS.find(name) if name.startswith(PREFIX) else find_plan(name)
