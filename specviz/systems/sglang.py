"""SGLang: a stream of /generate, answers, gauges, log line and benchmark. Read in sgl-project/sglang, commit 001067f.

`accept` counts the target's own token, `correct` does not (sglang#23530). `num_draft_tokens` counts the nodes of the
draft tree and its root; how deep the tree is says `spec_num_steps`. Without top-k drafting the two differ by one. A
block drafter writes a whole block in one step: then `spec_num_steps` is not the depth.

The pass over the prompt writes the first token, and each verification its correct drafts and one more. A stream has one
part for each step of the scheduler (managers/tokenizer_manager.py, `_handle_batch_output`: `output_ids` grows, or holds
only what is new), and `meta_info` of the last one a histogram. A part is taken for a step only if both agree.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.systems.benches import ToolRun, run_of_lists
from specviz.systems.counts import Counts, added, field, say_count
from specviz.systems.fields import Fields, say_record
from specviz.systems.finding import JsonObject
from specviz.systems.metrics import Metrics
from specviz.systems.table import ANSWER, SystemNames, read_record, records_of
from specviz.systems.traces import PROMPT_PASS, RecordOptions, Step, SystemReport, reason_of, tokens_of

MARKS = "Each part of the stream is one step: their sizes agree with the histogram that SGLang reports."
CHAIN = "SGLang counts drafted tokens a run; each step is taken to have drafted as many, {} in a chain."
STEPS = r"spec(?:ulative)?[_-]num[_-]steps[\"'\s:=]{1,4}(\d+)"
SAYS = "acceptlen:"
HISTOGRAM = ("spec_correct_drafts_histogram", "spec_accept_histogram")
PROPOSED = ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num")
METRICS = {"spec_accept_length", "spec_accept_rate", "spec_num_steps", "spec_num_draft_tokens", "num_running_reqs"}
METRICS |= {"spec_verify_calls"}
# fmt: off
ROW = SystemNames(
    "SGLang", needs=("spec_verify_ct", "spec_accept_length", "avg_spec_accept_length"), rounds=("spec_verify_ct",),
    accepted=("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num"), drafted=PROPOSED,
    histogram=HISTOGRAM, length=("spec_accept_length", "avg_spec_accept_length"), written=ANSWER, convention="sglang",
)
ROWS = (
    # benchmark/mtbench, “#questions: 80, Throughput: …, Acceptance length: 5.36”
    SystemNames("SGLang", needs=("acceptance length",), with_all=("#questions",), length=("acceptance length",)),
    # python/sglang/bench_serving.py, as printed and as JSON lines; SpecForge: benchmarks
    SystemNames(
        "SGLang", needs=("accept length", "average accept length"), length=("accept length", "average accept length"),
    ),
    SystemNames("SGLang", needs=("accept_length",), length=("accept_length",)),
)
# fmt: on


def counts_in_answers(found: Sequence[JsonObject], text: str) -> Counts | None:
    records = records_of(ROW, found)
    if not records:
        return None
    total = added([read_record(record) for record in records])
    if total.accepted is None and total.rounds and total.written and total.tokens_per_target_call is None:
        total = replace(
            total, tokens_per_target_call=total.written / total.rounds
        )  # as SGLang's documentation explains it
    length = total.tokens_per_target_call
    length = 1 + total.accepted / total.rounds if total.rounds and total.accepted is not None else length
    if length is None:
        raise InputError(say_count("missing", name="spec_accept_length"))
    proposed = total.drafted / total.rounds if total.drafted and total.rounds else None
    deepest = max((place for place, share in enumerate(total.survival, start=1) if share), default=0)
    tree, survival = _drafted(length, proposed, field(text, STEPS, "num_steps"), deepest), total.survival
    if survival and (depth := round(tree.draft_length or 0)):
        unseen = 0 if tree.checked else max(0, depth - len(survival))  # it lists no deeper than was accepted
        survival = (*survival[:depth], *[0.0] * unseen)
    notes = (say_count("last_result", count=len(records)),) if len(records) > 1 and total.rounds is None else ()
    notes = (*tree.notes, *notes)
    return replace(total, survival=survival, draft_length=tree.draft_length, checked=tree.checked, notes=notes)


def counts_in_metrics(metrics: Metrics, text: str) -> Counts | None:
    calls = metrics.total("spec_verify_calls")
    written = metrics.total("generation_tokens") if calls else None
    length = metrics.mean("spec_accept_length")
    if length is None and not (calls and written):
        return None
    nodes = metrics.mean("spec_num_draft_tokens")
    exact = bool(nodes and nodes > 1)
    proposed = nodes - 1 if nodes and exact else _proposed(length or 0.0, metrics.mean("spec_accept_rate"))
    steps = metrics.mean("spec_num_steps") or field(text, STEPS, "num_steps")
    tokens = written / calls if calls and written else length or 0.0
    read = _drafted(tokens, proposed, steps, exact=exact)
    note = (say_count("of_totals", calls=calls, written=written),) if calls and written else ()
    running, notes = metrics.mean("num_running_reqs"), (*read.notes, *note)
    used = tuple(metrics.used)
    return replace(read, written=written, running=running, notes=notes, convention="accept_len", used=used)


def counts_in_log(records: Sequence[str], text: str) -> Counts | None:
    """The last line in which something was verified."""
    every = [record for record in records if SAYS in record]
    if not every:
        return None
    last = ([record for record in every if not re.search(SAYS + r"0(?:\.0*)?(?=,|$)", record)] or every)[-1]
    length = field(last, SAYS + r"([\d.]+)", "accept len")
    if length is None:
        raise InputError(say_count("missing", name="accept len"))
    proposed = _proposed(length, field(last, r"acceptrate:([\d.]+)", "accept rate"))
    running = field(last, r"#running-req:(\d+)", "#running-req")
    read = _drafted(length, proposed, field(text, STEPS, "num_steps"), exact=False)
    return replace(read, running=running, convention="accept_len", used=(say_count("line"),))


def _drafted(
    length: float, proposed: float | None, steps: float | None, deepest: int = 0, exact: bool = True
) -> Counts:
    """The tokens of a call, and the depth of a draft of which `proposed` tokens or nodes are checked.

    `deepest` is the most that was accepted at once, if that is known; `proposed` is not `exact` if it comes from a
    rate of two decimals.
    """
    read = Counts("SGLang", length)
    tree = proposed + 1 if proposed and exact else None
    nodes = say_count("nodes", count=tree) if tree else say_count("many_nodes")
    if steps and length - 1 <= steps:
        if proposed is None or proposed <= steps + 0.5:
            return replace(read, draft_length=steps)
        note = say_count("tree_depth", nodes=nodes, length=steps)
        return replace(read, draft_length=steps, checked=tree, notes=(note,))
    if steps and steps > 1:
        raise InputError(say_count("over_limit", drafted=length - 1, limit=steps))
    if proposed is None:
        return read
    if steps or proposed <= MAX_DRAFT_LENGTH:
        note = say_count("taken_as_chain", count=proposed)
        return replace(read, draft_length=proposed, notes=() if steps else (note,))
    if deepest:
        note = say_count("tree_deepest", nodes=nodes, length=deepest)
        return replace(read, draft_length=float(deepest), checked=tree, notes=(note,))
    return replace(read, checked=tree, notes=(say_count("tree_unknown", nodes=nodes),))


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


def steps(pieces: Sequence[Fields], given: RecordOptions) -> SystemReport:
    if any("choices" in piece.value and "meta_info" not in piece.value for piece in pieces):
        raise InputError(say_record("or_totals", problem=say_record("openai_totals")))
    metas = [piece.inner("meta_info") for piece in pieces]
    totals = [0, *(meta.tokens("completion_tokens") or 0 for meta in metas)]
    sizes = [after - before for before, after in pairwise(totals)]
    if min(sizes) < 0:
        raise InputError(say_record("counter_smaller"))
    text, texts = _texts(pieces, sizes)
    sizes = [size for size in sizes if size]
    drafted, last = _drafted_in(metas[-1], sizes)
    its = [PROMPT_PASS, *(Step(drafted, size - 1) for size in sizes[1:-1]), Step(drafted, last)]
    reason = metas[-1].inner("finish_reason")
    kind = reason.text("type")
    at_a_string = kind == "stop" and not isinstance(reason.value.get("matched"), int)  # else it is a token's id
    stopped_by = "other" if at_a_string else reason_of(kind, "length", "stop")
    ids = pieces[-1].ids("output_ids")
    if len(ids) != sum(sizes):
        ids = [token_id for piece in pieces for token_id in piece.ids("output_ids")]
    written, note = tokens_of(list(zip(texts, sizes, strict=True)), ids, given.tokenizer, ended=stopped_by == "eos")
    return SystemReport(
        "SGLang",
        its,
        written,
        text,
        stopped_by,
        prompt_ids=next((ids for piece in pieces if (ids := piece.ids("prompt_token_ids"))), ()),
        settings={"draft_length": drafted},
        notes=(MARKS, CHAIN.format(drafted), note),
    )


def _drafted_in(end: Fields, sizes: Sequence[int]) -> tuple[int, int]:
    """What each step drafted, and the last one accepted before the output's end cut it; else InputError."""
    checks = end.whole("spec_verify_ct")
    proposed = next((end.whole(name) for name in PROPOSED if end.has(name)), None)
    histogram = next((counts for name in HISTOGRAM if (counts := end.counts(name))), None)
    if not checks or proposed is None or histogram is None:
        missing = "spec_verify_ct" if not checks else PROPOSED[0] if proposed is None else HISTOGRAM[0]
        raise InputError(say_record("missing_in_end", name=missing))
    if proposed % checks:
        raise InputError(say_record("different_steps"))
    drafted = proposed // checks
    counted = Counter({correct: steps for correct, steps in enumerate(histogram) if steps})
    whole = Counter(size - 1 for size in sizes[1:-1])  # the last step may have been cut by the output's end
    last = max(counted - whole, default=-1)
    other = len(sizes) < 2 or sizes[0] != 1 or not len(sizes) - 1 == checks == counted.total()
    if other or max(sizes) > drafted + 1 or whole - counted or last < sizes[-1] - 1:
        raise InputError(say_record("or_totals", problem=say_record("other_parts")))
    return drafted, last


def _texts(parts: Sequence[Fields], sizes: Sequence[int]) -> tuple[str, list[str]]:
    """The whole text, and what each part with tokens adds. A part's text is all so far, or only what is new."""
    texts = [part.text("text") or "" for part in parts]
    cumulative = all(after.startswith(before) for before, after in pairwise(texts))
    if parts[-1].has("output_ids"):
        cumulative = len(parts[-1].ids("output_ids")) == sum(sizes)
    so_far, added_texts = "", list[str]()
    for new, size in zip(texts, sizes, strict=True):
        piece = new[len(so_far) :] if cumulative else new
        so_far += piece
        if size:
            added_texts.append(piece)
        elif added_texts:
            added_texts[-1] += piece
    return so_far, added_texts


def bench(values: Sequence[Fields]) -> list[ToolRun] | None:
    """The file of SGLang's bench, to which each run adds a line."""
    if not all("ttfts" in each.value for each in values):
        return None
    lengths = [each.number("accept_length") for each in values]
    says = "The file says an accept length of {:.2f}, the target's own token included."
    notes = [() if length is None else (says.format(length),) for length in lengths]
    return [run_of_lists("SGLang's bench", each, None, *note) for each, note in zip(values, notes, strict=True)]
