"""A verdict for each kind of prompt in a race: one over kinds that clearly differ would be of none of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from specviz.core.verdict import Verdict
from specviz.data.workloads import workload_of
from specviz.measure.race import RaceLap, overall_verdict

OWN = "own", "Your prompts"


@dataclass(frozen=True, slots=True)
class Kind:
    """The prompts of one workload in a race, and the verdict over them."""

    name: str  # the workload's; "own" for a visitor's prompts
    title: str
    prompts: tuple[str, ...]  # their names
    verdict: Verdict  # of one prompt: its own, with the interval over its repeats; of more: over prompts


def kinds_of(laps: Sequence[RaceLap]) -> list[Kind]:
    """The kinds of prompt in a race, in the order in which they first occur."""
    by_kind: dict[tuple[str, str], list[RaceLap]] = {}
    for lap in laps:
        workload = workload_of(lap.name)
        by_kind.setdefault((workload.name, workload.title) if workload else OWN, []).append(lap)
    found: list[Kind] = []
    for (name, title), its in by_kind.items():
        verdict = overall_verdict(its)
        assert verdict is not None  # there is at least one prompt
        found.append(Kind(name, title, tuple(lap.name for lap in its), verdict))
    return found


def clearly_differ(kinds: Sequence[Kind]) -> bool:
    """Whether the 95 % intervals of two kinds do not overlap. A kind without an interval differs from none."""
    intervals = [kind.verdict.interval for kind in kinds if kind.verdict.interval]
    return any(one[1] < other[0] or other[1] < one[0] for one, other in combinations(intervals, 2))
