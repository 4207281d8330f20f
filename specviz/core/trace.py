"""The trace: one decode run as data. Everything on screen is computed from it.

The dataclasses mirror the trace file field by field. Decoding builds them unchecked, for speed.
`read_trace` checks everything: types, ranges, size, schema version and the bookkeeping.
"""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.rounds import (
    Candidate,
    DraftedToken,
    EmittedKind,
    EmittedToken,
    Piece,
    Probability,
    ResidualCandidate,
    Round,
    Seconds,
    Status,
    TokenId,
    dump_round,
    parse_round,
)
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings

if TYPE_CHECKING:
    import pandas as pd

__all__ = [  # also the parts of a round: readers of a trace need both
    "Autoregressive",
    "Candidate",
    "DraftedToken",
    "DrafterInfo",
    "EmittedKind",
    "EmittedToken",
    "Machine",
    "ModelInfo",
    "Output",
    "Piece",
    "PrefillSeconds",
    "Probability",
    "Prompt",
    "ResidualCandidate",
    "Round",
    "Seconds",
    "Status",
    "TokenId",
    "Trace",
    "dump_round",
    "dump_trace",
    "parse_round",
    "parse_trace",
    "read_trace",
    "without_candidates",
]

SCHEMA: Literal[1] = 1
MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_TOKENS = 65_536  # in a prompt or an output

Name = Annotated[str, Field(max_length=300)]
Text = Annotated[str, Field(max_length=2_000_000)]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a run was recorded."""

    machine: Name
    torch: Name
    transformers: Name
    threads: Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Which weights were used, in which number format."""

    name: Name
    parameters: Annotated[int, Field(ge=0)]
    dtype: Name
    weights_hash: Name  # of the weight files, to notice later that they changed


@dataclass(frozen=True, slots=True)
class DrafterInfo:
    """Who drafted: a model, or a rule without a model (the model fields are then None)."""

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
    """Time to read the prompt; it is not part of decoding."""

    target: Seconds
    draft: Seconds


@dataclass(frozen=True, slots=True)
class Autoregressive:
    """The run for comparison: the target alone, one token a step."""

    seconds_per_token: Annotated[list[Seconds], Field(max_length=MAX_TOKENS)]
    token_ids: Annotated[list[TokenId], Field(max_length=MAX_TOKENS)]
    # Whether it took turns with the rounds: as many tokens after each round. The file leaves out a False.
    alternating: Annotated[bool, Field(exclude_if=operator.not_)] = False


@dataclass(frozen=True, slots=True)
class Output:
    """The text that the run wrote, without the prompt."""

    token_ids: Annotated[list[TokenId], Field(max_length=MAX_TOKENS)]
    text: Text
    stopped_by: Literal["length", "eos"] | None  # None only during the run: never in a file


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

    # pandas is imported by the two methods that need it: it takes half a second, and most programs need no frame.

    def to_frame(self) -> "pd.DataFrame":
        """The tokens of the rounds as a table, one row a token; see `specviz.core.frames.token_frame`."""
        from specviz.core.frames import token_frame

        return token_frame(self.rounds)

    def rounds_frame(self) -> "pd.DataFrame":
        """The rounds as a table, one row a round; see `specviz.core.frames.round_frame`."""
        from specviz.core.frames import round_frame

        return round_frame(self.rounds)


def without_candidates(trace: Trace) -> Trace:
    """The run without each token's alternatives, which are nine tenths of a trace; every figure can be made of it."""
    rounds = [
        replace(
            round,
            drafted=[replace(token, candidates=[]) for token in round.drafted],
            emitted=replace(round.emitted, candidates=[], residual_top=[]),
        )
        for round in trace.rounds
    ]
    return replace(trace, rounds=rounds)


_TRACE: TypeAdapter[Trace] = TypeAdapter(Trace)


def dump_trace(trace: Trace) -> str:
    """The trace file's JSON text."""
    return _TRACE.dump_json(trace).decode()


def read_trace(path: str | PathLike[str]) -> Trace:
    """Read and check a trace file.

    Raises:
        InputError: the file cannot be read, or is not a trace of this version; the message says what and where.
    """
    file = Path(path)
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_FILE_BYTES + 1)  # a limit, because a file can be larger than its size says
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from error
    return parse_trace(content)


def parse_trace(content: str | bytes) -> Trace:
    """Check a trace file's content: size, types, ranges, schema version, bookkeeping.

    Raises:
        InputError: one sentence that says what is wrong and where.
    """
    if len(content) > MAX_FILE_BYTES:
        raise InputError(f"The file is larger than {MAX_FILE_BYTES // 2**20} MB, so it is not a trace.")
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
    """Fields that contradict each other, in the order of the file."""
    if len(trace.prompt.tokens) != len(trace.prompt.token_ids):
        yield "prompt.tokens and prompt.token_ids differ in length"
    adapts = trace.settings.draft_schedule == "heuristic"  # it can draft more than the length it starts with
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
