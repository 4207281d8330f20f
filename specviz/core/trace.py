"""The trace: one decode run as data. Everything on screen is computed from it.

The dataclasses mirror the trace file field by field. Decoding builds them unchecked, for speed.
`read_trace` checks everything: types, ranges, size, schema version and the bookkeeping.
"""

import operator
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import FailFast, Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.outline import missing_field, read_outline
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
    forward: Name | None = None  # who read tokens: "light" (specviz) or "transformers"; None: not reported


@dataclass(frozen=True, slots=True)
class DrafterInfo:
    """Who drafted: a model, or a rule without a model (the model fields are then None)."""

    kind: Name  # "model", "prompt-lookup", "person", ...
    name: Name
    parameters: Annotated[int, Field(ge=0)] | None = None
    dtype: Name | None = None
    weights_hash: Name | None = None
    forward: Name | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt as text and as the target's tokens."""

    text: Text
    token_ids: Annotated[list[TokenId], FailFast(), Field(min_length=1, max_length=MAX_TOKENS)]
    tokens: Annotated[list[Piece], FailFast(), Field(max_length=MAX_TOKENS)]  # one display text per id


@dataclass(frozen=True, slots=True)
class PrefillSeconds:
    """Time to read the prompt; it is not part of decoding."""

    target: Seconds
    draft: Seconds


@dataclass(frozen=True, slots=True)
class Autoregressive:
    """The run for comparison: the target alone, one token a step."""

    seconds_per_token: Annotated[list[Seconds], FailFast(), Field(max_length=MAX_TOKENS)]
    token_ids: Annotated[list[TokenId], FailFast(), Field(max_length=MAX_TOKENS)]
    # Whether it took turns with the rounds: as many tokens after each round. The file leaves out a False.
    alternating: Annotated[bool, Field(exclude_if=operator.not_)] = False


@dataclass(frozen=True, slots=True)
class Output:
    """The text that the run wrote, without the prompt."""

    token_ids: Annotated[list[TokenId], FailFast(), Field(max_length=MAX_TOKENS)]
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
    rounds: Annotated[list[Round], FailFast(), Field(max_length=MAX_TOKENS)]
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


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a trace file may be."""

    megabytes: int
    rounds: int
    dense: bool  # whether it may have many values for its size, which then take much memory

    @property
    def bytes(self) -> int:
        """The largest size."""
        return self.megabytes * 10**6


FILE = Limits(megabytes=32, rounds=MAX_TOKENS, dense=True)  # on the command line
UPLOAD = Limits(megabytes=4, rounds=2_000, dense=False)  # on a server that others use too


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
            content = opened.read(FILE.bytes + 1)  # a limit, because a file can be larger than its size says
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from error
    return parse_trace(content)


def parse_trace(content: str | bytes, limits: Limits = FILE) -> Trace:
    """Check a trace file's content: size, schema version, types, ranges, bookkeeping.

    Reading a trace takes about 7 times its size in memory; a hostile upload at most 10 times, see
    `specviz.core.outline`.

    Raises:
        InputError: one sentence that says what is wrong and where.
    """
    raw = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    raw = raw.removeprefix(BOM_UTF8)  # some editors write it
    if len(raw) > limits.bytes:
        raise InputError(f"The file is larger than {limits.megabytes} MB.")
    _check_outline(read_outline(raw, dense=limits.dense))
    try:
        trace = _TRACE.validate_json(raw, strict=True)
    except ValidationError as error:
        raise InputError(_first_problem(error)) from None
    if len(trace.rounds) > limits.rounds:
        raise InputError(f"The trace has {len(trace.rounds):,} rounds; at most {limits.rounds:,} can be shown here.")
    for problem in _bookkeeping_problems(trace):
        raise InputError(f"The trace contradicts itself: {problem}.")
    return trace


def _check_outline(outline: object) -> None:
    """The version first: the rest of another version's file may be anything."""
    schema = outline.get("schema", SCHEMA) if isinstance(outline, dict) else SCHEMA
    if schema != SCHEMA:
        raise InputError(f"The trace's schema is {str(schema)[:40]!r}; this version reads schema {SCHEMA}.")
    if missing := missing_field(outline, Trace):
        raise InputError(f"The trace is not valid at {missing}: Field required.")


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the file"
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
