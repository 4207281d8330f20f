"""vLLM: answers of a server that was started with `--per-request-spec-decode-metrics detailed`.

Read in vllm-project/vllm: docs/features/speculative_decoding/acceptance_metrics.md (the fields, since 0.29; "Steps with
no scheduled draft tokens are omitted"), docs/features/per_request_metrics.md, and the answers' classes in
vllm/entrypoints/openai (`token_ids`, `prompt_token_ids` with `return_token_ids`; `stop_reason`).

The pass over the prompt writes the first token. Each step then writes its accepted tokens and one more. The last step
may accept more than the output has room for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from specviz.core.errors import InputError
from specviz.core.outside import MostItems
from specviz.core.texts import Sentences
from specviz.core.trace import MAX_TOKENS
from specviz.data.systems.importers.assembling import (
    PROMPT_PASS,
    RecordOptions,
    RecordStep,
    StoppedBy,
    SystemReport,
    WrittenToken,
    ended,
    first,
    tokens_of,
    written_of,
)
from specviz.data.systems.importers.record import MOST_CHOICES, Count, Ids, RecordPiece, ResponseChoice, Usage, reader

say = Sentences("records")

FIRST = "Round 1 is the pass over the prompt: it writes the first token without a draft."


@dataclass(frozen=True, slots=True)
class Speculation:
    """`metrics.speculative_decoding`; the two lists have one entry a step that had a draft."""

    per_step_accepted: Annotated[list[Count], MostItems(MAX_TOKENS)] | None = None
    per_step_drafted: Annotated[list[Count], MostItems(MAX_TOKENS)] | None = None
    num_spec_tokens: Count | None = None
    num_spec_steps: Count | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    speculative_decoding: Speculation | None = None


@dataclass(frozen=True, slots=True)
class VllmAnswer:
    model: str | None = None
    created: int | None = None
    choices: Annotated[list[ResponseChoice], MostItems(MOST_CHOICES)] | None = None
    usage: Usage | None = None
    metrics: Metrics | None = None
    prompt_token_ids: Ids | None = None


read_answers = reader(VllmAnswer)


def read(pieces: Sequence[RecordPiece], given: RecordOptions) -> SystemReport:
    answers = read_answers(pieces)
    choices = [choice for answer in answers for choice in answer.choices or []]
    if any(choice.index for choice in choices):
        raise InputError(say("several_answers"))
    speculation = _speculation(answers)
    text = "".join(choice.written for choice in choices)
    stopped_by = _stopped_by(choices)
    written, note = _written(answers, choices, text, given, stopped_by)
    prompt_ids = [*(each.prompt_token_ids for each in answers), *(each.prompt_token_ids for each in choices)]
    return SystemReport(
        "vLLM",
        _steps(speculation, len(written)),
        written,
        text,
        stopped_by,
        target=first(answer.model for answer in answers),
        prompt_ids=first(prompt_ids) or (),
        created=first(answer.created for answer in answers),
        settings={"draft_length": speculation.num_spec_tokens},
        notes=(FIRST, _cut_off(speculation, len(written)), note),
    )


def _speculation(answers: Sequence[VllmAnswer]) -> Speculation:
    known = first(answer.metrics.speculative_decoding for answer in reversed(answers) if answer.metrics)
    if known is None:
        raise InputError(say("no_metrics", field="metrics.speculative_decoding"))
    if known.num_spec_steps == 0:  # then there are no lists of steps
        raise InputError(say("no_spec_steps"))
    for name in ("per_step_accepted", "per_step_drafted"):
        if getattr(known, name) is None:
            raise InputError(say("no_metrics", field=f"metrics.speculative_decoding.{name}"))
    if len(known.per_step_accepted or []) != len(known.per_step_drafted or []):
        raise InputError(say("per_step_lengths"))
    return known


def _steps(known: Speculation, written: int) -> list[RecordStep]:
    """The steps in order; only those with a draft are reported, so others would have no place."""
    accepted, drafted = known.per_step_accepted or [], known.per_step_drafted or []
    steps = [PROMPT_PASS, *(RecordStep(d, a) for d, a in zip(drafted, accepted, strict=True))]
    most = sum(step.accepted + 1 for step in steps)
    if written > most:
        raise InputError(say("steps_without_draft", count=written - most, written=written))
    return steps


def _cut_off(known: Speculation, written: int) -> str:
    """vLLM counts what its last step accepted, also where the limit or an end of text left it out."""
    counted = sum(known.per_step_accepted or [])
    over = counted + len(known.per_step_accepted or []) + 1 - written
    if over <= 0:
        return ""
    kept = counted - max(0, over - 1)  # the target's own token of that step goes first
    return (
        f"vLLM counts {counted} accepted tokens; {kept} of them are in the text, because it ended inside the last "
        "step. So its own figures are a little higher."
    )


def _written(
    answers: Sequence[VllmAnswer], choices: Sequence[ResponseChoice], text: str, given: RecordOptions, stopped_by: str
) -> tuple[list[WrittenToken], str]:
    """The tokens: by the texts beside their log probabilities, if no tokenizer knows their ids."""
    ids = [token_id for choice in choices for token_id in choice.token_ids or []]
    usage = first(answer.usage for answer in reversed(answers))
    count = usage.completion_tokens if usage else len(ids)
    texts = [piece for choice in choices if choice.logprobs for piece in choice.logprobs.texts]
    if not count:
        raise InputError(say("no_completion_tokens"))
    if ids and len(ids) != count:
        raise InputError(say("token_ids_count", count=len(ids), counted=count))
    if not ids and not texts and not text:
        raise InputError(say("no_text_of_tokens", count=count))
    if len(texts) == count and not (ids and given.tokenizer):
        return written_of(texts, ids), ""
    return tokens_of([(text, count)], ids, given.tokenizer, ended=stopped_by == "eos")


def _stopped_by(choices: Sequence[ResponseChoice]) -> StoppedBy:
    end = next((choice for choice in reversed(choices) if choice.finish_reason), None)
    at_a_string = end and end.finish_reason == "stop" and end.stop_reason is not None
    return "other" if end is None or at_a_string else ended(end.finish_reason, "length", "stop")
