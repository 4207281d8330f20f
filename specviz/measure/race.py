"""A race: both decoders on the same prompts, timed alternately. What was measured, and the figures computed from it."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import fmean, geometric_mean, median
from typing import Any, Literal

from pydantic import TypeAdapter

from specviz.core.csv_cells import csv_of
from specviz.core.metrics import per_place_rate
from specviz.core.terms import RoundTerms, Terms
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict, verdict_of_ratios
from specviz.data.prompts.workloads import workload_of
from specviz.measure.paired import Comparison, total

MAX_PROMPTS = 8
MAX_REPEATS = 20
EmittedStatus = Literal["accepted", "correction", "bonus", "own"]
OWN = "own", "Your prompts"
RACE_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class RacePrompt:
    name: str
    text: str


def burst_texts(speculative: Trace) -> list[list[tuple[str, EmittedStatus]]]:
    bursts: list[list[tuple[str, EmittedStatus]]] = []
    for round in speculative.rounds:
        burst: list[tuple[str, EmittedStatus]] = [(token.shown, "accepted") for token in round.accepted_tokens]
        if round.added != "none":
            burst.append((round.emitted.text, round.added))
        bursts.append(burst)
    return bursts


def overall_verdict(laps: Sequence[Comparison]) -> Verdict:
    """Of one prompt its own; of more, by the mean of their speedups and its interval over prompts."""
    if len(laps) == 1:
        return laps[0].verdict
    trusted = all(lap.trusted for lap in laps)
    return verdict_of_ratios([lap.speedup for lap in laps], pooled_terms(laps), trusted=trusted)


def pooled_terms(laps: Sequence[Comparison]) -> Terms | None:
    """Acceptance and rounds of all laps together; costs as in the middle lap. None: no lap has terms."""
    known = [(lap.counts, found) for lap in laps if (found := lap.terms)]
    if not known:
        return None
    terms = [found for _, found in known]
    alpha = total(counts for counts, _ in known).per_judgement_rate
    if laps[0].speculative.settings.tree:  # siblings are judged for one place
        alpha = per_place_rate([round for lap in laps for round in lap.speculative.rounds])
    counted, rounds = None, [counts.rounds for counts, _ in known]
    if own := [found.counted for found in terms if found.counted]:  # all or none: the settings are those of the race
        nodes = [each.nodes for each in own if each.nodes is not None]
        counted = RoundTerms(
            tokens=fmean([each.tokens for each in own], rounds),
            drafted=fmean([each.drafted for each in own], rounds),
            verification=fmean([each.verification for each in own], rounds),
            nodes=fmean(nodes, rounds) if nodes else None,
        )
    return Terms(
        alpha=alpha or 0.0,
        draft_length=max(found.draft_length for found in terms),
        cost_ratio=median(found.cost_ratio for found in terms),
        verification=median(found.verification for found in terms),
        overhead=median(found.overhead for found in terms),
        counted=counted,
        of_rounds=geometric_mean(found.at_costs for found in terms),
    )


def lap_figures(lap: Comparison) -> dict[str, Any]:
    counts, verdict, drafter = lap.counts, lap.verdict, lap.speculative.drafter
    assert drafter is not None
    low, high = verdict.interval or (None, None)
    target, settings = lap.speculative.target, lap.speculative.settings
    counted = ("drafted", "accepted", "rejected", "discarded")
    return {
        "prompt": lap.name,
        "target": target.name,
        "target_dtype": target.dtype,
        "draft": drafter.name,
        "draft_dtype": drafter.dtype,
        "machine": lap.speculative.recorded_on.machine,
        "threads": lap.speculative.recorded_on.threads,
        **{name: getattr(settings, name) for name in ("draft_length", "draft_schedule", "temperature")},
        "seed": lap.seeds[0],
        "prompt_tokens": len(lap.plain.prompt.token_ids),
        "speculative_tokens": counts.emitted,
        "plain_tokens": lap.plain_written,
        **{name: getattr(counts, name) for name in counted},
        "target_calls": counts.rounds,
        "acceptance_rate": counts.acceptance_rate,
        "per_judgement_rate": counts.per_judgement_rate,
        "speculative_latency": median(lap.ours.latency),
        "plain_latency": median(lap.alone.latency),
        "speculative_tokens_per_second": median(lap.ours.rates),
        "plain_tokens_per_second": median(lap.alone.rates),
        "speedup": lap.speedup,
        "speedup_low": low,
        "speedup_high": high,
        "verdict": verdict.label,
        "certain": verdict.certain,
        "identical": lap.identical,
        **{name: getattr(settings, name) for name in ("draft_sampling", "verification", "tree")},
    }


_LAP: TypeAdapter[Comparison] = TypeAdapter(Comparison)


@dataclass(frozen=True, slots=True)
class RaceKind:
    name: str  # the workload's; "own" for a visitor's prompts
    title: str
    prompts: tuple[str, ...]  # their names
    verdict: Verdict  # of one prompt: its own, with the interval over its repeats; of more: over prompts


def kinds_of(laps: Sequence[Comparison]) -> list[RaceKind]:
    by_kind: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
    for lap in laps:
        workload = workload_of(lap.name)
        by_kind[(workload.name, workload.here.title) if workload else OWN].append(lap)
    return [RaceKind(*kind, tuple(lap.name for lap in its), overall_verdict(its)) for kind, its in by_kind.items()]


def differing_kinds(laps: Sequence[Comparison]) -> list[RaceKind]:
    """The kinds where the 95 % intervals of two do not overlap and their mean says nothing certain; else none.

    A kind without a trusted interval differs from none.
    """
    kinds = [] if overall_verdict(laps).certain else kinds_of(laps)
    intervals = [kind.verdict.interval for kind in kinds if kind.verdict.interval and kind.verdict.trusted]
    return kinds if any(one[1] < other[0] for one, other in permutations(intervals, 2)) else []


def dump_race(laps: Sequence[Comparison]) -> str:
    """The race as a JSON file.

    {"schema": 1, "overall": {"speedup", "interval", "verdict", "certain", "trusted", "reason"},
     "kinds": [{"kind", "prompts": [name, ...], "speedup", "interval", "verdict", "certain", "trusted"}, ...],
     "laps": [{"figures": {as in `race_csv`}, "name", "speculative": trace, "plain": trace,
               "speculative_seconds": [...], "plain_seconds": [...], "speculative_prefill": [...],
               "plain_prefill": [...], "plain_tokens": [...], "quality": {...},
               "draws": [{"seed", "counts", "plain_tokens"}, ...], "seeds": [...]}, ...]}

    Traces are as in the trace file. Lists of seconds have one number for each repeat, in the order of the repeats.
    Above temperature 0 each repeat has a seed of its own: `draws` has one entry for each, and the traces are of one
    repeat. Greedy repeats all write the same: `draws` is empty. A kind is a workload; "own" for other prompts.
    """

    def judged(verdict: Verdict) -> dict[str, Any]:
        names = ("speedup", "interval", "label", "certain", "trusted")
        return {"verdict" if name == "label" else name: getattr(verdict, name) for name in names}

    verdict = overall_verdict(laps)
    content = {
        "schema": RACE_SCHEMA,
        "overall": {**judged(verdict), "reason": verdict.reason},
        "kinds": [{"kind": kind.name, "prompts": kind.prompts, **judged(kind.verdict)} for kind in kinds_of(laps)],
        "laps": [
            {"figures": lap_figures(lap), **_LAP.dump_python(lap, mode="json"), "seeds": lap.seeds} for lap in laps
        ],
    }
    return json.dumps(content, ensure_ascii=False)


def parse_race(text: str) -> list[Comparison]:
    """The laps of a file that `dump_race` wrote; figures are computed again, not read. No visitor can send one."""
    return [_LAP.validate_python(lap) for lap in json.loads(text)["laps"]]


def race_csv(laps: Sequence[Comparison]) -> str:
    """One row for each prompt and repeat.

    Columns: those of `lap_figures` (the prompt's medians and counts, the same in each of its rows; latencies are
    seconds with prefill, rates exclude it; `speedup` is `Comparison.speedup` with its 95 % interval, which is missing
    for one repeat; tokens and counts are those of one repeat, or above temperature 0 the sum of all, which have
    different seeds), then `repeat` from 1, `plain_prefill_seconds`, `plain_seconds`, `speculative_prefill_seconds`,
    `speculative_seconds` and `ratio` of that repeat. `seed` and, last, `repeat_speculative_tokens`,
    `repeat_plain_tokens` and `repeat_target_calls` are of the repeat. Prompts are named; their texts are left out.
    """
    import pandas as pd  # slow, and few pages need it

    rows = [
        {
            **lap_figures(lap),
            "seed": draw.seed,
            "repeat": index + 1,
            "plain_prefill_seconds": lap.plain_prefill[index],
            "plain_seconds": lap.plain_seconds[index],
            "speculative_prefill_seconds": lap.speculative_prefill[index],
            "speculative_seconds": lap.speculative_seconds[index],
            "ratio": lap.ratios[index],
            "repeat_speculative_tokens": draw.counts.emitted,
            "repeat_plain_tokens": draw.plain_tokens,
            "repeat_target_calls": draw.counts.rounds,
        }
        for lap in laps
        for index, draw in enumerate(lap.repeats)
    ]
    return csv_of(pd.DataFrame(rows))
