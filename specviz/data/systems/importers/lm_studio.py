"""LM Studio: a prediction's fragments and statistics, as its SDK hands them out.

Read in lmstudio-ai/lmstudio-js, commit 6ec11db (SDK 1.5.0): packages/lms-shared-types/src/llm/LLMPredictionFragment.ts
(`tokensCount`: "not always accurate"; `tokens` with `logProbs`) and LLMPredictionStats.ts (total = accepted +
rejected + ignored; ignored drafts were not sent to the main model).

LM Studio does not report rounds. A fragment with `containsDrafted` seems to hold the accepted tokens of one step and
the target's own; no document says so. So fragments are taken for steps only if all their sums agree with the
statistics, and the trace says that this is a reading.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from specviz.core.errors import InputError
from specviz.core.outside import MostItems
from specviz.core.texts import Sentences
from specviz.core.trace import MAX_TOKENS
from specviz.data.systems.importers.assembling import (
    RecordOptions,
    RecordStep,
    SystemReport,
    WrittenToken,
    ended,
    tokens_of,
    written_of,
)
from specviz.data.systems.importers.record import Count, Id, RecordPiece, TokenCount, reader

say = Sentences("records")

READING = (
    "LM Studio does not report rounds. Each fragment is taken for one, because the sums agree with its statistics."
)
EQUAL = "It reports only how many tokens were drafted in all: each drafting round is taken to have drafted {}."


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    id: Id


@dataclass(frozen=True, slots=True)
class Fragment:
    content: str
    tokensCount: TokenCount
    containsDrafted: bool
    tokens: Annotated[list[Token], MostItems(MAX_TOKENS)] | None = None


@dataclass(frozen=True, slots=True)
class LmStudioStatistics:
    predictedTokensCount: TokenCount
    totalDraftTokensCount: Count
    acceptedDraftTokensCount: Count
    ignoredDraftTokensCount: Count = 0
    usedDraftModelKey: str | None = None
    stopReason: str | None = None


@dataclass(frozen=True, slots=True)
class LmStudioModel:
    modelKey: str | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    fragments: Annotated[list[Fragment], MostItems(MAX_TOKENS)]
    stats: LmStudioStatistics
    modelInfo: LmStudioModel | None = None
    prompt: str | None = None


read_prediction = reader(Prediction)


def read(pieces: Sequence[RecordPiece], given: RecordOptions) -> SystemReport:
    if len(pieces) > 1:
        raise InputError(say("lm_studio_object"))
    if "fragments" not in pieces[0].value:
        raise InputError(say("no_fragments"))
    found = read_prediction([RecordPiece(piece.place, to_camel_case(piece.value)) for piece in pieces])[0]
    fragments = [fragment for fragment in found.fragments if fragment.tokensCount]
    drafted = _drafted(fragments, found.stats)
    text = "".join(fragment.content for fragment in found.fragments)
    steps = [
        RecordStep(drafted, size - 1) if fragment.containsDrafted else RecordStep(0, 0)
        for fragment in fragments
        for size in ([fragment.tokensCount] if fragment.containsDrafted else [1] * fragment.tokensCount)
    ]
    written, note = _written(fragments, given, found.stats.stopReason == "eosFound")
    return SystemReport(
        "LM Studio",
        steps,
        written,
        text,
        ended(found.stats.stopReason, "maxPredictedTokensReached", "eosFound"),
        target=found.modelInfo.modelKey if found.modelInfo else None,
        draft=found.stats.usedDraftModelKey,
        prompt=found.prompt,
        notes=(READING, EQUAL.format(drafted), note),
    )


def to_camel_case(value: Any) -> Any:
    """The value with the names that the SDK for TypeScript has; the one for Python writes tokens_count."""
    if isinstance(value, list):
        return [to_camel_case(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("_([a-z])", lambda found: found[1].upper(), name): to_camel_case(its) for name, its in value.items()}


def _drafted(fragments: Sequence[Fragment], stats: LmStudioStatistics) -> int:
    drafting = [fragment for fragment in fragments if fragment.containsDrafted]
    accepted = sum(fragment.tokensCount - 1 for fragment in drafting)
    written = sum(fragment.tokensCount for fragment in fragments)
    if (written, accepted) != (stats.predictedTokensCount, stats.acceptedDraftTokensCount):
        raise InputError(
            say(
                "other_fragments",
                written=written,
                accepted=accepted,
                counted=stats.predictedTokensCount,
                counted_accepted=stats.acceptedDraftTokensCount,
            )
        )
    sent = stats.totalDraftTokensCount - stats.ignoredDraftTokensCount
    if not drafting or sent % len(drafting):
        raise InputError(say("unequal_rounds", drafted=sent, count=len(drafting)))
    return sent // len(drafting)


def _written(fragments: Sequence[Fragment], given: RecordOptions, ended: bool) -> tuple[list[WrittenToken], str]:
    tokens = [token for fragment in fragments for token in fragment.tokens or []]
    if len(tokens) == sum(fragment.tokensCount for fragment in fragments):
        return written_of([token.text for token in tokens], [token.id for token in tokens]), ""
    return tokens_of([(each.content, each.tokensCount) for each in fragments], (), given.tokenizer, ended=ended)
