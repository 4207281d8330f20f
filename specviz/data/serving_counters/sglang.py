"""SGLang: its gauges, its log line, and the field `meta_info` of an answer.

`accept` counts the target's own token, `correct` does not (sglang#23530). `num_draft_tokens` counts the nodes of the
draft tree and its root; how deep the tree is says `spec_num_steps`. Without top-k drafting the two differ by one. A
block drafter writes a whole block in one step: then `spec_num_steps` is not the depth.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.serving_counters.counters import ServingCounters, field, number
from specviz.data.serving_counters.pasted import Found, Names, Requests, Series, read_requests, with_keys

NAMES = Names(
    ("spec_verify_ct",),
    ("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num"),
    ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num"),
    ("spec_correct_drafts_histogram", "spec_accept_histogram"),
)
STEPS = r"spec(?:ulative)?[_-]num[_-]steps[\"'\s:=]{1,4}(\d+)"
DEPTHS = ("speculative_num_steps", "spec_num_steps", "completion_tokens")
LENGTHS = ("spec_accept_length", "avg_spec_accept_length")  # of an answer, and of /server_info
PASTE_STEPS = "Paste speculative_num_steps too"


def from_gauges(series: Series, text: str) -> ServingCounters | None:
    length = series.mean("spec_accept_length")
    if length is None:
        return None
    nodes = series.mean("spec_num_draft_tokens")
    exact = bool(nodes and nodes > 1)
    proposed = nodes - 1 if nodes and exact else _proposed(length, series.mean("spec_accept_rate"))
    steps = series.mean("spec_num_steps") or field(text, STEPS)
    return replace(_drafted(length, proposed, steps, exact=exact), running=series.mean("num_running_reqs"))


def from_log(text: str) -> ServingCounters | None:
    lines = [line for line in text.splitlines() if "accept len:" in line]
    if not lines:
        return None
    length = field(lines[-1], r"accept len: *([^\s,]+)")
    if length is None:
        raise InputError("The SGLang log line has no number after “accept len”.")
    proposed = _proposed(length, field(lines[-1], r"accept rate: *([^\s,]+)"))
    running = field(lines[-1], r"#running-req: *(\d+)")
    throughput = field(lines[-1], r"gen throughput \(token/s\): *([\d.]+)")
    latency = running / throughput if running and throughput else None
    return replace(_drafted(length, proposed, field(text, STEPS), exact=False), running=running, latency=latency)


def from_answers(found: Sequence[Found], text: str) -> ServingCounters | None:
    answers = with_keys(found, "spec_verify_ct", "spec_accept_length", "avg_spec_accept_length")
    if not answers:
        return None
    total = read_requests(answers, NAMES)
    length = _length(total, answers[-1])
    proposed = total.drafted / total.steps if total.drafted and total.steps else None
    deepest = max((j for j, count in enumerate(total.histogram) if count), default=0)
    read, survival = _drafted(length, proposed, field(text, STEPS), deepest), total.survival
    if survival and (depth := round(read.draft_length or 0)):
        unseen = 0 if read.checked else max(0, depth - len(survival))  # it lists no deeper than was accepted
        survival = (*survival[:depth], *[0.0] * unseen)
    return replace(read, survival=survival, drafted=total.drafted, accepted=total.accepted)


def _length(total: Requests, last: Found) -> float:
    if total.steps and total.accepted is not None:
        return 1 + total.accepted / total.steps
    for name in LENGTHS:
        if last.get(name) is not None:
            return number(last[name], name)
    if total.steps and last.get("completion_tokens"):
        return number(last["completion_tokens"], "completion_tokens") / total.steps  # as sglang#3152 explains it
    raise InputError("meta_info has no spec_accept_length, and nothing to compute it from.")


def _drafted(
    length: float, proposed: float | None, steps: float | None, deepest: int = 0, exact: bool = True
) -> ServingCounters:
    """The tokens of a call, and the depth of a draft of which `proposed` tokens or nodes are checked.

    `deepest` is the most that was accepted at once, if that is known; `proposed` is not `exact` if it comes from a
    rate of two decimals.
    """
    read = partial(ServingCounters, "SGLang", length)
    nodes = f"{proposed + 1:.0f} nodes" if proposed and exact else "many nodes"
    checked = proposed + 1 if proposed and exact else None
    if steps and length - 1 <= steps:
        if proposed is None or proposed <= steps + 0.5:
            return read(steps)
        note = f"The draft is a tree of {nodes}; γ = {steps:.0f} is its depth (num_steps)."
        return read(steps, checked=checked, notes=(note,))
    if proposed is None:
        return read(None)
    if steps or proposed <= MAX_DRAFT_LENGTH:
        note = f"{proposed:.0f} drafted tokens a round are taken as a chain. {PASTE_STEPS} if the draft is a tree."
        return read(proposed, notes=() if steps else (note,))
    if deepest:
        note = f"The draft is a tree of {nodes}; γ = {deepest} is the deepest that was accepted. {PASTE_STEPS}."
        return read(float(deepest), checked=checked, notes=(note,))
    note = f"The draft is a tree of {nodes}; its depth is not reported. {PASTE_STEPS}; γ is taken from the slider."
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
