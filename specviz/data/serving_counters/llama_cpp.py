"""llama.cpp's server: the field `timings` of an answer, and its log. (Its /metrics page is read like vLLM's.)

`timings` counts tokens, not calls (llama.cpp#12603, #27676). Every call of the target writes its accepted tokens and
one more, and the prompt's pass writes the first token: so predicted_n − 1 − draft_n_accepted calls were made, calls
without a draft among them. mlx-vlm has the same names and counts its rounds (`draft_rounds`, mlx-vlm#2324).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from specviz.core.errors import InputError
from specviz.data.serving_counters.counters import ServingCounters, field, number, numbers
from specviz.data.serving_counters.pasted import MAX_LINE, Found, with_keys

ALL_CALLS = "Counted over all calls of the target, also those that had no draft."
FIELDS = ("draft_n", "draft_n_accepted", "predicted_n", "draft_rounds", "predicted_ms")
NUMBER = r"([^\s,)(/]+)"
ACCEPTED = re.compile(rf"draft acceptance(?: rate)? = *{NUMBER} *\( *{NUMBER} accepted / *{NUMBER} generated\)(.*)")


def from_answers(found: Sequence[Found]) -> ServingCounters | None:
    timings = with_keys(found, "draft_n")
    if not timings:
        return None
    drafted, accepted, written, rounds = (_sum(timings, name) for name in FIELDS[:4])
    if not drafted or accepted is None:
        raise InputError("timings says that nothing was drafted: draft_n or draft_n_accepted is missing or 0.")
    milliseconds = _sum(timings, "predicted_ms")
    latency = milliseconds / 1000 / written if milliseconds and written else None
    if rounds:
        return replace(_by_rounds(drafted, accepted, rounds), latency=latency)
    return replace(by_written("llama.cpp", drafted, accepted, written, len(timings)), latency=latency)


def from_log(text: str) -> ServingCounters | None:
    lines = [match for line in text.splitlines() if len(line) < MAX_LINE and (match := ACCEPTED.search(line))]
    if not lines:
        return None
    accepted, drafted = number(lines[-1][2], "The accepted tokens"), number(lines[-1][3], "The generated tokens")
    length = field(lines[-1][4], rf"mean acceptance length = *{NUMBER}", "The mean acceptance length")
    listed = re.search(r"acceptance rate per position = \(([^)]*)\)", lines[-1][4])
    survival = numbers(listed[1].split(","), "A per-position rate") if listed else ()
    rounds = field(text, r"#gen drafts = *(\d+)")
    if length and length > 1:
        return _by_rounds(drafted, accepted, accepted / (length - 1), survival)
    if rounds:
        return _by_rounds(drafted, accepted, rounds, survival)
    return by_written(
        "llama.cpp", drafted, accepted, field(text, r"(?<!prompt )eval time = .{0,60}?/ *(\d+) (?:tok|run)")
    )


def by_written(
    engine: str, drafted: float, accepted: float, written: float | None, requests: int = 1
) -> ServingCounters:
    calls = written - requests - accepted if written else 0.0
    if calls < 1:
        return ServingCounters(engine, None, drafted=drafted, accepted=accepted)
    length = 1 + accepted / calls
    return ServingCounters(engine, length, drafted / calls, drafted=drafted, accepted=accepted, notes=(ALL_CALLS,))


def _by_rounds(drafted: float, accepted: float, rounds: float, survival: tuple[float, ...] = ()) -> ServingCounters:
    return ServingCounters("llama.cpp", 1 + accepted / rounds, drafted / rounds, survival, None, drafted, accepted)


def _sum(timings: Sequence[Found], name: str) -> float | None:
    values = [number(each[name], name) for each in timings if each.get(name) is not None]
    return sum(values) if len(values) == len(timings) else None
