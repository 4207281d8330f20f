"""A bench for scripts and spreadsheets: `results`, one for each load, and rows, one for each prompt and load. Pure."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Any

from specviz.core.csv_cells import csv_text, safe_cell
from specviz.core.judge import EVEN, HELPS, HURTS
from specviz.core.texts import Sentences
from specviz.measure.endpoints.acceptance import Tally, count_answer, reasoning_share
from specviz.measure.endpoints.findings import BenchFindings, LoadFindings, name_loads
from specviz.measure.endpoints.pairs import PairGroup, Within, find_sameness, time_whole
from specviz.measure.endpoints.result import SIDES, Answer, BenchPrompt, BenchResult, Side, dump_result
from specviz.measure.endpoints.sentences import conclusion

say = Sentences("bench")
WORDS: dict[str, str] = {HELPS: "helps", EVEN: "neutral", HURTS: "hurts"}  # any other word: "cannot be told"
SHARES = (50, 90, 99)  # per cent
Cell = str | int | float | None
COMPARED = ("speedup", "low", "high", "verdict", "acceptance_rate", "tokens_per_target_call")
SHOWN = (
    *("prompt", "workload", "concurrency", "rate", "pairs", "speedup", "speedup_low", "speedup_high"),
    *("tokens_per_second_with", "tokens_per_second_without", "acceptance_rate", "tokens_per_round", "failed"),
    *("reasoning_with", "reasoning_without"),
)


def dump_report(result: BenchResult, within: Within | None = None) -> str:
    more = {"results": results(result, within), "conclusion": conclusion(result, within)}
    return json.dumps(json.loads(dump_result(result)) | more, allow_nan=False)


def results(result: BenchResult, within: Within | None = None) -> list[dict[str, Any]]:
    found = BenchFindings(result)
    return [_describe_load(found, load, within) for load in found.loads]


def _describe_load(found: BenchFindings, load: LoadFindings, within: Within | None) -> dict[str, Any]:
    result, gain, tally = found.result, load.speedup, load.tally
    low, high = (gain.interval if gain else None) or (None, None)
    answers = [answer for its in load.answers.values() for answer in its]
    same = find_sameness(replace(result, answers=answers))
    return {
        "rate" if result.settings.rates else "concurrency": load.load,
        "speedup": gain.value if gain else None,
        "low": low,
        "high": high,
        "verdict": WORDS.get(found.words.get(load.load, ""), "cannot be told"),
        "trusted": load.trusted,
        "prompts": len(load.prompts),
        "blocks": len({answer.block for answer in answers}),
        "identical": same.identical if same else None,
        "tokens_per_second": {side: its.tokens_per_second for side, its in load.sides.items()},
        "acceptance_rate": tally.rate,
        "tokens_per_target_call": tally.tokens_per_call if tally.drafted else None,
        "by_position": list(tally.survival),
        "percentiles": {
            side: percentiles([answer for answer in its if not answer.problem]) for side, its in load.answers.items()
        },
        "reasoning": {side: reasoning_share(its) for side, its in load.answers.items()},
        "goodput": {side: within.share(its) for side, its in load.answers.items()} if within else None,
    }


def percentiles(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """In seconds, of the time to the first token, the time of a token, the gap between two parts, the whole answer."""
    seconds = {
        "ttft": [answer.first for answer in answers if answer.first is not None],
        "tpot": [each.token_seconds for each in time_whole(answers)],
        "gap": [later - earlier for answer in answers for earlier, later in pairwise(answer.part_seconds)],
        "total": [answer.seconds for answer in answers],
    }
    # Of each share the least value that so many per cent are not above.
    return {
        name: {f"p{share}": sorted(its)[max(0, -(-share * len(its) // 100) - 1)] for share in SHARES}
        for name, its in seconds.items()
        if its
    }


def lowest(result: BenchResult) -> float | None:
    """The lowest end of the speedups' intervals; None where a load has none, or is not trusted."""
    ends: list[Any] = [each["low"] if each["trusted"] else None for each in results(result)]
    return min(ends) if ends and None not in ends else None


def bench_rows(found: BenchFindings) -> list[dict[str, Cell]]:
    """A row for each prompt and load. Ratios are without over with; None: not measured. Seconds: medians."""
    rows = list[dict[str, Cell]]()
    for load in found.loads:
        answers = [answer for its in load.answers.values() for answer in its]
        paired = {group.number: group for group in load.prompts}
        for number in sorted({answer.prompt for answer in answers}):
            its = [answer for answer in answers if answer.prompt == number]
            rows.append(_row(found.result.prompts[number], its, load, paired.get(number)))
    return rows


def _row(
    prompt: BenchPrompt, answers: Sequence[Answer], load: LoadFindings, pairs: PairGroup | None
) -> dict[str, Cell]:
    done = [answer for answer in answers if not answer.problem]
    own: dict[Side, list[Answer]] = {side: [answer for answer in done if answer.side == side] for side in SIDES}
    tally = Tally.of(map(count_answer, own["with"])) if any(answer.accepted for answer in own["with"]) else None
    gain = pairs.gain if pairs else None
    low, high = gain.interval if gain and gain.interval else (None, None)  # over the repeats
    steps = {
        side: pairs.token_seconds(side) if pairs else _middle(each.token_seconds for each in time_whole(own[side]))
        for side in SIDES
    }
    rates = {side: 1 / step if step and "hidden" not in load.doubts else None for side, step in steps.items()}
    return {
        "prompt": prompt.name,
        "workload": prompt.workload,
        "concurrency": answers[0].concurrency or None,
        "rate": answers[0].rate,
        "pairs": len(pairs.pairs) if pairs else 0,
        "speedup": gain.value if gain else None,
        "speedup_low": low,
        "speedup_high": high,
        **{f"token_seconds_{side}": step for side, step in steps.items()},
        **{f"tokens_per_second_{side}": rate for side, rate in rates.items()},
        "first_ratio": pairs.first_ratio if pairs else None,
        **{f"first_seconds_{side}": _middle(answer.first for answer in own[side]) for side in SIDES},
        **{f"seconds_{side}": _middle(answer.seconds for answer in own[side]) for side in SIDES},
        **{f"tokens_{side}": _middle(answer.tokens for answer in own[side]) for side in SIDES},
        "drafted": tally.drafted if tally else None,
        "accepted": tally.accepted if tally else None,
        "acceptance_rate": tally.rate if tally else None,
        "tokens_per_round": tally.tokens_per_call if tally else None,
        "failed": len(answers) - len(done),
        **{f"reasoning_{side}": reasoning_share(own[side]) for side in SIDES},
    }


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def table(found: BenchFindings) -> list[dict[str, Cell]]:
    """The columns worth a look that say something, one row a prompt and load. Names in it are not escaped."""
    rows = bench_rows(found)
    return [{name: row[name] for name in SHOWN if any(each[name] for each in rows)} for row in rows]


def dump_csv(found: BenchFindings) -> str:
    """All columns as CSV, with a mark before a text that a spreadsheet would read as a formula."""
    rows = bench_rows(found)
    return csv_text([[*rows[0]], *([_written(cell) for cell in row.values()] for row in rows)] if rows else [], "\r\n")


def _written(cell: Cell) -> Cell:
    if isinstance(cell, float):
        return float(f"{cell:.6g}")  # more digits are noise
    return safe_cell(cell) if isinstance(cell, str) else cell


def compare_servers(benches: Sequence[BenchResult]) -> tuple[list[dict[str, Cell]], list[str]]:
    """Several servers against the same one: a row for each server and load, and which is fastest at each load.

    That is said only where its interval lies above that of each other one.
    """
    rows, ends = list[dict[str, Cell]](), defaultdict[float, list[tuple[float, float, str]]](list)
    for bench in benches:
        name = bench.with_.drafts or bench.with_.url
        for its in results(bench):
            load = its.get("rate") or its["concurrency"]
            row = {"server": name, "load": name_loads(bench.settings, load)}
            rows.append(row | {column: its[column] for column in COMPARED})
            ends[load] += [(its["low"], its["high"], name)] if its["trusted"] and its["low"] is not None else []
    said = []
    for load, known in sorted(ends.items()):
        best, *others = sorted(known, reverse=True) or [(0.0, 0.0, "")]
        told = len(known) == len(benches) and all(best[0] > high for _, high, _ in others)
        at = name_loads(benches[0].settings, load)
        said.append(say("best_at", load=at, server=best[2]) if told else say("no_best_at", load=at))
    return rows, said
