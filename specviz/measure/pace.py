"""How long measurements will take, from how fast a pair runs here. Pure."""

from dataclasses import dataclass

from specviz.core.metrics import Costs
from specviz.core.theory import round_steps


@dataclass(frozen=True, slots=True)
class Pace:
    """How quickly a pair runs, taken from earlier measurements; seconds a token."""

    speculative: float
    plain: float

    @property
    def both(self) -> float:
        """Seconds for one token of each decoder."""
        return self.speculative + self.plain


def pace_of_costs(costs: Costs) -> Pace:
    """The pace of a pair whose costs are known: rounds of four drafted tokens that write three."""
    steps = round_steps(4, costs.cost_ratio, costs.verification, costs.overhead)
    return Pace(costs.step_seconds * steps / 3, costs.step_seconds)


def in_minutes(seconds: float) -> str:
    """About so long, in words."""
    if seconds < 90:
        return f"about {max(5, 5 * round(seconds / 5))} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
