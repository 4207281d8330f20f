"""LM Studio: a prediction's fragments and statistics, as its SDKs hand them out, and its REST answers.

Read in lmstudio-ai/lmstudio-js, commit 6ec11db (SDK 1.5.0): packages/lms-shared-types/src/llm/LLMPredictionFragment.ts
(`tokensCount`: "not always accurate") and LLMPredictionStats.ts (total = accepted +
rejected + ignored; ignored drafts were not sent to the main model).

It does not report rounds. A fragment with `containsDrafted` seems to hold the accepted tokens of one step and the
target's own; no document says so. So fragments are taken for steps only if all their sums agree with the statistics,
and the trace says that this is a reading.
"""

import re
from collections.abc import Sequence
from typing import Any

from specviz.core.errors import InputError
from specviz.systems.fields import Fields, say_record
from specviz.systems.table import ANSWER, SystemNames
from specviz.systems.traces import RecordOptions, Step, SystemReport, reason_of, tokens_of

READING = (
    "LM Studio does not report rounds. Each fragment is taken for one, because the sums agree with its statistics."
)
EQUAL = "It reports only how many tokens were drafted in all: each drafting round is taken to have drafted {}."


def to_camel_case(value: Any) -> Any:
    """The value with the names that the SDK for TypeScript has; the one for Python writes tokens_count."""
    if isinstance(value, list):
        return [to_camel_case(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("_([a-z])", lambda found: found[1].upper(), name): to_camel_case(its) for name, its in value.items()}


# In the words of the SDK for TypeScript, then of the one for Python and of REST answers.
DRAFTED, ACCEPTED, IGNORED = (
    (f"{kind}DraftTokensCount", f"{kind}_draft_tokens_count") for kind in ("total", "accepted", "ignored")
)
# fmt: off
ROWS = (
    SystemNames(
        "LM Studio", needs=DRAFTED, drafted=DRAFTED, accepted=ACCEPTED, ignored=IGNORED,
        written=("predictedTokensCount", "predicted_tokens_count", *ANSWER), convention="from_written",
    ),
)
# fmt: on


def steps(pieces: Sequence[Fields], given: RecordOptions) -> SystemReport:
    found = Fields(pieces[0].place, to_camel_case(pieces[0].value))
    if len(pieces) > 1 or not found.has("fragments"):
        raise InputError(say_record("or_totals", problem=say_record("no_fragments")))
    fragments, stats = found.every("fragments"), found.inner("stats")
    text = "".join(each.text("content") or "" for each in fragments)
    fragments = [each for each in fragments if each.tokens("tokensCount")]
    sizes = [(each.tokens("tokensCount") or 0, bool(each.value.get("containsDrafted"))) for each in fragments]
    written, accepted = sum(size for size, _ in sizes), sum(size - 1 for size, drafting in sizes if drafting)
    counted, also = stats.tokens("predictedTokensCount"), stats.whole(ACCEPTED[0])
    if (written, accepted) != (counted, also):
        figures = say_record(
            "other_fragments", written=written, accepted=accepted, counted=counted, counted_accepted=also
        )
        raise InputError(say_record("or_totals", problem=figures))
    counted_drafts, never_sent = (stats.whole(names[0]) or 0 for names in (DRAFTED, IGNORED))
    sent, rounds = counted_drafts - never_sent, sum(drafting for _, drafting in sizes)
    if not rounds or sent % rounds:
        raise InputError(say_record("or_totals", problem=say_record("unequal_rounds", drafted=sent, count=rounds)))
    drafted, its = sent // rounds, list[Step]()
    for size, drafting in sizes:
        its += [Step(drafted, size - 1)] if drafting else [Step(0, 0)] * size
    parts = [(each.text("content") or "", size) for each, (size, _) in zip(fragments, sizes, strict=True)]
    tokens, note = tokens_of(parts, (), given.tokenizer, ended=stats.text("stopReason") == "eosFound")
    return SystemReport(
        "LM Studio",
        its,
        tokens,
        text,
        reason_of(stats.text("stopReason"), "maxPredictedTokensReached", "eosFound"),
        target=found.inner("modelInfo").text("modelKey"),
        draft=stats.text("usedDraftModelKey"),
        prompt=found.text("prompt"),
        notes=(READING, EQUAL.format(drafted), note),
    )
