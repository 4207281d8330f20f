"""A trace of what a record reports: its steps, and the text written. What it does not report is said to be unknown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, Literal, Protocol, TypeVar

from specviz.core.errors import InputError
from specviz.core.names import short_name
from specviz.core.rounds import DraftedToken, EmittedToken, Round, Status
from specviz.core.settings import MAX_DRAFT_LENGTH, MAX_NODES, DecodeSettings
from specviz.core.trace import (
    SCHEMA,
    DrafterInfo,
    Machine,
    ModelInfo,
    Output,
    PrefillSeconds,
    Prompt,
    SourceSystem,
    Trace,
    TraceLimits,
)
from specviz.systems.fields import say_record

T = TypeVar("T")
CUT = (
    "The record has no tokens, only the text: it is cut into as many pieces as there are tokens, so where a piece "
    "begins is a guess. A tokenizer (--tokenizer) gives the real ones."
)
CUT_WITH_IDS = CUT.replace("no tokens, only the text", "token ids, but no text of a token")
LONGEST_PIECE = 12  # characters of a word
StoppedBy = Literal["length", "eos", "other"]
UNKNOWN = "not reported"
SETTINGS = ("max_new_tokens", "draft_length", "temperature", "top_k", "top_p", "seed")  # others are never reported
NO_TIMES = "Probabilities, and the times of drafting and of checking, are not reported."
LONGEST_NAME = 300
SHOWN = 40  # characters of a piece of a prompt whose tokens are not known


@dataclass(frozen=True, slots=True)
class WrittenToken:
    text: str
    id: int | None = None  # None: not reported


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of the target: the tokens that it checked and accepted. Its own token is not counted."""

    drafted: int
    accepted: int
    guesses: Sequence[WrittenToken] = field(default=())  # the drafted tokens, where they are reported


PROMPT_PASS = Step(0, 0)  # the pass over the prompt, which writes the first token


class Tokenizer(Protocol):
    def texts(self, token_ids: Sequence[int]) -> list[str]:
        """The text of each id, as traces have it."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without special tokens."""


@dataclass(frozen=True, slots=True)
class RecordOptions:
    prompt: str = ""
    target: str | None = None
    draft: str | None = None
    temperature: float | None = None
    tokenizer: Tokenizer | None = None  # of the target


@dataclass(frozen=True, slots=True)
class SystemReport:
    """One run of a system. Its settings are those of `SETTINGS` that are reported."""

    system: str
    steps: Sequence[Step]
    written: Sequence[WrittenToken]  # by these steps
    text: str
    stopped_by: StoppedBy
    target: str | None = None
    draft: str | None = None
    prompt: str | None = None
    prompt_ids: Sequence[int] = ()
    prefill_seconds: float | None = None
    created: int | None = None  # seconds since 1970
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()


def trace_of(report: SystemReport, given: RecordOptions, limits: TraceLimits) -> Trace:
    """The trace of the run; InputError if it is too large, or contradicts itself."""
    if len(report.steps) > limits.rounds:  # before a round is made: a step of a few bytes can draft 64 tokens
        raise InputError(say_record("too_many_steps", count=len(report.steps), most=limits.rounds))
    if (drafted := sum(step.drafted for step in report.steps)) > limits.drafted:
        raise InputError(say_record("too_many_drafted", drafted=drafted, most=limits.drafted))
    rounds = _rounds(report.steps, report.written)
    written = sum(round.emits for round in rounds)
    known = {name: value for name, value in report.settings.items() if value is not None}
    if given.temperature is not None:
        known["temperature"] = given.temperature
    if report.stopped_by == "length":
        known["max_new_tokens"] = written
    longest = int(known.get("draft_length") or max(round.depth for round in rounds))
    settings = {"max_new_tokens": written, **known, "draft_length": max(1, min(longest, MAX_DRAFT_LENGTH))}
    text, ids, created = given.prompt or report.prompt or "", list(report.prompt_ids), UNKNOWN
    if given.tokenizer and ids and (texts := given.tokenizer.texts(ids)):
        prompt = Prompt(text or "".join(texts), ids, texts)
    else:
        prompt = Prompt(text, [], cut(text, len(text) // SHOWN + 1) if text else [])
    with suppress(ValueError, OverflowError, OSError):  # of a day that no calendar has
        created = UNKNOWN if report.created is None else datetime.fromtimestamp(report.created, UTC).isoformat()
    target, draft = (
        short_name(name)[:LONGEST_NAME] or UNKNOWN
        for name in (
            given.target or report.target or f"{report.system} target",
            given.draft or report.draft or f"{report.system} draft",
        )
    )
    return Trace(
        schema=SCHEMA,
        created=created,
        recorded_on=Machine(UNKNOWN, UNKNOWN, UNKNOWN, 0),
        target=ModelInfo(target, 0, UNKNOWN, UNKNOWN),
        drafter=DrafterInfo("other", draft),
        settings=DecodeSettings(**settings),
        prompt=prompt,
        prefill_seconds=PrefillSeconds(report.prefill_seconds, None),
        rounds=rounds,
        autoregressive=None,
        output=Output([i for round in rounds for i in round.emitted_ids], report.text, report.stopped_by),
        imported=SourceSystem(
            report.system[:LONGEST_NAME],
            [*filter(None, report.notes), NO_TIMES],
            [name for name in SETTINGS if name not in known],
        ),
    )


def _rounds(steps: Sequence[Step], written: Sequence[WrittenToken]) -> list[Round]:
    """The rounds of these steps, which together write these tokens. The last may accept more than the output holds."""
    if not written:
        raise InputError(say_record("no_tokens"))
    rounds, at = list[Round](), 0
    for number, step in enumerate(steps):
        if not 0 <= step.accepted <= step.drafted <= MAX_NODES:
            counts = step.accepted, step.drafted
            raise InputError(
                say_record("wrong_step", number=number + 1, accepted=counts[0], drafted=counts[1], most=MAX_NODES)
            )
        if at == len(written):
            raise InputError(say_record("ends_early", count=len(steps), number=number))
        # The accepted tokens and the target's own; fewer where the output ended before.
        its = written[at : at + step.accepted + 1]
        accepted = min(step.accepted, len(its))
        own = its[accepted] if len(its) > accepted else None
        if own and accepted < len(step.guesses) and own.id is not None and own.id == step.guesses[accepted].id:
            accepted, own = accepted + 1, None  # an accepted token that ended the text
        judged = accepted + (own is not None and accepted < step.drafted)
        statuses: list[Status] = ["accepted"] * accepted
        statuses += ["rejected"] * (judged - accepted)
        statuses += ["discarded"] * (step.drafted - judged)
        known = [*its[:accepted], *step.guesses[accepted : step.drafted]]
        drafted = [
            DraftedToken(token.id if token else None, token.text if token else None, status)
            for token, status in zip_longest(known, statuses)
        ]
        emitted = EmittedToken("none")
        if own:
            emitted = EmittedToken("bonus" if accepted == step.drafted else "correction", own.id, own.text)
        rounds.append(Round(number, None, None, None, drafted, emitted))
        at += rounds[-1].emits
    if at < len(written):
        raise InputError(say_record("other_output", written=at, count=len(written)))
    return rounds


def written_of(texts: Sequence[str], ids: Sequence[int | None] | None = None) -> list[WrittenToken]:
    """Tokens with these texts; with their ids where there are as many."""
    known = ids if ids and len(ids) == len(texts) else [None] * len(texts)
    return [WrittenToken(text, token_id) for text, token_id in zip(texts, known, strict=True)]


def cut(text: str, count: int) -> list[str]:
    """The text in `count` pieces: of whole words where there are so many, else of parts of the longest words."""
    units = [text]
    for longest in range(LONGEST_PIECE, 0, -1):
        if len(units) < count:
            units = re.findall(rf"\s?\w{{1,{longest}}}|\s?[^\w\s]|\s", text)
    return ["".join(units[len(units) * at // count : len(units) * (at + 1) // count]) for at in range(count)]


def tokens_of(
    pieces: Sequence[tuple[str, int]], ids: Sequence[int], tokenizer: Tokenizer | None, *, ended: bool
) -> tuple[list[WrittenToken], str]:
    """The tokens of a text in pieces, each with its number of tokens; and a note where they are not the real ones.

    `ended`: the last token may be the end of the text, which the text does not show.
    """
    count = sum(tokens for _, tokens in pieces)
    if tokenizer is None:
        texts = [piece for text, tokens in pieces for piece in cut(text, tokens)]
        return written_of(texts, ids), CUT_WITH_IDS if len(ids) == count else CUT
    if len(ids) == count:
        return written_of(tokenizer.texts(ids), ids), ""
    made = tokenizer.encode("".join(text for text, _ in pieces))
    if len(made) != count and not (ended and len(made) == count - 1):
        raise InputError(say_record("other_tokenizer", count=len(made), counted=count))
    note = "The ids are not in the record: the tokenizer made the tokens again from the text."
    return written_of([*tokenizer.texts(made), ""][:count]), note


def first(values: Iterable[T | None]) -> T | None:
    """The first that is reported."""
    return next((value for value in values if value is not None), None)


def reason_of(reason: str | None, length: str, eos: str) -> StoppedBy:
    return "length" if reason == length else "eos" if reason == eos else "other"
