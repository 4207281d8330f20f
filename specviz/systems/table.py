"""How a system names what it counts, and its records read by these names: objects of JSON, rows, blocks of lines.

A system is recognised by the names that its records need. Sources are the systems' own files, named beside each row.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from specviz.core.errors import InputError
from specviz.systems.counts import MAX_POSITIONS, Counts, added, number, say_count, shown
from specviz.systems.finding import JsonObject

Names = tuple[str, ...]  # the first that a record has counts: older names follow newer ones
ANSWER = ("completion_tokens",)


@dataclass(frozen=True, slots=True)
class SystemNames:
    """Names of a system. An empty tuple: it does not report this."""

    engine: str
    needs: Names  # a record of this system has one of them …
    with_all: Names = ()  # … and all of these,
    without: Names = ()  # and none of these
    convention: str = "own"  # the name of a text
    limit: Names = ("num_spec_tokens", "num_speculative_tokens")  # the most that a round may draft
    rounds: Names = ()  # calls of the target that checked a draft
    drafted: Names = ()
    accepted: Names = ()  # without the target's own token
    rejected: Names = ()  # drafted, not accepted
    ignored: Names = ()  # drafted, but never checked
    length: Names = ()  # tokens of a call, with the target's own one
    histogram: Names = ()  # entry j: rounds that accepted exactly j drafted tokens
    marginal: Names = ()  # rates of positions: accepted here / rounds
    written: Names = ()  # output tokens
    requests: Names = ()


@dataclass(slots=True)
class Record:
    """One record of a system. `used` are the names that were read from it and from objects beside it."""

    system: SystemNames
    values: JsonObject
    used: dict[str, None] = field(default_factory=dict)

    def first(self, names: Names) -> tuple[str, Any] | None:
        name = next((each for each in names if self.values.get(each) not in (None, "")), None)
        if name is None:
            return None
        self.used[name] = None
        return name, self.values[name]

    def number(self, names: Names) -> float | None:
        found = self.first(names)
        return number(found[1], found[0]) if found else None

    def several(self, names: Names) -> tuple[float, ...]:
        """Rates, or a histogram."""
        name, values = self.first(names) or ("", [])
        if not isinstance(values, list) or len(values) > MAX_POSITIONS + 2:
            raise InputError(say_count("no_list", name=name[:60], value=shown(str(values))))
        percent = "%" in name or any("%" in str(each) for each in values)
        return tuple(number(each, name) / (100 if percent else 1) for each in values)


def read_record(record: Record) -> Counts:
    """The counts of one record; InputError where one is no number, or contradicts another."""
    system = record.system
    accepted, drafted, rounds = (record.number(names) for names in (system.accepted, system.drafted, system.rounds))
    histogram, survival = record.several(system.histogram), record.several(system.marginal)
    if histogram:
        steps, tokens = sum(histogram), sum(j * count for j, count in enumerate(histogram))
        if rounds is not None and abs(steps - rounds) > 1e-6 * steps:
            raise InputError(say_count("other_steps", steps=steps, rounds=rounds))
        if accepted is not None and tokens != accepted:
            raise InputError(say_count("other_accepted", tokens=tokens, accepted=accepted))
        rounds, accepted = steps, tokens
        survival = tuple(sum(histogram[j:]) / (steps or 1) for j in range(1, len(histogram)))
    length = record.number(system.length) if rounds is None or accepted is None else None
    derived = length is not None and length > 1 and (rounds is None) != (accepted is None)
    if length is not None and derived:
        rounds = (accepted or 0) / (length - 1) if rounds is None else rounds
        accepted = (length - 1) * rounds if accepted is None else accepted
    rejected, ignored = record.number(system.rejected), record.number(system.ignored) or 0.0
    if drafted is None and rejected is not None and accepted is not None:
        drafted = accepted + rejected
    return Counts(
        system.engine,
        length,
        survival=survival,
        rounds=rounds,
        drafted=None if drafted is None else max(0.0, drafted - ignored),
        accepted=accepted,
        written=record.number(system.written),
        requests=record.number(system.requests) or 1.0,
        limit=record.number(system.limit) or 0.0,
        ignored=ignored,
        derived=derived,
        many=bool(system.requests),
        convention=system.convention,
        used=tuple(record.used),
    )


def counts_of(records: Sequence[Record]) -> Counts:
    """What the records of one system say together."""
    system, count = records[0].system, len(records)
    if not (system.rounds or system.drafted or system.histogram or system.accepted):
        last = read_record(records[-1])  # a length alone has no weights to add results up with
        return replace(last, notes=(say_count("last_result", count=count),)) if count > 1 else last
    each = [read_record(record) for record in records]
    lengths = [one.drafted / one.rounds for one in each if one.drafted and one.rounds]
    whole = all(abs(length - round(length)) < 0.01 for length in lengths)
    mixed = whole and len(set(map(round, lengths))) > 1  # each always drafts the same length, but not all the same one
    return replace(added(each), notes=(say_count("mixed", count=count),) if mixed else ())


def records_of(system: SystemNames, found: Sequence[JsonObject]) -> list[Record]:
    """The records of this system, with what stands beside them: one other object for each record."""
    records = [
        Record(system, each)
        for each in found
        if any(each.get(name) is not None for name in system.needs)
        and all(each.get(name) is not None for name in system.with_all)
        and not any(name in each for name in system.without)
    ]
    for names in (system.rounds, system.written, system.length):
        for name in names:
            if any(record.values.get(each) is not None for record in records for each in names):
                break
            beside = [each for each in found if isinstance(each.get(name), int | float | str)]
            if beside and len(beside) == len(records):
                for record, each in zip(records, beside, strict=True):
                    record.values = record.values | {name: each[name]}
    return records


def names_of(systems: Iterable[SystemNames]) -> set[str]:
    """The names that lines and tables are searched for."""
    every = [getattr(system, each.name) for system in systems for each in fields(system)]
    return {name for names in every if isinstance(names, tuple) for name in names}
