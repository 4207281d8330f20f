"""Records of one system added up: its names become the same few figures, and they are checked against each other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import mul
from typing import Any

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.data.systems.serving_counters.counters import MAX_POSITIONS, figure, number, shown
from specviz.data.systems.serving_counters.names import Names, SystemNames

say = Sentences("counters")

JsonObject = dict[str, Any]
PER_STEP = ("per_step_accepted", "per_step_drafted")  # vLLM, --per-request-spec-decode-metrics detailed


@dataclass(slots=True)
class Record:
    """One record of a system. `used` are the names that were read from it and from objects beside it."""

    system: SystemNames
    values: JsonObject
    used: dict[str, None] = field(default_factory=dict)

    def first(self, names: Names) -> tuple[str, Any] | None:
        for name in names:
            if self.values.get(name) not in (None, ""):
                self.used[name] = None
                return name, self.values[name]
        return None

    def number(self, names: Names) -> float | None:
        found = self.first(names)
        if found is None:
            return None
        name, value = found
        if isinstance(value, dict):  # AIPerf: {"unit": …, "avg": …}
            value = value.get("avg", value.get("value"))
        if self.system.listed and isinstance(value, list):  # one number for each turn of a conversation
            return sum(number(each, name) for each in value)
        return number(figure(value) if isinstance(value, str) else value, name)

    def rates(self, names: Names) -> tuple[float, ...]:
        found = self.first(names)
        if found is None:
            return ()
        name, value = found
        written = value.replace(",", " ").split() if isinstance(value, str) else value  # of a cell
        if not isinstance(written, list) or len(written) > MAX_POSITIONS:
            raise InputError(say("no_rates", name=name[:60], value=shown(str(value)), most=MAX_POSITIONS))
        percent = "%" in name or any("%" in str(each) for each in written)
        return tuple(number(each, name) / (100 if percent else 1) for each in written)

    def counts(self, names: Names) -> tuple[float, ...]:
        """A histogram, as a list or as an object {“0”: 6, “2”: 3}."""
        found = self.first(names)
        if found is None:
            return ()
        name, value = found
        if isinstance(value, dict):
            value = _listed(value)
        if not isinstance(value, list) or len(value) > MAX_POSITIONS + 2:
            raise InputError(say("no_list", name=name[:60], value=shown(str(found[1]))))
        return tuple(number(each, name) for each in value)


def _listed(counts: JsonObject) -> list[Any] | None:
    if not counts or not all(key.isdecimal() and len(key) < 3 for key in counts):
        return None
    places = {int(key): count for key, count in counts.items()}
    return [places.get(place, 0) for place in range(max(places) + 1)]


@dataclass(frozen=True, slots=True)
class Total:
    """One record, or several added up. None where a figure is missing."""

    rounds: float | None = None
    accepted: float | None = None  # without the target's own tokens
    drafted: float | None = None  # without those that were never checked
    ignored: float = 0.0
    length: float | None = None  # tokens of a call as the text says it; of several records, of the last one
    histogram: tuple[float, ...] = ()  # entry j: the rounds that accepted exactly j drafted tokens
    survival: tuple[float, ...] = ()  # share of rounds in which position 1, 2, … was accepted
    written: float | None = None  # output tokens
    requests: float = 1.0
    rates: str = ""  # "marginal" or "conditional", as the text gives them
    limit: float = 0.0  # the most that a round may draft; 0 if it is not named
    derived: bool = False  # whether rounds or accepted tokens come from the length: not exact, so they bound nothing


def read_record(record: Record) -> Total:
    """The figures of one record; InputError where one is no number, or contradicts another."""
    system = record.system
    if record.values.get("measured") is False:  # a profile that was made before any measurement
        raise InputError(say("not_measured", engine=system.engine))
    record.values = _add_up_steps(record.values, record.used)
    accepted, pair = _accepted(record)
    rounds, histogram = record.number(system.rounds), _histogram(record)
    rates, survival = _rates(record)
    if heads := record.counts(system.heads):
        rounds, survival = heads[0], tuple(count / heads[0] for count in heads[1:]) if heads[0] else ()
    drafted = record.number(system.drafted) if pair is None else pair
    each = record.number(system.per_round)
    rounds = drafted / each if rounds is None and drafted is not None and each else rounds
    emitted = record.number(system.emitted)
    if emitted is not None and rounds is not None:
        accepted = emitted - rounds
    rounds, accepted = _count_histogram(histogram, rounds, accepted)
    length = record.number(system.length) if rounds is None or accepted is None else None
    derived = length is not None and length > 1 and (rounds is None) != (accepted is None)
    if length is not None and derived:
        rounds = (accepted or 0) / (length - 1) if rounds is None else rounds
        accepted = (length - 1) * rounds if accepted is None else accepted
    rejected = record.number(system.rejected)
    if drafted is None and rejected is not None and accepted is not None:
        drafted = accepted + rejected
    ignored = record.number(system.ignored) or 0.0
    return Total(
        rounds,
        accepted,
        None if drafted is None else max(0.0, drafted - ignored),
        ignored,
        length,
        histogram,
        _survival(histogram) or survival,
        record.number(system.written),
        record.number(system.requests) or 1.0,
        rates,
        record.number(system.limit) or 0.0,
        derived,
    )


def _accepted(record: Record) -> tuple[float | None, float | None]:
    """Accepted tokens, and drafted ones where the two are written as “538/660”."""
    found = record.first(record.system.accepted)
    if found is not None and isinstance(found[1], str) and "/" in found[1]:
        accepted, _, drafted = found[1].partition("/")
        return number(accepted.strip(), found[0]), number(drafted.strip(), found[0])
    return record.number(record.system.accepted), None


def _histogram(record: Record) -> tuple[float, ...]:
    if counts := record.counts(record.system.histogram):
        return counts
    return record.counts(record.system.lengths)[1:]


def _count_histogram(
    counts: tuple[float, ...], rounds: float | None, accepted: float | None
) -> tuple[float | None, float | None]:
    if not counts:
        return rounds, accepted
    steps, tokens = sum(counts), sum(j * count for j, count in enumerate(counts))
    if rounds is not None and steps != rounds:
        raise InputError(say("other_steps", steps=steps, rounds=rounds))
    if accepted is not None and tokens != accepted:
        raise InputError(say("other_accepted", tokens=tokens, accepted=accepted))
    return steps, tokens


def _rates(record: Record) -> tuple[str, tuple[float, ...]]:
    if marginal := record.rates(record.system.marginal):
        return "marginal", marginal
    if conditional := record.rates(record.system.conditional):
        return "conditional", tuple(accumulate(conditional, mul))
    return "", ()


def _survival(counts: tuple[float, ...]) -> tuple[float, ...]:
    steps = sum(counts)
    return tuple(sum(counts[j:]) / steps for j in range(1, len(counts))) if steps else ()


def _add_up_steps(found: JsonObject, used: dict[str, None]) -> JsonObject:
    """The same with the counts that vLLM's lists of steps add up to, where it has such lists and no histogram."""
    accepted, drafted = (found.get(name) for name in PER_STEP)
    if not isinstance(accepted, list) or found.get("acceptance_histogram") is not None:
        return found
    counts = [number(each, PER_STEP[0]) for each in accepted]
    lengths = [number(each, PER_STEP[1]) for each in drafted] if isinstance(drafted, list) else []
    if lengths and len(lengths) != len(counts):
        raise InputError(
            say("other_lengths", counts=PER_STEP[0], count=len(counts), lengths=PER_STEP[1], length_count=len(lengths))
        )
    most = max([*lengths, *counts, number(found.get("num_spec_tokens") or 0, "num_spec_tokens")], default=0)
    if most > MAX_POSITIONS or any(count != int(count) for count in counts):
        raise InputError(say("no_whole_numbers", name=PER_STEP[0], most=MAX_POSITIONS))
    used.update(dict.fromkeys(name for name in ("num_spec_tokens", *PER_STEP) if name in found))
    histogram = [counts.count(place) for place in range(int(most) + 1)]
    sums: JsonObject = {"num_spec_steps": len(counts), "num_accepted_draft_tokens": sum(counts)}
    return found | sums | ({"num_draft_tokens": sum(lengths)} if lengths else {}) | {"acceptance_histogram": histogram}


def added(totals: Sequence[Total]) -> Total:
    """The sum. Rates of positions are weighted by rounds; what only one of several reports is left out."""
    if len(totals) == 1:
        return totals[0]
    rounds = _sum(each.rounds for each in totals)
    histogram = _columns([each.histogram for each in totals])
    weighted = [tuple((each.rounds or 0) * rate for rate in each.survival) for each in totals]
    survival = tuple(count / rounds for count in _columns(weighted)) if rounds else ()
    rates = {each.rates for each in totals}
    return Total(
        rounds,
        _sum(each.accepted for each in totals),
        _sum(each.drafted for each in totals),
        sum(each.ignored for each in totals),
        totals[-1].length,
        histogram,
        _survival(histogram) or survival,
        _sum(each.written for each in totals),
        sum(each.requests for each in totals),
        rates.pop() if len(rates) == 1 else "",
        max(each.limit for each in totals) if all(each.limit for each in totals) else 0.0,
        any(each.derived for each in totals),
    )


def _columns(rows: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Sums of the columns; empty if one of the rows is."""
    if not all(rows):
        return ()
    longest = max(map(len, rows))
    return tuple(map(sum, zip(*(row + (0.0,) * (longest - len(row)) for row in rows), strict=True)))


def _sum(values: Iterable[float | None]) -> float | None:
    every = list(values)
    known = [value for value in every if value is not None]
    return sum(known) if known and len(known) == len(every) else None


def records_of(system: SystemNames, found: Sequence[JsonObject]) -> list[Record]:
    """The records of this system, with what stands beside them: one other object for each record."""
    steps = PER_STEP[0] in system.needs
    records = [
        Record(system, each)
        for each in found
        if any(each.get(name) is not None for name in system.needs)
        and (all(each.get(name) is not None for name in system.with_all) or (steps and _has_steps(each)))
        and not any(name in each for name in system.without)
    ]
    for names in (system.rounds, system.written, system.per_second, system.length):
        _fill_missing(records, names, found)
    return records


def _has_steps(found: JsonObject) -> bool:
    return any(isinstance(found.get(name), list) for name in (PER_STEP[0], "acceptance_histogram"))


def _fill_missing(records: Sequence[Record], names: Names, found: Sequence[JsonObject]) -> None:
    for name in names:
        if any(record.values.get(each) is not None for record in records for each in names):
            return
        objects = [each for each in found if isinstance(each.get(name), int | float | str)]
        if objects and len(objects) == len(records):
            for record, each in zip(records, objects, strict=True):
                record.values = record.values | {name: each[name]}


def latency(records: Sequence[Record]) -> float | None:
    """Seconds for an output token: of one record its mean, of several their sum if they report sums."""
    system = records[0].system
    spent = _sum(record.number(system.total_milliseconds) for record in records)
    written = _sum(record.number(system.written) for record in records)
    if spent and written:
        return spent / 1000 / written
    if len(records) > 1:
        return None
    mean, speed = records[0].number(system.milliseconds), records[0].number(system.per_second)
    return mean / 1000 if mean else 1 / speed if speed else None
