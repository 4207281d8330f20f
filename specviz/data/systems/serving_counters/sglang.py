"""SGLang: its gauges, its log line, and the field `meta_info` of an answer.

`accept` counts the target's own token, `correct` does not (sglang#23530). `num_draft_tokens` counts the nodes of the
draft tree and its root; how deep the tree is says `spec_num_steps`. Without top-k drafting the two differ by one. A
block drafter writes a whole block in one step: then `spec_num_steps` is not the depth.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.texts import Sentences
from specviz.data.systems.serving_counters.counters import ServingCounters, field
from specviz.data.systems.serving_counters.names import SGLANG_ANSWER
from specviz.data.systems.serving_counters.reconciled import limit_to_written
from specviz.data.systems.serving_counters.records import JsonObject, Total, added, read_record, records_of
from specviz.data.systems.serving_counters.series import MetricSeries

say = Sentences("counters")

STEPS = r"spec(?:ulative)?[_-]num[_-]steps[\"'\s:=]{1,4}(\d+)"
IDLE = r"accept len: *0(?:\.0*)?(?=[\s,]|$)"  # the server verified nothing since its last line


def from_gauges(series: MetricSeries, text: str) -> ServingCounters | None:
    calls = series.total("spec_verify_calls")
    written = series.total("generation_tokens") if calls else None
    length = series.mean("spec_accept_length")
    if length is None and not (calls and written):
        return None
    nodes = series.mean("spec_num_draft_tokens")
    exact = bool(nodes and nodes > 1)
    rate = series.mean("spec_accept_rate") if length else None
    proposed = nodes - 1 if nodes and exact else _proposed(length or 0.0, rate)
    steps = series.mean("spec_num_steps") or field(text, STEPS)
    tokens = written / calls if calls and written else length or 0.0
    read = replace(_drafted(tokens, proposed, steps, exact=exact), convention="accept_len")
    if calls and written:
        note = say("of_totals", calls=calls, written=written)
        read = replace(read, written=written, notes=(*read.notes, note))
    return replace(read, running=series.mean("num_running_reqs"))


def from_log(records: Sequence[str], text: str) -> ServingCounters | None:
    every = [line for line in records if "accept len:" in line]
    if not every:
        return None
    lines = [line for line in every if not re.search(IDLE, line)] or every
    length = field(lines[-1], r"accept len: *([^\s,]+)")
    if length is None:
        raise InputError(say("accept_len_missing"))
    proposed = _proposed(length, field(lines[-1], r"accept rate: *([^\s,]+)"))
    running = field(lines[-1], r"#running-req: *(\d+)")
    throughput = field(lines[-1], r"gen throughput \(token/s\): *([\d.]+)")
    latency = running / throughput if running and throughput else None
    read = _drafted(length, proposed, field(text, STEPS), exact=False)
    return replace(read, running=running, latency=latency, convention="accept_len")


def from_answers(found: Sequence[JsonObject], text: str, limited: int = 0) -> tuple[ServingCounters, list[str]] | None:
    """The counters of answers, and the names that were read."""
    records = records_of(SGLANG_ANSWER, found)
    if not records:
        return None
    total = added([read_record(record) for record in records])
    length = _length(total)
    proposed = total.drafted / total.rounds if total.drafted and total.rounds else None
    deepest = max((j for j, count in enumerate(total.histogram) if count), default=0)
    read, survival = _drafted(length, proposed, field(text, STEPS), deepest), total.survival
    if survival and (depth := round(read.draft_length or 0)):
        unseen = 0 if read.checked else max(0, depth - len(survival))  # it lists no deeper than was accepted
        survival = (*survival[:depth], *[0.0] * unseen)
    read = replace(read, survival=survival, drafted=total.drafted, accepted=None if total.derived else total.accepted)
    read = replace(read, rates="marginal" if survival else "", convention=SGLANG_ANSWER.convention)
    if len(records) > 1 and total.rounds is None:
        read = replace(read, notes=(*read.notes, say("last_result", count=len(records))))
    names = [name for record in records for name in record.used]
    if field(text, STEPS):
        names += ["speculative_num_steps", "spec_num_steps"]
    return limit_to_written(read, total, limited), names


def _length(total: Total) -> float:
    if total.rounds and total.accepted is not None:
        return 1 + total.accepted / total.rounds
    if total.length is not None:
        return total.length
    if total.rounds and total.written:
        return total.written / total.rounds  # as sglang's documentation explains it
    raise InputError(say("no_accept_length"))


def _drafted(
    length: float, proposed: float | None, steps: float | None, deepest: int = 0, exact: bool = True
) -> ServingCounters:
    """The tokens of a call, and the depth of a draft of which `proposed` tokens or nodes are checked.

    `deepest` is the most that was accepted at once, if that is known; `proposed` is not `exact` if it comes from a
    rate of two decimals.
    """
    read = partial(ServingCounters, "SGLang", length)
    checked = proposed + 1 if proposed and exact else None
    nodes = say("nodes", count=checked) if checked else say("many_nodes")
    if steps and length - 1 <= steps:
        if proposed is None or proposed <= steps + 0.5:
            return read(steps)
        note = say("tree_depth", nodes=nodes, length=steps)
        return read(steps, checked=checked, notes=(note,))
    if steps and steps > 1:
        raise InputError(say("too_many_for_steps", length=length, steps=steps))
    if proposed is None:
        return read(None)
    if steps or proposed <= MAX_DRAFT_LENGTH:
        note = say("taken_as_chain", count=proposed)
        return read(proposed, notes=() if steps else (note,))
    if deepest:
        note = say("tree_deepest", nodes=nodes, length=deepest)
        return read(float(deepest), checked=checked, notes=(note,))
    note = say("tree_unknown", nodes=nodes)
    return read(None, checked=checked, notes=(note,))


def _proposed(length: float, rate: float | None) -> float | None:
    """Drafted tokens per round, from SGLang's two figures.

    The rate has two meanings. Newer versions: (length − 1) / drafted. Older versions: length / (drafted + 1), with the
    target's own token on both sides. The meaning that gives a whole number is used.
    """
    if not rate or length <= 1:
        return None
    readings = [(length - 1) / rate, length / rate - 1]
    best = min((value for value in readings if value > 0.5), key=lambda value: abs(value - round(value)), default=None)
    return float(round(best)) if best is not None else None
