"""The trace: one decode run as data. Everything on screen is computed from it.

The dataclasses mirror the trace file field by field. Decoding builds them unchecked, for speed.
`read_trace` checks everything: types, ranges, size, schema version and the bookkeeping.
"""

import operator
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from specviz.core.drafters import method_of
from specviz.core.errors import InputError
from specviz.core.files import content_of
from specviz.core.outside import MOST_PROBLEMS, MostItems, check_density, not_valid, read_outside
from specviz.core.rounds import Candidate as Candidate  # parts of a round: readers of a trace import them from here
from specviz.core.rounds import DraftedToken as DraftedToken
from specviz.core.rounds import EmittedToken as EmittedToken
from specviz.core.rounds import Piece, Seconds, TokenId, round_problems
from specviz.core.rounds import ResidualCandidate as ResidualCandidate
from specviz.core.rounds import Round as Round
from specviz.core.rounds import Status as Status
from specviz.core.settings import MAX_DRAFT_LENGTH, MAX_NODES, DecodeSettings
from specviz.core.texts import Sentences

say = Sentences("files")

if TYPE_CHECKING:
    import pandas as pd

SCHEMA: Literal[2] = 2  # what is written; schema 1 is the same without trees, joint verification and heads
MAX_TOKENS = 65_536  # in a prompt or an output

Name = Annotated[str, Field(max_length=300)]
Text = Annotated[str, Field(max_length=2_000_000)]
# The GPU that computed, by its name. None: the processor, or not reported; the file leaves it out.
Device = Annotated[Name | None, Field(exclude_if=lambda device: device is None)]


@dataclass(frozen=True, slots=True)
class Machine:
    machine: Name
    torch: Name
    transformers: Name
    threads: Annotated[int, Field(ge=0)]  # 0: not reported
    # The widest ones of the processor that torch can use, such as avx2. Empty: not reported; the file leaves it out.
    instructions: Annotated[Name, Field(exclude_if=lambda name: not name)] = ""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Which weights were used, in which number format."""

    name: Name
    parameters: Annotated[int, Field(ge=0)]  # 0: not reported
    dtype: Name
    weights_hash: Name  # of the weight files, to notice later that they changed
    forward: Name | None = None  # who read tokens: "light" (specviz) or "transformers"; None: not reported
    device: Device = None

    def make_drafter_info(self, kind: str) -> "DrafterInfo":
        return DrafterInfo(kind, self.name, self.parameters, self.dtype, self.weights_hash, self.forward, self.device)


@dataclass(frozen=True, slots=True)
class DrafterInfo:
    """Who drafted: a model, or a rule without a model (the model fields are then None)."""

    kind: Name  # of a method of `core/drafters.py`, or what another program calls its own
    name: Name
    parameters: Annotated[int, Field(ge=0)] | None = None
    dtype: Name | None = None
    weights_hash: Name | None = None
    forward: Name | None = None
    device: Device = None

    @property
    def asked_as(self) -> str:
        method = method_of(self.kind)
        return self.name if method.takes else method.name or self.name


@dataclass(frozen=True, slots=True)
class Prompt:
    text: Text
    token_ids: Annotated[list[TokenId], MostItems(MAX_TOKENS)]  # empty: not reported
    tokens: Annotated[list[Piece], MostItems(MAX_TOKENS)]  # one display text per id


@dataclass(frozen=True, slots=True)
class PrefillSeconds:
    """Time to read the prompt; it is not part of decoding."""

    target: Seconds | None  # None where another system wrote the run and does not report it
    draft: Seconds | None


@dataclass(frozen=True, slots=True)
class Autoregressive:
    """The run for comparison: the target alone, one token a step."""

    seconds_per_token: Annotated[list[Seconds], MostItems(MAX_TOKENS)]
    token_ids: Annotated[list[TokenId], MostItems(MAX_TOKENS)]
    # Whether it took turns with the rounds: as many tokens after each round. The file leaves out a False.
    alternating: Annotated[bool, Field(exclude_if=operator.not_)] = False
    # Whether the costs that were measured beside it show that the machine was busy.
    disturbed: Annotated[bool, Field(exclude_if=operator.not_)] = False


@dataclass(frozen=True, slots=True)
class Output:
    token_ids: Annotated[list[TokenId], MostItems(MAX_TOKENS)]  # empty where they are not reported
    text: Text
    # None only during the run: never in a file. "other": another system wrote the run, and stopped it otherwise.
    stopped_by: Literal["length", "eos", "other"] | None


@dataclass(frozen=True, slots=True)
class SourceSystem:
    """The system that wrote a run, if it was not this program."""

    system: Name  # with its version where the record has one
    notes: Annotated[list[Text], MostItems(20)]  # sentences: how the record was read
    unknown: Annotated[list[Name], MostItems(20)]  # settings that it does not report


@dataclass(frozen=True, slots=True)
class Trace:
    """A decode run: settings, models, prompt, rounds, timings, output."""

    schema: Literal[1, 2]
    created: Name  # ISO 8601, UTC
    recorded_on: Machine
    target: ModelInfo
    drafter: DrafterInfo | None  # None: the target alone
    settings: DecodeSettings
    prompt: Prompt
    prefill_seconds: PrefillSeconds
    rounds: Annotated[list[Round], MostItems(MAX_TOKENS)]
    autoregressive: Autoregressive | None
    output: Output
    imported: Annotated[SourceSystem | None, Field(exclude_if=lambda imported: imported is None)] = None

    @property
    def timed(self) -> bool:
        """Whether every round has its times; a run that another system wrote may have none."""
        return all(round.seconds is not None for round in self.rounds)

    def to_frame(self) -> "pd.DataFrame":
        """One row for each guess and for each token that the target added, in the order of the rounds.

        Columns:
            round: the round's index, from 0.
            position: the token's place in the draft, from 1; in a tree its depth, which siblings share. A correction
                has the position of the token it replaces; a bonus comes after the last accepted token, and an own token
                has position 1.
            status: accepted, rejected, discarded, not taken (a node of a tree that was never judged), correction, bonus
                or own (nothing was drafted).
            id, text: the token; the text may be part of a character. The id is missing (NA) where another system wrote
                the run and does not report it.
            p, q: the probability that the target and the draft gave the token, from 0 to 1.
            u: the random number that decided; a token is accepted where u < accept_prob.
            accept_prob: the probability of accepting the token.
            parent: in a tree, the drafted token that it follows, counted from the round's first as 0; -1 is the text.
                NA in a chain, and for a token that the target added.

        p, q, u and accept_prob are NaN where the run has none: recording was off, the run was greedy (u), the token was
        discarded (u, accept_prob) or added by the target (q, u, accept_prob). A run of the target alone has no rows.
        """
        rows = list[tuple[Any, ...]]()
        for round in self.rounds:
            for depth, token in zip(round.depths, round.drafted, strict=True):
                probabilities = token.target_prob, token.draft_prob, token.u, token.accept_prob
                rows.append((round.index, depth + 1, token.status, token.id, token.shown, *probabilities, token.parent))
            if (added := round.emitted).kind != "none":
                known = round.added, added.id, added.text, added.target_prob
                rows.append((round.index, round.accepted + 1, *known, None, None, None, None))
        import pandas as pd  # half a second, and most programs need no frame

        # The types are set even where there are no rows, so that a frame of any run can be computed with.
        return pd.DataFrame.from_records(rows, columns=list(TOKEN_COLUMNS)).astype(TOKEN_COLUMNS)


TOKEN_COLUMNS = {"round": "int64", "position": "int64", "status": "str", "id": "Int64", "text": "str"}
TOKEN_COLUMNS |= dict.fromkeys(("p", "q", "u", "accept_prob"), "float64") | {"parent": "Int64"}


def drop_candidates(trace: Trace) -> Trace:
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
class TraceLimits:
    megabytes: int
    rounds: int
    drafted: int  # tokens of all rounds, where another system's record counts them


FILE = TraceLimits(megabytes=32, rounds=MAX_TOKENS, drafted=240_000)  # on the command line
UPLOAD = TraceLimits(megabytes=4, rounds=2_000, drafted=24_000)  # on a server that others use too

_TRACE: TypeAdapter[Trace] = TypeAdapter(Trace)
_MADE: TypeAdapter[Any] = TypeAdapter(Trace | None, config=ConfigDict(revalidate_instances="always"))  # needs a union


def dump_trace(trace: Trace) -> str:
    return _TRACE.dump_json(trace).decode()


def read_trace(path: str | PathLike[str]) -> Trace:
    """Read and check a trace file; the InputError of a file that is none says what is wrong and where."""
    return parse_trace(content_of(Path(path), FILE.megabytes * 10**6))


def parse_trace(content: str | bytes, limits: TraceLimits = FILE) -> Trace:
    """Check a trace file's content: size, schema version, types, ranges, bookkeeping.

    The InputError is one sentence that says what is wrong and where.
    """
    raw = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    raw = raw.removeprefix(BOM_UTF8)  # some editors write it
    _check_size(raw, limits)
    return _check_consistency(read_outside(_TRACE, raw, "trace"), limits)


def check_trace(trace: Trace, limits: TraceLimits = FILE) -> Trace:
    """A trace that was made of a record, checked as its file would be, without reading one; else InputError."""
    try:
        checked: Trace = _MADE.validate_python(trace, strict=True)
    except ValidationError as error:
        raise not_valid("trace", error) from None
    raw = _TRACE.dump_json(checked)  # what is written must be readable
    _check_size(raw, limits)
    check_density(raw, "trace")
    return _check_consistency(checked, limits)


def _check_size(raw: bytes, limits: TraceLimits) -> None:
    if len(raw) > limits.megabytes * 10**6:
        raise InputError(say("too_large", most=limits.megabytes))


def _check_consistency(trace: Trace, limits: TraceLimits) -> Trace:
    if len(trace.rounds) > limits.rounds:
        raise InputError(say("too_many_rounds", count=len(trace.rounds), most=limits.rounds))
    if contradictions := list(islice(_bookkeeping_problems(trace), MOST_PROBLEMS)):
        raise InputError(say("contradicts", problems="; ".join(contradictions)))
    return trace


def _bookkeeping_problems(trace: Trace) -> Iterator[str]:
    if trace.prompt.token_ids and len(trace.prompt.tokens) != len(trace.prompt.token_ids):
        yield "prompt.tokens and prompt.token_ids differ in length"
    if not trace.prompt.token_ids and not trace.imported:
        yield "prompt.token_ids is empty"
    imported = trace.imported is not None
    free = imported or trace.settings.draft_schedule == "heuristic"  # a round can draft more than draft_length
    longest = MAX_NODES if imported else MAX_DRAFT_LENGTH if free else trace.settings.draft_length
    shape = trace.settings.tree_shape
    for position, round in enumerate(trace.rounds):
        if round.index != position:
            yield f"rounds.{position} has index {round.index}"
        yield from (f"rounds.{position} {problem}" for problem in round_problems(round))
        if round.depth > longest:
            limit = longest if free else "draft_length"
            yield f"rounds.{position} drafts {round.depth} tokens, more than {limit}"
        if round.is_tree and (shape is None or len(round.drafted) > shape.nodes):
            yield f"rounds.{position} drafts a tree that the setting tree, {trace.settings.tree}, does not allow"
    ids, plain = trace.output.token_ids, trace.autoregressive
    if plain and len(plain.seconds_per_token) != len(plain.token_ids):
        yield "autoregressive.seconds_per_token and autoregressive.token_ids differ in length"
    if trace.drafter is None and (trace.rounds or not plain or plain.token_ids != ids):
        yield "a run without a drafter has no rounds, and its output is autoregressive.token_ids"
    reported = [token_id for round in trace.rounds for token_id in round.emitted_ids]
    written = sum(round.emits for round in trace.rounds)
    if trace.drafter and reported != ids:
        yield "output.token_ids is not what the rounds emit"
    if trace.drafter and len(reported) not in (0, written):
        yield f"the rounds emit {written} tokens, and {len(reported)} of them have an id"
    tokens = written if trace.drafter else len(ids)
    if not 1 <= tokens <= trace.settings.max_new_tokens:
        yield f"output.token_ids holds {tokens} tokens, with max_new_tokens {trace.settings.max_new_tokens}"
    if trace.output.stopped_by is None:
        yield "output.stopped_by is missing"
    if trace.output.stopped_by == "length" and tokens != trace.settings.max_new_tokens:
        yield "output.stopped_by is 'length' before max_new_tokens"
