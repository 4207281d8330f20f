"""The trace: one decode run as data. Everything a person sees is a pure function of one.

The dataclasses mirror the trace file field by field. Decoding builds them unchecked, for speed;
`read_trace` trusts nothing and checks types, ranges, size, schema version and the bookkeeping.
"""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings

SCHEMA: Literal[1] = 1
Status = Literal["accepted", "rejected", "discarded"]
EmittedKind = Literal["correction", "bonus", "none"]
MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_TOKENS = 65_536  # in a prompt or an output
MAX_CANDIDATES = 64

TokenId = Annotated[int, Field(ge=0, lt=2**31)]
Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(max_length=300)]
Piece = Annotated[str, Field(max_length=2_000)]  # one token's text; bytes that are no whole character stand as ⟨E2⟩
Text = Annotated[str, Field(max_length=2_000_000)]


class Candidate(NamedTuple):
    """One alternative at a position, with what each model thought of it."""

    id: TokenId
    text: Piece
    p: Probability  # target
    q: Probability | None  # draft; None where it is unknown: at a bonus, and from a draft with another tokenizer


class ResidualCandidate(NamedTuple):
    """One of the likeliest tokens of the residual a correction was drawn from."""

    id: TokenId
    text: Piece
    r: Probability


@dataclass(frozen=True, slots=True)
class DraftedToken:
    """One token the draft proposed, and what became of it."""

    id: TokenId
    text: Piece
    status: Status
    target_prob: Probability | None = None  # None where recording was off
    draft_prob: Probability | None = None  # None too where the draft has another tokenizer: of this token it has none
    accept_prob: Probability | None = None  # None for a discarded token: it was never judged
    u: Probability | None = None  # the number drawn; None when greedy
    candidates: Annotated[list[Candidate], Field(max_length=MAX_CANDIDATES)] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EmittedToken:
    """The token the target adds at the end of a round; none after an accepted end of text."""

    kind: EmittedKind
    id: TokenId | None = None
    text: Piece = ""
    target_prob: Probability | None = None
    candidates: Annotated[list[Candidate], Field(max_length=MAX_CANDIDATES)] = field(default_factory=list)
    residual_top: Annotated[list[ResidualCandidate], Field(max_length=MAX_CANDIDATES)] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Round:
    """One draft phase and the target pass that judged it."""

    index: Annotated[int, Field(ge=0)]
    draft_seconds: Seconds
    verify_seconds: Seconds
    overhead_seconds: Seconds  # the rest of the round, without recording
    drafted: Annotated[list[DraftedToken], Field(max_length=64)]
    emitted: EmittedToken
    # What a draft with another tokenizer wrote, in its own tokens; left out of a file where there is nothing to say.
    draft_tokens: Annotated[list[Piece], Field(max_length=64, exclude_if=operator.not_)] = field(default_factory=list)

    @property
    def accepted(self) -> int:
        """Number of drafted tokens that survived."""
        return sum(token.status == "accepted" for token in self.drafted)

    @property
    def rejected(self) -> int:
        """0 or 1: at most one drafted token a round is judged and fails."""
        return sum(token.status == "rejected" for token in self.drafted)

    @property
    def discarded(self) -> int:
        """Number of drafted tokens that were never judged."""
        return sum(token.status == "discarded" for token in self.drafted)

    @property
    def seconds(self) -> float:
        """The whole round, in seconds."""
        return self.draft_seconds + self.verify_seconds + self.overhead_seconds

    @property
    def emitted_ids(self) -> list[int]:
        """The token ids this round adds to the text."""
        kept = [token.id for token in self.drafted if token.status == "accepted"]
        return kept if self.emitted.id is None else [*kept, self.emitted.id]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a run was recorded."""

    machine: Name
    torch: Name
    transformers: Name
    threads: Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Which weights took part, in which number format."""

    name: Name
    parameters: Annotated[int, Field(ge=0)]
    dtype: Name
    weights_hash: Name  # of the files the weights came from, so that a later reader can tell they changed


@dataclass(frozen=True, slots=True)
class DrafterInfo:
    """Who drafted: a model, or a rule without one (its model fields are then None)."""

    kind: Name  # "model", "prompt-lookup", "person", ...
    name: Name
    parameters: Annotated[int, Field(ge=0)] | None = None
    dtype: Name | None = None
    weights_hash: Name | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt as text and as the target's tokens."""

    text: Text
    token_ids: Annotated[list[TokenId], Field(min_length=1, max_length=MAX_TOKENS)]
    tokens: Annotated[list[Piece], Field(max_length=MAX_TOKENS)]  # one display text per id


@dataclass(frozen=True, slots=True)
class PrefillSeconds:
    """Time to read the prompt, apart from decoding."""

    target: Seconds
    draft: Seconds


@dataclass(frozen=True, slots=True)
class Autoregressive:
    """The run this one is compared with: the target alone, one token a step."""

    seconds_per_token: Annotated[list[Seconds], Field(max_length=MAX_TOKENS)]
    token_ids: Annotated[list[TokenId], Field(max_length=MAX_TOKENS)]


@dataclass(frozen=True, slots=True)
class Output:
    """What the run wrote, without the prompt."""

    token_ids: Annotated[list[TokenId], Field(max_length=MAX_TOKENS)]
    text: Text
    stopped_by: Literal["length", "eos"] | None  # None only while the run is still going: never in a file


@dataclass(frozen=True, slots=True)
class Trace:
    """A decode run: settings, models, prompt, rounds, timings, output."""

    schema: Literal[1]
    created: Name  # ISO 8601, UTC
    recorded_on: Machine
    target: ModelInfo
    drafter: DrafterInfo | None  # None: the target alone
    settings: DecodeSettings
    prompt: Prompt
    prefill_seconds: PrefillSeconds
    rounds: Annotated[list[Round], Field(max_length=MAX_TOKENS)]
    autoregressive: Autoregressive | None
    output: Output


_TRACE: TypeAdapter[Trace] = TypeAdapter(Trace)
_ROUND: TypeAdapter[Round] = TypeAdapter(Round)


def dump_trace(trace: Trace) -> str:
    """The trace file's JSON text."""
    return _TRACE.dump_json(trace).decode()


def dump_round(round: Round) -> str:
    """One round as the trace file writes it."""
    return _ROUND.dump_json(round).decode()


def parse_round(text: str | bytes) -> Round:
    """The round `dump_round` wrote; types and ranges are checked, its place in a trace is not."""
    return _ROUND.validate_json(text)


def read_trace(path: str | PathLike[str]) -> Trace:
    """Read and check a trace file.

    Raises:
        InputError: the file cannot be read, or is no trace this version understands; says what and where.
    """
    file = Path(path)
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_FILE_BYTES + 1)  # no more, whatever size the file claims or hides
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from error
    return parse_trace(content)


def parse_trace(content: str | bytes) -> Trace:
    """Check a trace file's content: size, types, ranges, schema version, bookkeeping.

    Raises:
        InputError: one sentence that says what is wrong and where.
    """
    if len(content) > MAX_FILE_BYTES:
        raise InputError(f"The trace is larger than {MAX_FILE_BYTES // 2**20} MB: no trace is.")
    try:
        trace = _TRACE.validate_json(content, strict=True)
    except ValidationError as error:
        raise InputError(_first_problem(error)) from None
    for problem in _bookkeeping_problems(trace):
        raise InputError(f"The trace contradicts itself: {problem}.")
    return trace


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=True)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    if first["loc"][:1] == ("schema",):
        return f"The trace's schema is {str(first['input'])[:40]!r}; this version reads schema {SCHEMA}."
    what = first["msg"].removeprefix("Value error, ").rstrip(".")
    return f"The trace is not valid at {where[:120]}: {what[:200]}."


def _bookkeeping_problems(trace: Trace) -> Iterator[str]:
    """What the fields say of each other, checked in the order of the file."""
    if len(trace.prompt.tokens) != len(trace.prompt.token_ids):
        yield "prompt.tokens and prompt.token_ids differ in length"
    adapts = trace.settings.draft_schedule == "heuristic"  # beyond the length it starts from
    longest = MAX_DRAFT_LENGTH if adapts else trace.settings.draft_length
    for position, round in enumerate(trace.rounds):
        if round.index != position:
            yield f"rounds.{position} has index {round.index}"
        if len(round.drafted) > longest:
            limit = longest if adapts else "draft_length"
            yield f"rounds.{position} drafts {len(round.drafted)} tokens, more than {limit}"
        yield from (f"rounds.{position} {problem}" for problem in _round_problems(round))
    yield from _output_problems(trace)


def _round_problems(round: Round) -> Iterator[str]:
    statuses = [token.status for token in round.drafted]
    in_order = ["accepted"] * round.accepted + ["rejected"] * round.rejected + ["discarded"] * round.discarded
    if statuses != in_order or round.rejected > 1:
        yield "has statuses out of order"
    kind = round.emitted.kind
    if (kind == "none") != (round.emitted.id is None):
        yield f"emits kind {kind!r} with id {round.emitted.id}"
    if (kind == "correction") != (round.rejected == 1):
        yield f"emits kind {kind!r} with {round.rejected} rejected"
    if round.discarded and not round.rejected and kind != "none":
        yield "discards tokens without a rejection or an end of text"
    if kind == "none" and not round.accepted:
        yield "emits nothing"


def _output_problems(trace: Trace) -> Iterator[str]:
    written = trace.output.token_ids
    plain = trace.autoregressive
    if plain and len(plain.seconds_per_token) != len(plain.token_ids):
        yield "autoregressive.seconds_per_token and autoregressive.token_ids differ in length"
    if trace.drafter is None and (trace.rounds or not plain or plain.token_ids != written):
        yield "a run without a drafter has no rounds, and its output is autoregressive.token_ids"
    if trace.drafter and [token for round in trace.rounds for token in round.emitted_ids] != written:
        yield "output.token_ids is not what the rounds emit"
    if not 1 <= len(written) <= trace.settings.max_new_tokens:
        yield f"output.token_ids holds {len(written)} tokens, with max_new_tokens {trace.settings.max_new_tokens}"
    if trace.output.stopped_by is None:
        yield "output.stopped_by is missing"
    if trace.output.stopped_by == "length" and len(written) != trace.settings.max_new_tokens:
        yield "output.stopped_by is 'length' before max_new_tokens"
