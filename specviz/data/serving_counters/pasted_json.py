"""JSON in pasted text, and what engines report in it of single requests, added up."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from specviz.core.errors import InputError
from specviz.data.serving_counters.counters import MAX_POSITIONS, ServingCounters, number, shown

Found = dict[str, Any]
MOST_PARTS = 10_000
MOST_BRACKETS = 50_000  # more are no answers; each takes many times its size
MOST_FAILED = 200  # places at which no object begins after all
MOST_IN_VAIN = 500_000  # characters that are read from such places
_LINE_START = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)


def objects(text: str) -> list[Found]:
    """Every JSON object in the text, inner ones too, in the order written. Of a stream only the last line counts."""
    return [inner for value in _values(text) for inner in _inside(value)]


def with_keys(found: Sequence[Found], *keys: str) -> list[Found]:
    return [each for each in found if any(key in each for key in keys)]


def _values(text: str) -> list[Any]:
    """What is JSON: the whole text, the text in braces (a field with its name), a stream's last line, or parts."""
    if not any(brace in text for brace in "{[:") or text.count("{") + text.count("[") > MOST_BRACKETS:
        return []
    for whole in (text, f"{{{text.strip().rstrip(',')}}}"):
        if (value := _read(whole)) is not None:
            return [value]
    pieces = [line[5:] for line in map(str.strip, text.splitlines()) if line.startswith("data:")]
    streamed = [value for piece in pieces if (value := _read(piece)) is not None]
    if not streamed:
        return list(islice(_parts(text), MOST_PARTS))
    # A stream repeats its running totals: the last piece that says anything about drafts.
    return next(([each] for each in reversed(streamed) if _says_anything(each)), [])


def _parts(text: str) -> Iterator[Any]:
    """Every JSON object that begins a line. What is read in vain is bounded: each bracket could read to the end."""
    end, failed, in_vain = 0, 0, 0
    for start in (found.end() - 1 for found in _LINE_START.finditer(text)):
        if start < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            failed += 1
            in_vain += getattr(error, "pos", len(text)) - start
            if failed == MOST_FAILED or in_vain > MOST_IN_VAIN:
                return
        else:
            yield value


def _says_anything(value: Any) -> bool:
    return any("draft" in key.lower() or "spec" in key for found in _inside(value) for key in found)


def _read(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _short(kind: Callable[[str], float]) -> Callable[[str], float | str]:
    return lambda written: kind(written) if len(written) < LONG else written


LONG = 40  # characters; a longer number stays text, so that it is refused with its name
_DECODER = json.JSONDecoder(parse_int=_short(int), parse_float=_short(float))


def _inside(value: Any) -> Iterator[Found]:
    """The objects in a value, outer ones first, without recursion: the text decides how deep it is."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            waiting.extend(reversed(list(here.values())))
        elif isinstance(here, list):
            waiting.extend(reversed(here))


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
        steps = sum(self.histogram)
        return tuple(sum(self.histogram[j:]) / steps for j in range(1, len(self.histogram))) if steps else ()

    def counters(self, engine: str, steps: float | None, **more: Any) -> ServingCounters:
        tokens = 1 + self.accepted / steps if steps and self.accepted is not None else None
        length = self.drafted / steps if steps and tokens and self.drafted else None
        return ServingCounters(engine, tokens, length, self.survival, None, self.drafted, self.accepted, **more)


def read_requests(found: Sequence[Found], names: Names) -> Requests:
    """Add up what these objects say; InputError where that is no number, or contradicts itself."""
    read = [_request_of(each, names) for each in found]
    longest = max((len(each.histogram) for each in read), default=0)
    histograms = [each.histogram + (0.0,) * (longest - len(each.histogram)) for each in read]
    total = Requests(
        _sum([each.steps for each in read]),
        _sum([each.accepted for each in read]),
        _sum([each.drafted for each in read]),
        tuple(map(sum, zip(*histograms, strict=True))) if all(each.histogram for each in read) else (),
    )
    return _consistent(total)


def _request_of(found: Found, names: Names) -> Requests:
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
