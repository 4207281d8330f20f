"""llama.cpp's server: a stream of /completion or /v1/chat/completions, asked for with `timings_per_token`.

Read in ggml-org/llama.cpp, commit 001d906: tools/server/server-context.cpp (`post_decode`: `n_draft_accepted` grows
when a draft was judged, before the first token of the round is sent; `n_draft_tokens` grows when it was made) and
tools/server/server-task.cpp (`to_json`: `timings` holds predicted_n, draft_n, draft_n_accepted; the last two are
missing as long as nothing was drafted).

So the part of the stream in which the two counters have grown begins a round, which writes its accepted tokens and one
more. A token that no round covers was written by a pass without a draft, as is the first one. A target that cannot
forget single tokens (recurrent layers) reads a partly accepted draft a second time: that pass is shown as one without a
draft. Older servers count for such a target only the drafts that were accepted whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from specviz.core.errors import InputError
from specviz.core.outside import MostItems
from specviz.core.settings import MAX_SEED
from specviz.core.texts import Sentences
from specviz.core.trace import MAX_TOKENS
from specviz.data.systems.importers.assembling import (
    CUT,
    RecordOptions,
    RecordStep,
    StoppedBy,
    SystemReport,
    WrittenToken,
    cut,
    first,
    tokens_of,
    written_of,
)
from specviz.data.systems.importers.record import (
    MOST_CHOICES,
    Count,
    Ids,
    Milliseconds,
    RecordPiece,
    ResponseChoice,
    TokenCount,
    reader,
)

say = Sentences("records")

MARKS = "The rounds are where the server’s counters grow. The first token, and any other outside a round, has no draft."
ENDED = (
    "llama.cpp counts the end of a text as the target’s own token, also where the draft had guessed it: whether the "
    "draft of the last round was right there is not reported."
)
JOINED = "Some parts of the stream hold several tokens: their text is cut into as many pieces."
RANDOM_SEED = 2**32 - 1  # the server chose one and does not say which


@dataclass(frozen=True, slots=True)
class Timings:
    """Running totals. Absent draft counters are 0."""

    predicted_n: TokenCount
    draft_n: Count = 0
    draft_n_accepted: Count = 0
    prompt_ms: Milliseconds | None = None


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    temperature: Annotated[float, Field(ge=-100, le=10, allow_inf_nan=False)] | None = None
    top_k: int | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class LlamaCppChunk:
    content: str | None = None  # of /completion
    tokens: Ids | None = None
    choices: Annotated[list[ResponseChoice], MostItems(MOST_CHOICES)] | None = None  # of OpenAI's format
    timings: Timings | None = None
    model: str | None = None
    prompt: str | Annotated[list[int | str], MostItems(MAX_TOKENS)] | None = None
    stop_type: str | None = None
    generation_settings: SamplingOptions | None = None
    system_fingerprint: str | None = None
    created: int | None = None

    @property
    def text(self) -> str:
        return (self.content or "") + "".join(choice.written for choice in self.choices or [])


read_parts = reader(LlamaCppChunk)


def read(pieces: Sequence[RecordPiece], given: RecordOptions) -> SystemReport:
    parts = read_parts(pieces)
    counted = _counted(parts)
    text = "".join(part.text for part in parts)
    stopped_by = _stopped_by(parts)
    written, note = _written(parts, given, stopped_by)
    end = parts[-1]
    build = first(part.system_fingerprint for part in parts) or ""
    prompt_ms = counted[-1].prompt_ms
    steps = _steps(counted)
    inside = steps[-1].accepted < steps[-1].drafted and stopped_by != "length"
    return SystemReport(
        f"llama.cpp {build}".strip(),
        steps,
        written,
        text,
        stopped_by,
        target=first(part.model for part in parts),
        prompt=end.prompt if isinstance(end.prompt, str) else None,
        prefill_seconds=None if prompt_ms is None else prompt_ms / 1000,
        created=first(part.created for part in parts),
        settings=_settings(end.generation_settings),
        notes=(MARKS, ENDED if inside else "", note),
    )


def steps_of(pieces: Sequence[RecordPiece]) -> list[RecordStep]:
    """The passes of the target; InputError where the counters do not say them."""
    return _steps(_counted(read_parts(pieces)))


def _counted(parts: Sequence[LlamaCppChunk]) -> list[Timings]:
    counted = [part.timings for part in parts if part.timings]
    if len(counted) < 2:
        raise InputError(say("counters_unknown"))
    if not counted[-1].draft_n:
        raise InputError(say("no_draft_n"))
    return counted


def _steps(counted: Sequence[Timings]) -> list[RecordStep]:
    steps, covered, before = list[RecordStep](), 0, Timings(0)
    for now in counted:
        drafted, accepted = now.draft_n - before.draft_n, now.draft_n_accepted - before.draft_n_accepted
        if min(drafted, accepted, now.predicted_n - before.predicted_n) < 0:
            raise InputError(say("counter_smaller"))
        if now.predicted_n == before.predicted_n:
            continue  # a last part without a token
        if drafted or accepted:
            if covered >= now.predicted_n:
                raise InputError(say("counters_early"))
            plain = max(0, before.predicted_n - covered)
            steps += [RecordStep(0, 0)] * plain + [RecordStep(drafted, accepted)]
            covered += plain + accepted + 1
        before = now
    return [*steps, *[RecordStep(0, 0)] * (before.predicted_n - covered)]


def _written(parts: Sequence[LlamaCppChunk], given: RecordOptions, stopped_by: str) -> tuple[list[WrittenToken], str]:
    """The tokens: each part of a stream usually holds one."""
    ids = [token_id for part in parts for token_id in part.tokens or []]
    pieces, before = list[tuple[str, int]](), 0
    ahead = _counts_ahead(parts)
    for part in parts:
        counted = part.timings.predicted_n - before if part.timings else 0
        before += counted
        # A character of several tokens comes at once, and with the id of its last token alone.
        new = counted if not ahead else len(part.tokens) if part.tokens is not None else bool(part.text)
        if new:
            pieces.append((part.text, new))
        elif pieces:  # held back until the end, because it could have begun a stop string
            pieces[-1] = (pieces[-1][0] + part.text, pieces[-1][1])
    joined = any(tokens > 1 for _, tokens in pieces)
    if given.tokenizer and (joined or len(ids) == len(pieces)):
        return tokens_of(pieces, ids, given.tokenizer, ended=stopped_by == "eos")
    texts = [piece for text, tokens in pieces for piece in cut(text, tokens)]
    return written_of(texts, ids), f"{JOINED} {CUT.split('. ')[-1]}" if joined else ""


def _counts_ahead(parts: Sequence[LlamaCppChunk]) -> bool:
    """Whether the counters grow by a whole round before its tokens come, one in each part."""
    totals = [part.timings.predicted_n for part in parts if part.timings and part.text]
    waits = [after == before for before, after in pairwise(totals)]
    return any(waits[:-1]) and any(after > before + 1 for before, after in pairwise(totals))


def _settings(found: SamplingOptions | None) -> dict[str, object]:
    if found is None:
        return {}
    seeded = found.seed is not None and 0 <= found.seed <= MAX_SEED and found.seed != RANDOM_SEED
    return {
        "temperature": None if found.temperature is None else max(0.0, found.temperature),
        "top_k": found.top_k if (found.top_k or 0) > 0 else None,
        "top_p": found.top_p or None,
        "seed": found.seed if seeded else None,
    }


def _stopped_by(parts: Sequence[LlamaCppChunk]) -> StoppedBy:
    reasons = [part.stop_type for part in parts if part.stop_type and part.stop_type != "none"]
    reasons += [choice.finish_reason for part in parts for choice in part.choices or [] if choice.finish_reason]
    if "limit" in reasons or "length" in reasons:
        return "length"
    return "eos" if "eos" in reasons else "other"
