"""A bench for a script: `results`, one entry a concurrency, and the conclusion, beside the measurements. Pure."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

from specviz.core.judge import EVEN, HELPS, HURTS
from specviz.measure.endpoints.acceptance import Tally
from specviz.measure.endpoints.findings import BenchFindings, LoadFindings
from specviz.measure.endpoints.pairs import timed_until
from specviz.measure.endpoints.result import Answer, BenchResult, dump_result
from specviz.measure.endpoints.sameness import find_sameness
from specviz.measure.endpoints.sentences import conclusion
from specviz.measure.endpoints.warnings import broken_setup

WrittenVerdict = Literal["helps", "neutral", "hurts", "cannot be told"]
WORDS: dict[str, WrittenVerdict] = {HELPS: "helps", EVEN: "neutral", HURTS: "hurts"}
SHARES = (50, 90, 99)  # per cent


def dump_report(result: BenchResult) -> str:
    more = {"results": results(result), "conclusion": conclusion(result)}
    return json.dumps(json.loads(dump_result(result)) | more, allow_nan=False)


def results(result: BenchResult) -> list[dict[str, Any]]:
    found = BenchFindings(result)
    return [_describe_load(found, load) for load in found.loads]


def _describe_load(found: BenchFindings, load: LoadFindings) -> dict[str, Any]:
    result, gain = found.result, load.speedup
    low, high = (gain.interval if gain else None) or (None, None)
    trusted = not load.doubts and not broken_setup(result)
    word = gain.judged.word if gain and gain.interval and trusted else ""
    answers = [answer for answer in result.answers if answer.concurrency == load.concurrency]
    same = find_sameness(replace(result, answers=answers))
    nothing = Tally(0, 0, None, (), None, 0)
    tally = found.acceptance.by_concurrency.get(load.concurrency, nothing) if found.acceptance else nothing
    sides = {side: [answer for answer in answers if answer.side == side and not answer.problem] for side in load.sides}
    return {
        "concurrency": load.concurrency,
        "speedup": gain.value if gain else None,
        "low": low,
        "high": high,
        "verdict": WORDS.get(word, "cannot be told"),
        "trusted": trusted,
        "prompts": len(load.prompts),
        "blocks": len({answer.block for answer in answers}),
        "identical": same.identical if same else None,
        "tokens_per_second": {side: its.tokens_per_second for side, its in load.sides.items()},
        "acceptance_rate": tally.rate,
        "tokens_per_target_call": tally.tokens_per_call if tally.drafted else None,
        "by_position": list(tally.survival),
        "percentiles": {side: percentiles(its) for side, its in sides.items()},
        "goodput": None,
    }


def percentiles(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """In seconds, of the time to the first token, the time of a token, the gap between two parts, the whole answer."""
    timed = [timed_until(answer, answer.tokens or 0)[0] for answer in answers]
    seconds = {
        "ttft": [answer.first for answer in answers if answer.first is not None],
        "tpot": [each.token_seconds for each in timed if each.usable],
        "gap": [later - earlier for answer in answers for earlier, later in pairwise(answer.part_seconds)],
        "total": [answer.seconds for answer in answers],
    }
    return {
        name: {f"p{share}": _find_percentile(sorted(its), share) for share in SHARES}
        for name, its in seconds.items()
        if its
    }


def _find_percentile(ordered: Sequence[float], share: int) -> float:
    """The least value that so many per cent of them are not above."""
    return ordered[max(0, -(-share * len(ordered) // 100) - 1)]


def lowest(result: BenchResult) -> float | None:
    """The lowest end of the speedups' intervals; None where a load has none, or is not trusted."""
    ends = [each["low"] for each in results(result) if each["trusted"] and each["low"] is not None]
    return min(ends) if ends and len(ends) == len(results(result)) else None
