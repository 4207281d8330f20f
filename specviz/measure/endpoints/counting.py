"""What a server says of speculation: in an answer, or on its page /metrics before and after."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate

from specviz.core.errors import InputError
from specviz.data.systems.importers import llama_cpp
from specviz.data.systems.importers.assembling import RecordStep
from specviz.data.systems.importers.record import RecordPiece
from specviz.data.systems.serving_counters.names import SGLANG_ANSWER, SYSTEMS, USAGE
from specviz.data.systems.serving_counters.pasted import walk_objects
from specviz.data.systems.serving_counters.records import JsonObject, Total, read_record, records_of
from specviz.data.systems.serving_counters.series import MetricSeries
from specviz.measure.endpoints.result import MAX_POSITIONS, Accepted


def accepted_in(pieces: Sequence[JsonObject]) -> Accepted | None:
    """What the parts of one answer say was drafted and accepted; None where they do not say.

    The last part that says anything counts, as totals grow through a stream. llama.cpp does not count its rounds, but
    its totals grow once a round, so there the whole stream is read.
    """
    with suppress(InputError):
        if any("draft_n" in (piece.get("timings") or {}) for piece in pieces[-3:]):
            return _add_steps(llama_cpp.steps_of([RecordPiece("", piece) for piece in pieces]))
    for piece in reversed(pieces):
        with suppress(InputError):
            if found := _read_table(list(walk_objects(piece))):
                return found
    return None


def _add_steps(steps: Sequence[RecordStep]) -> Accepted:
    judged = [step for step in steps if step.drafted]
    most = max((step.drafted for step in judged), default=0)
    return Accepted(
        sum(step.drafted for step in judged),
        sum(step.accepted for step in judged),
        len(judged),
        [sum(step.accepted >= place for step in judged) for place in range(1, min(most, MAX_POSITIONS) + 1)],
    )


def _read_table(found: list[JsonObject]) -> Accepted | None:
    for system in (*SYSTEMS, SGLANG_ANSWER, USAGE):
        if records := records_of(system, found):
            accepted = _from_total(read_record(records[-1]))
            is_told = system is not USAGE or (accepted and accepted.drafted)  # servers have its fields with zeros
            return accepted if is_told else None
    return None


def _from_total(total: Total) -> Accepted | None:
    if total.drafted is None or total.accepted is None:
        return None
    at_least = list(accumulate(reversed(total.histogram)))[::-1]  # entry j: rounds that accepted j tokens or more
    rounds = None if total.rounds is None else round(total.rounds)
    return Accepted(round(total.drafted), round(total.accepted), rounds, [round(count) for count in at_least[1:]])


def counted_between(before: str, after: str) -> tuple[int | None, Accepted | None]:
    """What a server's page /metrics counted meanwhile: the tokens that it wrote, and what was drafted and accepted.

    Raises InputError where a counter became smaller: the server was started again.
    """
    series = MetricSeries(f"{before}\n{after}", [])
    written, drafted = series.total("generation_tokens"), series.total("num_draft_tokens")
    accepted, rounds = series.total("num_accepted_tokens"), series.total("num_drafts")
    if drafted is None or accepted is None:
        return _whole(written), None
    places = series.list_positions("num_accepted_tokens_per_pos")
    return _whole(written), Accepted(round(drafted), round(accepted), _whole(rounds), [round(each) for each in places])


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
