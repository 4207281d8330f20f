"""A trace of what a record reports. What it does not report is left out, and said to be unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from specviz.core.errors import InputError
from specviz.core.names import short_name
from specviz.core.rounds import Round
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.trace import (
    SCHEMA,
    DrafterInfo,
    Imported,
    Machine,
    ModelInfo,
    Output,
    PrefillSeconds,
    Prompt,
    Trace,
)
from specviz.data.importers.cutting import Tokenizer, cut

UNKNOWN = "not reported"
SETTINGS = ("max_new_tokens", "draft_length", "temperature", "top_k", "top_p", "seed")  # others are never reported
NO_TIMES = "Probabilities, and the times of drafting and of checking, are not reported."
LONGEST_NAME = 300
SHOWN = 40  # characters of a piece of a prompt whose tokens are not known


@dataclass(frozen=True, slots=True)
class Given:
    """What a person adds to a record: it has most of this only sometimes."""

    prompt: str = ""
    target: str | None = None
    draft: str | None = None
    temperature: float | None = None
    tokenizer: Tokenizer | None = None  # of the target


@dataclass(frozen=True, slots=True)
class Report:
    """What a record says of one run."""

    system: str
    rounds: Sequence[Round]
    text: str
    stopped_by: Literal["length", "eos", "other"]
    target: str | None = None
    draft: str | None = None
    prompt: str | None = None
    prompt_ids: Sequence[int] = ()
    prefill_seconds: float | None = None
    created: int | None = None  # seconds since 1970
    settings: Mapping[str, Any] = field(default_factory=dict)  # those of `SETTINGS` that are reported
    notes: Sequence[str] = ()


def trace_of(report: Report, given: Given) -> Trace:
    """The trace of the run.

    Raises:
        InputError: a setting has a value that none can have.
    """
    written = sum(round.emits for round in report.rounds)
    known = {name: value for name, value in report.settings.items() if value is not None}
    if given.temperature is not None:
        known["temperature"] = given.temperature
    if report.stopped_by == "length":
        known["max_new_tokens"] = written
    return Trace(
        schema=SCHEMA,
        created=_created(report.created),
        recorded_on=Machine(UNKNOWN, UNKNOWN, UNKNOWN, 0),
        target=ModelInfo(_name(given.target or report.target or f"{report.system} target"), 0, UNKNOWN, UNKNOWN),
        drafter=DrafterInfo("other", _name(given.draft or report.draft or f"{report.system} draft")),
        settings=_settings(known, written, max(round.depth for round in report.rounds)),
        prompt=_prompt(report, given),
        prefill_seconds=PrefillSeconds(report.prefill_seconds, None),
        rounds=list(report.rounds),
        autoregressive=None,
        output=Output([i for round in report.rounds for i in round.emitted_ids], report.text, report.stopped_by),
        imported=Imported(
            report.system[:LONGEST_NAME],
            [*filter(None, report.notes), NO_TIMES],
            [name for name in SETTINGS if name not in known],
        ),
    )


def _settings(known: Mapping[str, Any], written: int, deepest: int) -> DecodeSettings:
    longest = int(known.get("draft_length") or deepest)
    allowed: dict[str, Any] = {
        "max_new_tokens": written,
        **known,
        "draft_length": max(1, min(longest, MAX_DRAFT_LENGTH)),
    }
    if allowed["max_new_tokens"] < written:
        raise InputError(f"The record writes {written} tokens, more than its limit of {allowed['max_new_tokens']}.")
    return DecodeSettings(**allowed)


def _prompt(report: Report, given: Given) -> Prompt:
    text, ids = given.prompt or report.prompt or "", list(report.prompt_ids)
    texts = given.tokenizer.texts(ids) if given.tokenizer and ids else []
    if texts:
        return Prompt(text or "".join(texts), ids, texts)
    return Prompt(text, [], cut(text, len(text) // SHOWN + 1) if text else [])


def _name(name: str) -> str:
    return short_name(name)[:LONGEST_NAME] or UNKNOWN


def _created(seconds: int | None) -> str:
    try:
        return UNKNOWN if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return UNKNOWN
