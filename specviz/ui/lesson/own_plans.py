"""Plans that visitors uploaded: in the server's memory, under a name that only who has the file or the link knows."""

from collections import OrderedDict
from collections.abc import Collection
from hashlib import sha256
from threading import Lock

from specviz.data.lessons.plan import Plan
from specviz.data.lessons.plan_reader import parse_plan
from specviz.data.lessons.plans import find_plan

MOST = 64  # plans, each of a file of at most 64 kB; the one that was not opened for the longest time goes first
PREFIX = "own-"


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
