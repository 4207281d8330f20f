"""SGLang: a stream of /generate.

Read in sgl-project/sglang, commit 001067f: python/sglang/srt/managers/tokenizer_manager.py (`_handle_batch_output`: one
part of the stream for each step of the scheduler; `output_ids` grows, or holds only what is new; the last part's
`meta_info` has the counters). `correct` drafts do not count the target's own token (sglang#23530).

The pass over the prompt writes the first token, and each verification its correct drafts and one more. `meta_info`
itself has no order, only a histogram. So a part of the stream is taken for a step only if both agree.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    ended,
    first,
    tokens_of,
)
from specviz.data.systems.importers.record import Count, Ids, RecordPiece, TokenCount, reader

say = Sentences("records")

MARKS = "Each part of the stream is one step: their sizes agree with the histogram that SGLang reports."
CHAIN = "SGLang counts drafted tokens a run; each step is taken to have drafted as many, {} in a chain."


@dataclass(frozen=True, slots=True)
class Finish:
    """Why it ended: at a stop, `matched` is the id of the token, or a string."""

    type: str
    matched: int | str | Annotated[list[int], MostItems(MAX_TOKENS)] | None = None


@dataclass(frozen=True, slots=True)
class SglangMeta:
    """`meta_info`; the counters are in the last part, and older names follow newer ones."""

    completion_tokens: TokenCount
    finish_reason: Finish | None = None
    spec_verify_ct: Count | None = None
    spec_num_proposed_drafts: Count | None = None
    spec_proposed_drafts: Count | None = None
    spec_draft_token_num: Count | None = None
    spec_correct_drafts_histogram: Annotated[list[Count], MostItems(MAX_TOKENS)] | None = None
    spec_accept_histogram: Annotated[list[Count], MostItems(MAX_TOKENS)] | None = None

    @property
    def proposed(self) -> int | None:
        return first((self.spec_num_proposed_drafts, self.spec_proposed_drafts, self.spec_draft_token_num))

    @property
    def histogram(self) -> list[int] | None:
        return self.spec_correct_drafts_histogram or self.spec_accept_histogram


@dataclass(frozen=True, slots=True)
class SglangChunk:
    meta_info: SglangMeta
    text: str | None = None
    output_ids: Ids | None = None
    prompt_token_ids: Ids | None = None


read_parts = reader(SglangChunk)


def read(pieces: Sequence[RecordPiece], given: RecordOptions) -> SystemReport:
    """Raises InputError: a field is wrong, or the parts are not the steps."""
    if any("choices" in piece.value and "meta_info" not in piece.value for piece in pieces):
        raise InputError(say("openai_totals"))
    parts = read_parts(pieces)
    end = parts[-1].meta_info
    sizes = _sizes(parts)
    drafted = _drafted(end)
    last = _accepted_last(sizes, end, drafted)
    steps = [PROMPT_PASS, *(RecordStep(drafted, size - 1) for size in sizes[1:-1]), RecordStep(drafted, last)]
    text, texts = _texts(parts, sizes)
    stopped_by = _stopped_by(end)
    added = list(zip(texts, sizes, strict=True))
    written, note = tokens_of(added, _ids(parts, sum(sizes)), given.tokenizer, ended=stopped_by == "eos")
    return SystemReport(
        "SGLang",
        steps,
        written,
        text,
        stopped_by,
        prompt_ids=first(part.prompt_token_ids for part in parts) or (),
        settings={"draft_length": drafted},
        notes=(MARKS, CHAIN.format(drafted), note),
    )


def _sizes(parts: Sequence[SglangChunk]) -> list[int]:
    totals = [0, *(part.meta_info.completion_tokens for part in parts)]
    sizes = [after - before for before, after in pairwise(totals)]
    if min(sizes) < 0:
        raise InputError(say("completion_smaller"))
    return [size for size in sizes if size]


def _drafted(end: SglangMeta) -> int:
    if not end.spec_verify_ct:
        raise InputError(say("no_checks"))
    if end.proposed is None:
        raise InputError(say("no_proposed"))
    if end.proposed % end.spec_verify_ct:
        raise InputError(say("different_steps"))
    return end.proposed // end.spec_verify_ct


def _accepted_last(sizes: Sequence[int], end: SglangMeta, drafted: int) -> int:
    """What the last step accepted before the output's end cut it; InputError: the parts are not the steps."""
    if len(sizes) < 2 or sizes[0] != 1 or len(sizes) - 1 != end.spec_verify_ct:
        raise InputError(say("other_parts", count=len(sizes), checks=end.spec_verify_ct))
    if max(sizes) > drafted + 1:
        raise InputError(say("large_part", count=max(sizes), drafted=drafted))
    if end.histogram is None:
        raise InputError(say("no_histogram"))
    counted = Counter({correct: steps for correct, steps in enumerate(end.histogram) if steps})
    whole = Counter(size - 1 for size in sizes[1:-1])  # the last step may have been cut by the output's end
    last = max(counted - whole, default=-1)
    if whole - counted or counted.total() != len(sizes) - 1 or last < sizes[-1] - 1:
        raise InputError(say("sizes_contradict"))
    return last


def _texts(parts: Sequence[SglangChunk], sizes: Sequence[int]) -> tuple[str, list[str]]:
    """The whole text, and what each part with tokens adds. A part's text is all so far, or only what is new."""
    so_far, added, before = "", list[str](), 0
    cumulative = _is_cumulative(parts)
    for part in parts:
        new = part.text or ""
        piece = new[len(so_far) :] if cumulative else new
        so_far += piece
        if part.meta_info.completion_tokens > before:
            added.append(piece)
        elif added:
            added[-1] += piece
        before = part.meta_info.completion_tokens
    return so_far, added


def _is_cumulative(parts: Sequence[SglangChunk]) -> bool:
    last = parts[-1]
    if last.output_ids is not None:
        return len(last.output_ids) == last.meta_info.completion_tokens
    return all((after.text or "").startswith(before.text or "") for before, after in pairwise(parts))


def _ids(parts: Sequence[SglangChunk], count: int) -> list[int]:
    last = parts[-1].output_ids or []
    return last if len(last) == count else [token_id for part in parts for token_id in part.output_ids or []]


def _stopped_by(end: SglangMeta) -> StoppedBy:
    reason = end.finish_reason
    at_a_string = reason and reason.type == "stop" and not isinstance(reason.matched, int)
    return "other" if reason is None or at_a_string else ended(reason.type, "length", "stop")
