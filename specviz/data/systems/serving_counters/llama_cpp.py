"""llama.cpp's server: its log. (Its answers are in the table of names; its /metrics page is read like vLLM's.)

A line “draft acceptance” is of one request, and so is the “eval time” before it. A line “statistics” is of all requests
since the server started, one line for each kind of draft: it is used where it counts the same tokens as the requests.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.data.systems.serving_counters.counters import ServingCounters, field, number, numbers
from specviz.data.systems.serving_counters.pasted import MAX_LINE
from specviz.data.systems.serving_counters.reconciled import count_from_written

say = Sentences("counters")

NUMBER = r"([^\s,)(/]+)"
ACCEPTED = re.compile(rf"draft acceptance(?: rate)? = *([^\s)(/]+) *\( *{NUMBER} accepted / *{NUMBER} generated\)(.*)")
WRITTEN = re.compile(r"(?<!prompt )eval time = *([\d.]{1,20}) ms */ *(\d{1,15}) (?:tok|run)")
KIND = re.compile(r"statistics +([\w-]{1,40}): ")
COUNTS = {"drafts": "#gen drafts", "drafted": "#gen tokens", "accepted": "#acc tokens"}
CALLS = re.compile(r"#calls\(b,g,a\) = *\d+ +(\d+) ")


@dataclass(frozen=True, slots=True)
class Request:
    accepted: float
    drafted: float
    rounds: float | None  # from the mean acceptance length
    survival: tuple[float, ...]
    written: float | None
    milliseconds: float | None
    judged: bool = True  # whether a line says what was accepted


@dataclass(frozen=True, slots=True)
class DraftStatistics:
    """The last line of each kind of draft, added up. None where a kind does not say it."""

    drafts: float | None
    drafted: float | None
    accepted: float | None
    calls: float | None  # in which a draft was asked for


def from_log(records: Sequence[str]) -> ServingCounters | None:
    requests, statistics = _requests(records), _statistics(records)
    if any(each.judged for each in requests):
        read = _combine(requests, statistics)
        spent, written = ([getattr(each, name) for each in requests] for name in ("milliseconds", "written"))
        latency = sum(spent) / 1000 / sum(written) if all(spent) and all(written) else None
        return replace(read, latency=latency, written=sum(written) if all(written) else None)
    if statistics and statistics.drafts and statistics.accepted is not None:
        return _count_by_statistics(statistics, statistics.accepted, statistics.drafted)
    return None


def _requests(records: Sequence[str]) -> list[Request]:
    """Those that drafted nothing have no line “draft acceptance”. The text may end before the last one's."""
    found, time = list[Request](), None
    for line in records:
        if len(line) >= MAX_LINE:
            continue
        if began := WRITTEN.search(line):
            found += [Request(0, 0, 0, (), *_times(time), judged=False)] if time else []
            time = began
        if match := ACCEPTED.search(line):
            found.append(_request(match, time))
            time = None
    return found


def _times(time: re.Match[str] | None) -> tuple[float | None, float | None]:
    """Written tokens, and milliseconds."""
    return (number(time[2], "The written tokens"), number(time[1], "The eval time")) if time else (None, None)


def _request(match: re.Match[str], time: re.Match[str] | None) -> Request:
    accepted, drafted = number(match[2], "The accepted tokens"), number(match[3], "The generated tokens")
    length = field(match[4], rf"mean (?:acceptance length|len) = *{NUMBER}", "The mean acceptance length")
    listed = re.search(r"acceptance rate per position = \(([^)]*)\)", match[4])
    survival = numbers(listed[1].split(","), "A per-position rate") if listed else ()
    rounds = accepted / (length - 1) if length and length > 1 else None
    return Request(accepted, drafted, rounds, survival, *_times(time))


def _statistics(records: Sequence[str]) -> DraftStatistics | None:
    last = {kind[1]: line for line in records if len(line) < MAX_LINE and (kind := KIND.search(line))}
    if not last:
        return None
    sums = {
        name: _added([field(line, rf"{written} = *(\d+)") for line in last.values()])
        for name, written in COUNTS.items()
    }
    calls = [int(found[1]) for line in last.values() if (found := CALLS.search(line))]
    return DraftStatistics(**sums, calls=float(max(calls)) if len(calls) == len(last) else None)


def _added(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _combine(requests: Sequence[Request], statistics: DraftStatistics | None) -> ServingCounters:
    accepted, drafted = sum(each.accepted for each in requests), sum(each.drafted for each in requests)
    if not drafted:
        raise InputError(say("none_generated"))
    judged = [each for each in requests if each.judged]
    if all(each.rounds for each in judged):
        rounds = sum(each.rounds or 0 for each in judged)
        survival = _weighted(judged, rounds)
        return ServingCounters(
            "llama.cpp", 1 + accepted / rounds, drafted / rounds, survival, None, drafted, accepted,
            rates="marginal" if survival else "", convention="own",
        )  # fmt: skip
    if statistics and statistics.drafts and statistics.drafted == drafted and statistics.accepted in (None, accepted):
        return _count_by_statistics(statistics, accepted, drafted)
    written = _added([each.written for each in requests])
    if written is None and statistics and statistics.drafts and statistics.accepted is not None:
        return _count_by_statistics(statistics, statistics.accepted, statistics.drafted)
    counters = count_from_written("llama.cpp", drafted, accepted, written, len(requests))
    survival = judged[0].survival if len(judged) == 1 else ()
    return replace(counters, survival=survival, rates="marginal" if survival else "", convention="from_written")


def _weighted(requests: Sequence[Request], rounds: float) -> tuple[float, ...]:
    """Rates of positions over all requests; empty where the requests list different numbers of positions."""
    if len({len(each.survival) for each in requests}) > 1:
        return ()
    columns = zip(*(each.survival for each in requests), strict=True)
    weights = [(each.rounds or 0) / rounds for each in requests]
    return tuple(sum(rate * weight for rate, weight in zip(column, weights, strict=True)) for column in columns)


def _count_by_statistics(statistics: DraftStatistics, accepted: float, drafted: float | None) -> ServingCounters:
    drafts = statistics.drafts or 1.0
    share = drafts / statistics.calls if statistics.calls and statistics.calls >= drafts else None
    over_all = () if share is None or share == 1 else (say("over_all", tokens=1 + share * accepted / drafts),)
    return ServingCounters(
        "llama.cpp",
        1 + accepted / drafts,
        drafted / drafts if drafted else None,
        drafted=drafted,
        accepted=accepted,
        drafting_share=share,
        notes=(say("since_start"), *over_all),
        convention="own",
    )
