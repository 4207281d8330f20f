"""vLLM: answers and their steps, counters, log line and benchmark. Read in vllm-project/vllm, 0.29 to 0.32.

Answers have steps where the server was started with `--per-request-spec-decode-metrics detailed`
(docs/features/speculative_decoding/acceptance_metrics.md: "Steps with no scheduled draft tokens are omitted"; with
n-gram drafting these are often most). The pass over the prompt writes the first token. Each step then writes its
accepted tokens and one more. The last step may accept more than the output has room for.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from specviz.core.errors import InputError
from specviz.systems.benches import ToolRun, run_of_lists
from specviz.systems.counts import Counts, field, numbers, say_count
from specviz.systems.fields import Fields, say_record, text_of, token_texts
from specviz.systems.metrics import Metrics
from specviz.systems.table import ANSWER, Record, SystemNames, read_record
from specviz.systems.traces import (
    PROMPT_PASS,
    RecordOptions,
    Step,
    SystemReport,
    WrittenToken,
    first,
    reason_of,
    tokens_of,
    written_of,
)

MARK = "per_step_accepted"
PER_STEP = (MARK, "per_step_drafted")
FIRST = "Round 1 is the pass over the prompt: it writes the first token without a draft."
LENGTH_ROUNDING = 0.005  # the log line writes two decimals
SAYS = "SpecDecodingmetrics:"
POSITIONS = "num_accepted_tokens_per_pos"
METRICS = {"num_drafts", "num_draft_tokens", "num_accepted_tokens", POSITIONS}


# fmt: off
# vllm bench serve, as printed and as its file: vllm/benchmarks/serve.py
BENCH = SystemNames(
    "vLLM", needs=("acceptance length",), rounds=("drafts",), drafted=("draft tokens",), accepted=("accepted tokens",),
    length=("acceptance length",), marginal=("position (%)",), written=("total generated tokens",),
    requests=("successful requests",),
)
BENCH_FILE = SystemNames(
    "vLLM", needs=("spec_decode_num_drafts", "spec_decode_acceptance_length"), with_all=("spec_decode_draft_tokens",),
    rounds=("spec_decode_num_drafts",), drafted=("spec_decode_draft_tokens",),
    accepted=("spec_decode_accepted_tokens",), length=("spec_decode_acceptance_length",),
    marginal=("spec_decode_per_position_acceptance_rates",), written=("total_output_tokens",), requests=("completed",),
)
ROWS = (
    # An answer
    SystemNames(
        "vLLM", needs=("mean_acceptance_length", "acceptance_histogram"), with_all=("num_spec_steps",),
        without=("total_draft_tokens",), rounds=("num_spec_steps",), accepted=("num_accepted_draft_tokens",),
        drafted=("num_draft_tokens",), histogram=("acceptance_histogram",), written=ANSWER,
    ),
    BENCH_FILE,
    BENCH,
    replace(BENCH, needs=("draft tokens",), with_all=("drafts", "accepted tokens")),
    # examples/offline_inference/spec_decode.py, as printed
    SystemNames(
        "vLLM", needs=("acceptance at token",), with_all=("num_drafts",), rounds=("num_drafts",),
        drafted=("num_draft_tokens",), accepted=("num_accepted_tokens",), marginal=("acceptance at token",),
    ),
)
LAST_ROWS = (
    # A part of the log line, copied without its counts
    SystemNames(
        "vLLM", needs=("mean acceptance length",), without=("num_drafts",), length=("mean acceptance length",),
        marginal=("per-position acceptance rate",),
    ),
    # vllm/v1/spec_decode/metrics.py, SpecDecodingStats as Python prints it
    SystemNames(
        "vLLM", needs=("num_drafts",), with_all=("num_draft_tokens", "num_accepted_tokens"), rounds=("num_drafts",),
        drafted=("num_draft_tokens",), accepted=("num_accepted_tokens",),
    ),
)
# fmt: on


def counts_in_metrics(metrics: Metrics) -> Counts | None:
    """Of the page /metrics. llama.cpp's server has the same counters under its own prefix."""
    if not any(name in metrics for name in METRICS) or metrics.prefix == "trtllm":
        return None
    positions, accepted = metrics.list_positions(POSITIONS), metrics.total("num_accepted_tokens")
    if accepted is None and not positions:
        metrics.need("num_accepted_tokens")
    rounds = metrics.need("num_drafts")
    return Counts(
        "llama.cpp" if metrics.prefix == "llamacpp" else "vLLM",
        rounds=rounds,
        drafted=metrics.total("num_draft_tokens"),
        accepted=sum(positions) if accepted is None else accepted,
        written=metrics.total("generation_tokens"),
        requests=metrics.total("request_success") or 0.0,  # each had its first token without a draft
        survival=tuple(count / rounds for count in positions) if rounds else (),
        of_server=True,
        running=metrics.mean("num_requests_running"),
        used=tuple(metrics.used),
    )


def counts_in_log(records: Sequence[str]) -> Counts | None:
    """The last line in which something was drafted."""
    lines = [record[record.rindex(SAYS) :] for record in records if SAYS in record]
    if not lines:
        return None
    line = next((each for each in reversed(lines) if not each.startswith(f"{SAYS}Meanacceptancelength:nan")), None)
    if line is None:
        raise InputError(say_count("nothing_drafted", engine="vLLM"))
    accepted, drafted = (field(line, rf"{name}:(\d+)tokens", name) for name in ("Accepted", "Drafted"))
    length = field(line, r"Meanacceptancelength:([\d.]+)", "Mean acceptance length")
    if length is None:
        raise InputError(say_count("missing", name="Mean acceptance length"))
    listed = re.search(r"Per-positionacceptancerate:([\d.,]*)", line)
    survival = numbers(listed[1].split(","), "A per-position rate") if listed else ()
    if survival and length > len(survival) + 1.01:
        raise InputError(say_count("too_many_for_positions", tokens=length, positions=len(survival)))
    # Drafted tokens a round. The line lists every position that may be drafted, used or not, so they do not count.
    mean = None
    if accepted and drafted is not None and length > 1:
        error = LENGTH_ROUNDING / (length - 1)
        mean = _whole(drafted / _whole(accepted / (length - 1), error), error)
    return Counts(
        "vLLM",
        1 + sum(survival) if survival else length,
        mean,
        survival,
        drafted=drafted,
        accepted=accepted,
        running=field("\n".join(records), r"Running:(\d+)reqs", "Running"),
        notes=(say_count("only_drafting"),),
        used=(say_count("line"),),
    )


def _whole(value: float, relative_error: float) -> float:
    """The nearest whole number where the value cannot be told from it, else the value."""
    nearest = round(value)
    return float(nearest) if nearest and abs(value - nearest) <= relative_error * value else value


def steps(pieces: Sequence[Fields], given: RecordOptions) -> SystemReport:
    choices = [choice for piece in pieces for choice in piece.every("choices")]
    if any(choice.whole("index") for choice in choices):
        raise InputError(say_record("several_answers"))
    every = [piece.inner("metrics").inner("speculative_decoding") for piece in reversed(pieces)]
    known = next((each for each in every if each.value), Fields("", {}))
    if known.whole("num_spec_steps") == 0:  # then there are no lists of steps
        raise InputError(say_record("no_spec_steps"))
    if missing := [name for name in PER_STEP if not known.has(name)]:
        field = f"metrics.speculative_decoding{f'.{missing[0]}' if known.value else ''}"
        raise InputError(say_record("or_totals", problem=say_record("no_metrics", field=field)))
    accepted, drafted = (known.counts(name) for name in PER_STEP)
    if len(accepted) != len(drafted):
        raise InputError(say_record("per_step_lengths"))
    text = "".join(map(text_of, choices))
    end = next((choice for choice in reversed(choices) if choice.text("finish_reason")), Fields("", {}))
    at_a_string = end.text("finish_reason") == "stop" and end.has("stop_reason")
    stopped_by = "other" if at_a_string else reason_of(end.text("finish_reason"), "length", "stop")
    written, note = _written(pieces, choices, text, given, ended=stopped_by == "eos")
    its = [PROMPT_PASS, *(Step(d, a) for d, a in zip(drafted, accepted, strict=True))]
    # Only steps with a draft are reported, so others would have no place.
    over = sum(step.accepted + 1 for step in its) - len(written)
    if over < 0:
        raise InputError(say_record("steps_without_draft", count=-over, written=len(written)))
    kept = sum(accepted) - max(0, over - 1)  # the target's own token of the last step goes first
    cut_off = (
        f"vLLM counts {sum(accepted)} accepted tokens; {kept} of them are in the text, because it ended inside the "
        "last step. So its own figures are a little higher."
    )
    return SystemReport(
        "vLLM",
        its,
        written,
        text,
        stopped_by,
        target=first(piece.text("model") for piece in pieces),
        prompt_ids=next((ids for each in (*pieces, *choices) if (ids := each.ids("prompt_token_ids"))), ()),
        created=first(piece.whole("created") for piece in pieces),
        settings={"draft_length": known.whole("num_spec_tokens")},
        notes=(FIRST, cut_off if over else "", note),
    )


def _written(
    pieces: Sequence[Fields], choices: Sequence[Fields], text: str, given: RecordOptions, *, ended: bool
) -> tuple[list[WrittenToken], str]:
    """The tokens: by the texts beside their log probabilities, if no tokenizer knows their ids."""
    ids = [token_id for choice in choices for token_id in choice.ids("token_ids")]
    counted = first(piece.inner("usage").tokens("completion_tokens") for piece in reversed(pieces))
    count = len(ids) if counted is None else counted
    texts = [piece for choice in choices for piece in token_texts(choice)]
    if ids and len(ids) != count:
        raise InputError(say_record("token_ids_count", count=len(ids), counted=count))
    if not ids and not texts and not text:
        raise InputError(say_record("or_totals", problem=say_record("no_text_of_tokens", count=count)))
    if len(texts) == count and not (ids and given.tokenizer):
        return written_of(texts, ids), ""
    return tokens_of([(text, count)], ids, given.tokenizer, ended=ended)


def bench(values: Sequence[Fields]) -> list[ToolRun] | None:
    """The file of `vllm bench serve --save-result --save-detailed`."""
    if not all("ttfts" in each.value and each.has("model_id") for each in values):
        return None
    return [
        run_of_lists("vllm bench serve", each, read_record(Record(BENCH_FILE, each.value)) if speculative else None)
        for each in values
        for speculative in [each.has("spec_decode_num_drafts")]
    ]
