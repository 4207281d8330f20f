"""What engines report of single requests, added up: steps, drafted, accepted, and how often how many were accepted."""

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.core.errors import InputError
from specviz.data.serving_counters.counters import MAX_POSITIONS
from specviz.data.serving_counters.numbers import number, shown
from specviz.data.serving_counters.pasted_json import Found


@dataclass(frozen=True, slots=True)
class Names:
    """An engine's names for the same four fields. The first that is there counts: older names follow newer ones."""

    steps: tuple[str, ...]
    accepted: tuple[str, ...]
    drafted: tuple[str, ...]
    histogram: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Requests:
    """One request, or several added up. None where a field is missing."""

    steps: float | None
    accepted: float | None
    drafted: float | None
    histogram: tuple[float, ...]  # entry j: the steps that accepted exactly j drafted tokens

    @property
    def survival(self) -> tuple[float, ...]:
        """Share of the steps in which position 1, 2, ... was accepted."""
        steps = sum(self.histogram)
        return tuple(sum(self.histogram[j:]) / steps for j in range(1, len(self.histogram))) if steps else ()


def read_requests(found: Sequence[Found], names: Names) -> Requests:
    """Add up what these objects say.

    Raises:
        InputError: a field is not a number, or the histogram contradicts the counts.
    """
    read = [_read(each, names) for each in found]
    longest = max((len(each.histogram) for each in read), default=0)
    histograms = [each.histogram + (0.0,) * (longest - len(each.histogram)) for each in read]
    total = Requests(
        _sum([each.steps for each in read]),
        _sum([each.accepted for each in read]),
        _sum([each.drafted for each in read]),
        tuple(map(sum, zip(*histograms, strict=True))) if all(each.histogram for each in read) else (),
    )
    return _consistent(total)


def _read(found: Found, names: Names) -> Requests:
    histogram = _first(found, names.histogram)
    if histogram is not None and (not isinstance(histogram, list) or len(histogram) > MAX_POSITIONS + 1):
        raise InputError(f"{names.histogram[0]} is {shown(str(histogram))}, which is not a list of counts.")
    steps, accepted, drafted = (
        None if (value := _first(found, each)) is None else number(value, each[0])
        for each in (names.steps, names.accepted, names.drafted)
    )
    counts = tuple(number(count, names.histogram[0]) for count in histogram or ())
    if counts and steps is None:
        steps = sum(counts)
    if counts and accepted is None:
        accepted = sum(j * count for j, count in enumerate(counts))
    return Requests(steps, accepted, drafted, counts)


def _first(found: Found, names: tuple[str, ...]) -> object:
    return next((found[name] for name in names if found.get(name) is not None), None)


def _sum(values: Sequence[float | None]) -> float | None:
    """Their sum; None if one is missing."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _consistent(total: Requests) -> Requests:
    counts = total.histogram
    if counts and total.steps is not None and sum(counts) != total.steps:
        raise InputError(f"The histogram counts {sum(counts):,.0f} steps, but {total.steps:,.0f} are reported.")
    accepted = sum(j * count for j, count in enumerate(counts))
    if counts and total.accepted is not None and accepted != total.accepted:
        raise InputError(f"The histogram counts {accepted:,.0f} accepted, but {total.accepted:,.0f} are reported.")
    return total
