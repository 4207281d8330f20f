"""From the figures of a text to counters: one place that reconciles them and says what they leave out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.data.systems.serving_counters.counters import ServingCounters
from specviz.data.systems.serving_counters.records import Record, Total, added, latency, read_record

say = Sentences("counters")

FIRST_TOKENS = 0.05  # counters do not say how many requests' first tokens are among those written


def counters_of(records: Sequence[Record], limited: int = 0) -> ServingCounters:
    """What the records of one system say together. `limited` answers ended at their limit of tokens."""
    system, count = records[0].system, len(records)
    weighted = system.rounds or system.drafted or system.histogram or system.accepted
    if not weighted or system.running_totals:  # a length alone has no weights to add results up with
        records = records[-1:]
    totals = [read_record(record) for record in records]
    total = added(totals)
    counted = total.accepted is not None and (total.rounds is not None or system.by_written)
    nothing = total.drafted == 0 or total.rounds == 0
    if nothing or not (counted or total.length is not None or total.survival):
        name = next(iter(system.drafted or system.rounds or system.accepted or system.needs))
        raise InputError(say("nothing_drafted", name=name, engine=system.engine))
    counters = replace(
        _counted(total, system.engine),
        latency=latency(records),
        convention=system.convention,
        rates=cast(Literal["", "marginal", "conditional"], total.rates or ("marginal" if total.survival else "")),
    )
    most = max(counters.draft_length or 0.0, (counters.tokens_per_target_call or 1.0) - 1)
    if total.limit and most > total.limit + 0.01:
        raise InputError(say("over_limit", drafted=most, limit=total.limit))
    more = (
        say("ignored", count=total.ignored) if total.ignored else "",
        say("last_result", count=count) if count > 1 and not weighted else "",
        say("mixed", count=count) if _mixed(totals) else "",
    )
    counters = replace(counters, notes=(*counters.notes, *filter(None, more)))
    return limit_to_written(counters, total, limited, system.first_in_round, bool(system.requests))


def _mixed(totals: Sequence[Total]) -> bool:
    """Whether each of several results always drafts the same length, but not all the same one."""
    lengths = [each.drafted / each.rounds for each in totals if each.drafted and each.rounds]
    return all(abs(length - round(length)) < 0.01 for length in lengths) and len(set(map(round, lengths))) > 1


def _counted(total: Total, engine: str) -> ServingCounters:
    if total.rounds and total.accepted is not None:
        share = drafting_share(total.rounds, total.accepted, total.written, total.requests)
        return ServingCounters(
            engine,
            1 + total.accepted / total.rounds,
            total.drafted / total.rounds if total.drafted else float(len(total.survival)) or None,
            total.survival,
            drafted=total.drafted,
            accepted=total.accepted,
            drafting_share=share,
            notes=() if share is not None else (say("only_drafting"),),
        )
    if total.accepted is not None and (total.drafted is not None or total.length is None):
        return count_from_written(engine, total.drafted, total.accepted, total.written, total.requests)
    length = total.length if total.length is not None else 1 + sum(total.survival)
    return ServingCounters(engine, length, float(len(total.survival)) or None, total.survival)


def count_from_written(
    engine: str, drafted: float | None, accepted: float, written: float | None, requests: float = 1
) -> ServingCounters:
    """Calls from the tokens: each wrote its accepted ones and one more, and the prompt's pass wrote the first token."""
    read = ServingCounters(engine, None, drafted=drafted, accepted=accepted, written=written)
    if not written:
        return read
    calls = written - requests - accepted
    if calls < 1:
        raise InputError(say("past_the_end", accepted=accepted, written=written))
    length = 1 + accepted / calls
    each = drafted / calls if drafted is not None else None
    return replace(
        read, tokens_per_target_call=length, draft_length=each, over_all_calls=True, notes=(say("all_calls"),)
    )


def limit_to_written(
    counters: ServingCounters,
    total: Total,
    limited: int = 0,
    first_in_round: bool = False,
    counted_requests: bool = False,
) -> ServingCounters:
    """Not more tokens than were written. What a limit cut off stays counted: it was judged on the same text."""
    if total.written is None:
        return counters
    counters = replace(counters, written=total.written)
    if not total.rounds or total.accepted is None or total.derived or counters.over_all_calls:
        return counters
    room = total.written - total.requests - total.rounds  # for accepted tokens
    excess = total.accepted - room
    if excess <= (total.requests if first_in_round else 0) and room >= 0:
        return counters
    # Of the many answers of a benchmark nobody knows how they ended: each may have ended inside a draft.
    many = total.requests if counted_requests and not limited else 0
    if (limited or many) and excess <= (limited or many) * (counters.draft_length or 0):
        kept = room + 1 if total.requests == 1 else room  # of one answer: its last round wrote no token of the target
        room = max(0.0, kept)
        cut = say("cut_off" if limited else "past_ends", engine=counters.engine, accepted=total.accepted, room=room)
        return replace(counters, notes=(*counters.notes, cut))
    if room < 0:
        raise InputError(say("too_few_written", rounds=total.rounds, written=total.written))
    note = say("bounded", accepted=total.accepted, room=room)
    return replace(
        counters,
        tokens_per_target_call=1 + room / total.rounds,
        accepted=room,
        survival=(),
        rates="",
        bounded=True,
        notes=(*counters.notes, note),
    )


def drafting_share(steps: float, accepted: float, written: float | None, requests: float = 0) -> float | None:
    """Share of the calls that checked a draft: one writes its accepted tokens and one more, another call one token."""
    if written is None:
        return None
    others = written - requests - (steps + accepted)
    return steps / (steps + others) if others > steps * FIRST_TOKENS else 1.0
