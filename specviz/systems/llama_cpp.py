"""llama.cpp: a stream of its server, its answers, its log, its bench. Read in ggml-org/llama.cpp, commit 001d906.

A stream of /completion or /v1/chat/completions is asked for with `timings_per_token`. `n_draft_accepted` grows when a
draft was judged, before the first token of the round is sent; `n_draft_tokens` grows when it was made
(tools/server/server-context.cpp, `post_decode`); `timings` leaves both out as long as nothing was drafted. So the part
in which the two counters have grown begins a round, which writes its accepted tokens and one more. A token that no
round covers was written by a pass without a draft, as is the first one. A target that cannot forget single tokens
(recurrent layers) reads a partly accepted draft a second time: that pass is shown as one without a draft.

In the log a line “draft acceptance” is of one request, and so is the “eval time” before it. A line “statistics” is of
all requests since the server started, one line for each kind of draft: it is used where it counts the same tokens.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from specviz.core.errors import InputError
from specviz.core.settings import MAX_SEED
from specviz.systems.benches import LONGEST, ToolAnswer, ToolRun
from specviz.systems.counts import Counts, add_up, added, field, number, numbers, say_count
from specviz.systems.fields import Fields, say_record, text_of
from specviz.systems.table import SystemNames
from specviz.systems.traces import (
    CUT,
    RecordOptions,
    Step,
    StoppedBy,
    SystemReport,
    WrittenToken,
    cut,
    first,
    tokens_of,
    written_of,
)

MARKS = "The rounds are where the server’s counters grow. The first token, and any other outside a round, has no draft."
ENDED = (
    "llama.cpp counts the end of a text as the target’s own token, also where the draft had guessed it: whether the "
    "draft of the last round was right there is not reported."
)
JOINED = "Some parts of the stream hold several tokens: their text is cut into as many pieces."
RANDOM_SEED = 2**32 - 1  # the server chose one and does not say which
ACCEPTED = re.compile(r"draftacceptance(?:rate)?=([^()/]+)\(([^)(/]+)accepted/([^)(/]+)generated\)(.*)")
WRITTEN = re.compile(r"(?<!prompt)evaltime=[\d.]{1,20}ms/(\d{1,15})(?:tok|run)")
KIND = re.compile(r"statistics([\w-]{1,40}):")
# fmt: off
ROW = SystemNames(
    "llama.cpp", needs=("draft_n",), without=("draft_rounds",),  # of mlx-vlm, which counts other tokens
    drafted=("draft_n",), accepted=("draft_n_accepted",), written=("predicted_n",), convention="from_written",
)
ROWS = (
    ROW,  # tools/server, the field `timings`
    # examples/speculative, as printed. “n_draft” is the most that a round drafts.
    replace(ROW, needs=("n_drafted",), with_all=("n_predict", "n_accept"), written=("n_predict",),
            drafted=("n_drafted",), accepted=("n_accept",), limit=()),
    # a table of runs, “pred= 192 draft= 180 acc= 146”
    replace(ROW, needs=("pred",), with_all=("draft", "acc"), written=("pred",), drafted=("draft",), accepted=("acc",)),
    # the sum of such a table
    replace(ROW, needs=("total_draft_accepted",), with_all=("total_draft",), written=("total_predicted",),
            drafted=("total_draft",), accepted=("total_draft_accepted",), requests=("n_requests",)),
)
# fmt: on


def counts_in_log(records: Sequence[str]) -> Counts | None:
    """All requests of the log together."""
    requests, statistics = _requests(records), _statistics(records)
    judged = [each for each in requests if each.drafted]
    if not judged:
        if any(map(ACCEPTED.search, records)):
            raise InputError(say_count("nothing_drafted", engine="llama.cpp"))
        return statistics
    total, written = added(judged), add_up(each.written for each in requests)
    if all(each.rounds for each in judged):
        alike = len({len(each.survival) for each in judged}) == 1
        total = replace(total, of_server=True, survival=total.survival if alike else ())
    elif statistics and (
        written is None or (statistics.drafted == total.drafted and statistics.accepted in (None, total.accepted))
    ):
        accepted = total.accepted if statistics.accepted is None else statistics.accepted
        total = replace(statistics, accepted=accepted)
    else:
        survival = total.survival if len(judged) == 1 else ()
        total = replace(total, survival=survival, rounds=None, convention="from_written")
    lines = say_count("lines", count=sum("draftacceptance" in record for record in records))
    return replace(total, written=written, requests=float(len(requests)), used=(lines,))


def _requests(records: Sequence[str]) -> list[Counts]:
    """Those that drafted nothing have no line “draft acceptance”. The text may end before the last one's."""
    found, written = list[Counts](), None
    for record in records:
        if time := WRITTEN.search(record):
            found += (
                [] if written is None else [Counts("llama.cpp", rounds=0.0, drafted=0.0, accepted=0.0, written=written)]
            )
            written = number(time[1], "The written tokens")
        if match := ACCEPTED.search(record):
            accepted, drafted = number(match[2], "The accepted tokens"), number(match[3], "The generated tokens")
            length = field(match[4], r"mean(?:acceptancelength|len)=([^,()]+)", "The mean acceptance length")
            listed = re.search(r"acceptancerateperposition=\(([^)]*)\)", match[4])
            survival = numbers(listed[1].split(","), "A per-position rate") if listed else ()
            rounds = accepted / (length - 1) if length and length > 1 else None
            counted = Counts("llama.cpp", survival=survival, rounds=rounds, drafted=drafted, accepted=accepted)
            found.append(replace(counted, written=written))
            written = None
    return found


def _statistics(records: Sequence[str]) -> Counts | None:
    """The last line of each kind of draft, added up. None where a kind does not say how many drafts there were."""
    last = {kind[1]: record for record in records if (kind := KIND.search(record))}.values()
    names = ("#gendrafts", "#gentokens", "#acctokens")
    rounds, drafted, accepted = (add_up(field(line, rf"{name}=(\d+)", name) for line in last) for name in names)
    if not rounds:
        return None
    found = Counts("llama.cpp", rounds=rounds, drafted=drafted, accepted=accepted, of_server=True)
    return replace(found, notes=(say_count("since_start"),), used=(say_count("lines", count=len(last)),))


def counts_in_stream(parts: Sequence[Fields]) -> Counts | None:
    """It does not count its rounds, but its totals grow once a round. None where the last parts have no totals."""
    if not any("draft_n" in part.inner("timings").value for part in parts[-3:]):
        return None
    its = [step for step in steps_of(parts) if step.drafted]
    most = max((step.drafted for step in its), default=0)
    return Counts(
        "llama.cpp",
        survival=tuple(sum(step.accepted > place for step in its) / len(its) for place in range(most)),
        rounds=len(its),
        drafted=sum(step.drafted for step in its),
        accepted=sum(step.accepted for step in its),
    )


def steps(pieces: Sequence[Fields], given: RecordOptions) -> SystemReport:
    its = steps_of(pieces)
    text = "".join(map(_text_of, pieces))
    reasons = {piece.text("stop_type") for piece in pieces}
    reasons |= {choice.text("finish_reason") for piece in pieces for choice in piece.every("choices")}
    stopped_by: StoppedBy = "length" if reasons & {"limit", "length"} else "eos" if "eos" in reasons else "other"
    written, note = _written(pieces, given, stopped_by)
    end = pieces[-1]
    build = first(piece.text("system_fingerprint") for piece in pieces) or ""
    prompt_ms = first(piece.inner("timings").number("prompt_ms") for piece in reversed(pieces))
    inside = stopped_by != "length" and any(step.accepted < step.drafted for step in its[-1:])
    prompt = end.value.get("prompt")
    return SystemReport(
        f"llama.cpp {build}".strip(),
        its,
        written,
        text,
        stopped_by,
        target=first(piece.text("model") for piece in pieces),
        prompt=prompt if isinstance(prompt, str) else None,
        prefill_seconds=None if prompt_ms is None else prompt_ms / 1000,
        created=first(piece.whole("created") for piece in pieces),
        settings=_settings(end.inner("generation_settings")),
        notes=(MARKS, ENDED if inside else "", note),
    )


def steps_of(pieces: Sequence[Fields]) -> list[Step]:
    """The passes of the target; InputError where the counters do not say them."""
    counted = [timing for piece in pieces if (timing := _timing(piece))]
    if len(counted) < 2:
        raise InputError(say_record("or_totals", problem=say_record("counters_unknown")))
    if not counted[-1][1]:
        raise InputError(say_record("no_draft_n"))
    found, covered, before = list[Step](), 0, (0, 0, 0)
    for now in counted:
        predicted, drafted, accepted = (after - since for after, since in zip(now, before, strict=True))
        if min(drafted, accepted, predicted) < 0:
            raise InputError(say_record("counter_smaller"))
        if not predicted:
            continue  # a last part without a token
        if drafted or accepted:
            if covered >= now[0]:
                raise InputError(say_record("counters_early"))
            plain = max(0, before[0] - covered)
            found += [Step(0, 0)] * plain + [Step(drafted, accepted)]
            covered += plain + accepted + 1
        before = now
    return [*found, *[Step(0, 0)] * (before[0] - covered)]


def _timing(piece: Fields) -> tuple[int, int, int] | None:
    """The running totals of written, drafted and accepted tokens. Absent draft counters are 0."""
    timings = piece.inner("timings")
    predicted = timings.tokens("predicted_n")
    drafted, accepted = (timings.whole(name) or 0 for name in ("draft_n", "draft_n_accepted"))
    return None if predicted is None else (predicted, drafted, accepted)


def _text_of(piece: Fields) -> str:
    return (piece.text("content") or "") + "".join(map(text_of, piece.every("choices")))


def _written(parts: Sequence[Fields], given: RecordOptions, stopped_by: str) -> tuple[list[WrittenToken], str]:
    """The tokens: each part of a stream usually holds one."""
    ids = [token_id for part in parts for token_id in part.ids("tokens")]
    pieces, before = list[tuple[str, int]](), 0
    # Whether the counters grow by a whole round before its tokens come, one in each part.
    totals = [timing[0] for part in parts if (timing := _timing(part)) and _text_of(part)]
    grown = [later - earlier for earlier, later in pairwise(totals)]
    ahead = 0 in grown[:-1] and max(grown) > 1
    for part in parts:
        timing, text = _timing(part), _text_of(part)
        counted = timing[0] - before if timing else 0
        before += counted
        # A character of several tokens comes at once, and with the id of its last token alone.
        new = counted if not ahead else len(part.ids("tokens")) if part.has("tokens") else bool(text)
        if new:
            pieces.append((text, new))
        elif pieces:  # held back until the end, because it could have begun a stop string
            pieces[-1] = (pieces[-1][0] + text, pieces[-1][1])
    joined = any(tokens > 1 for _, tokens in pieces)
    if given.tokenizer and (joined or len(ids) == len(pieces)):
        return tokens_of(pieces, ids, given.tokenizer, ended=stopped_by == "eos")
    texts = [piece for text, tokens in pieces for piece in cut(text, tokens)]
    return written_of(texts, ids), f"{JOINED} {CUT.split('. ')[-1]}" if joined else ""


def _settings(found: Fields) -> dict[str, object]:
    temperature, top_k, seed = (found.value.get(name) for name in ("temperature", "top_k", "seed"))
    seeded = isinstance(seed, int) and 0 <= seed <= MAX_SEED and seed != RANDOM_SEED
    return {
        "temperature": max(0.0, float(temperature)) if isinstance(temperature, int | float) else None,
        "top_k": top_k if isinstance(top_k, int) and top_k > 0 else None,
        "top_p": found.number("top_p") or None,
        "seed": seed if seeded else None,
    }


def bench(values: Sequence[Fields]) -> list[ToolRun] | None:
    """The file of speed_bench.py: means of each category, no single requests."""
    categories = values[0].inner("categories")
    if len(values) > 1 or not categories.value or not values[0].has("config"):
        return None
    found = {name: categories.inner(name) for name in list(categories.value)[:64]}
    answers = [
        ToolAnswer(name[:LONGEST], seconds=seconds, tokens=round(seconds * (each.number("avg_tok_s") or 0.0)))
        for name, each in found.items()
        for seconds in [each.number("avg_latency") or 0.0]
    ]
    drafted, accepted = (add_up(each.number(name) for each in found.values()) for name in (ROW.drafted + ROW.accepted))
    counts = Counts("llama.cpp", drafted=drafted, accepted=accepted) if drafted and accepted is not None else None
    note = "The file has means of categories: each stands for one request, and its tokens are rounded."
    concurrency = values[0].inner("config").whole("concurrency")
    return [ToolRun("llama.cpp's speed_bench", answers, concurrency=concurrency, counts=counts, notes=(note,))]
