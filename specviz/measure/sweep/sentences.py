"""What a sweep's points say, each in one sentence. Frames of `points` in, text out."""

from typing import Any

import pandas as pd

from specviz.core.metrics import Costs
from specviz.core.verdict import NEUTRAL
from specviz.data.workloads import find_workload
from specviz.measure.sweep.points import ADAPTIVE, EVEN, LOSES, PAYS, UNCLEAR, break_even_line
from specviz.measure.sweep.predictions import errors, round_steps
from specviz.measure.sweep.table import each_row

NOTHING = "Nothing is measured yet."


def clock_sentence(impossible: "pd.Series[bool]") -> str:
    """How many rows a busy machine has certainly spoilt, from `points.impossible`; empty for none."""
    spoilt = int(impossible.sum())
    if not spoilt:
        return ""
    return (
        f"{spoilt} of these {len(impossible)} pairs of runs {'is' if spoilt == 1 else 'are'} faster than possible: the "
        "target runs once a round, so no speedup can exceed the tokens per target call. They are left out of the "
        "figures. The machine was busy with something else: do not rely on the other speedups, and measure again when "
        "the machine is quiet. Acceptance is counted, not timed: it is exact."
    )


def workload_title(name: str) -> str:
    """The workload's name on an axis; a visitor's own workload is shown by the name in the file."""
    known = find_workload(name)
    return known.title if known else name


def percent(rate: float | None) -> str:
    """A rate in words."""
    return "nothing drafted" if rate is None or pd.isna(rate) else f"{100 * rate:.0f} %"


def workload_sentence(fair: pd.DataFrame) -> str:
    """On how many workloads drafting pays, where most, where it loses, and what cannot be told."""
    if fair.empty:
        return NOTHING
    several, single = fair[fair["prompts"] > 1], fair[fair["prompts"] == 1]
    parts = [_pays(several, len(fair)) if len(several) else ""]
    parts += [_named("loses on", several, LOSES), _named("about even on", several, EVEN), _unclear(several)]
    looks = [_named(f"{words} on", single, outcome) for words, outcome in LOOKS.items()]
    if any(looks):
        parts.append(f"with one prompt each, it looks like it {', '.join(filter(None, looks))}")
    said = "; ".join(filter(None, parts))
    return f"{said[0].upper()}{said[1:]}."


LOOKS = {"pays": PAYS, "loses": LOSES, "is about even": EVEN}


def _pays(several: pd.DataFrame, total: int) -> str:
    pays = several[several["outcome"] == PAYS]
    if pays.empty:
        return "Pays for sure on none of these workloads"
    workloads = "workload" if total == 1 else "workloads"
    most = pays.iloc[0]
    return f"Pays on {len(pays)} of {total} {workloads}, most on {_with_speedup(most)}"


def _with_figure(point: Any, outcome: str) -> str:
    """The workload with what matters there: its speedup, or why it loses."""
    if outcome == EVEN:
        return _in_a_sentence(point.workload)
    return _with_speedup(point) if outcome == PAYS else _with_rate(point)


def _with_speedup(point: Any) -> str:
    return f"{_in_a_sentence(point.workload)} ({point.speedup:.1f}×)"


def _named(words: str, its: pd.DataFrame, outcome: str) -> str:
    """The workloads with this outcome; empty for none."""
    names = [_with_figure(point, outcome) for point in each_row(its[its["outcome"] == outcome])]
    return f"{words} {', '.join(names)}" if names else ""


def _unclear(several: pd.DataFrame) -> str:
    its = several[several["outcome"] == UNCLEAR]
    names = [_in_a_sentence(workload) for workload in its["workload"]]
    return f"cannot be told with {prompts_each(its)} on {', '.join(names)}" if names else ""


def prompts_each(its: pd.DataFrame) -> str:
    """How many prompts a point stands for, in words."""
    few, many = its["prompts"].min(), its["prompts"].max()
    return f"{few} {'prompt' if few == 1 else 'prompts'}" if few == many else f"{few} to {many} prompts"


def _with_rate(point: Any) -> str:
    return f"{_in_a_sentence(point.workload)} ({percent(point.acceptance_rate)} accepted)"


def length_sentence(every: pd.DataFrame) -> str:
    """Which draft lengths may be the best, from `with_rivals`."""
    if every.empty:
        return NOTHING
    if every["prompts"].max() == 1:
        return "One prompt a workload cannot tell draft lengths apart."
    grid = every.pivot(index="workload", columns="draft_length", values="may_be_best").fillna(False).astype("bool")
    with_prompts, clearly = f"With {prompts_each(every)} each,", _clearly_best(grid)
    if everywhere := [int(length) for length in grid.columns[grid.all()]]:
        told = f"γ = {_or(everywhere)} cannot be told apart from the best on any workload"
        return f"{with_prompts} {told}. {clearly}"
    may_be = {str(name): [int(length) for length in grid.columns[row]] for name, row in grid.iterrows()}
    shortest, longest = min(may_be, key=lambda name: max(may_be[name])), max(may_be, key=lambda name: min(may_be[name]))
    ends = " and ".join(f"γ = {_or(may_be[name])} on {_in_a_sentence(name)}" for name in (shortest, longest))
    return f"No one draft length is best everywhere. {with_prompts} the best may be {ends}. {clearly}"


def _clearly_best(grid: pd.DataFrame) -> str:
    """On how many workloads every other draft length is told apart from the best one."""
    alone = int((grid.sum(axis="columns") == 1).sum())
    return f"One length alone is clearly the best on {alone or 'none'} of {len(grid)} workloads."


def _or(lengths: list[int]) -> str:
    *before, last = map(str, lengths)
    return f"{', '.join(before)} or {last}" if before else last


def map_sentence(every: pd.DataFrame, costs: Costs | None) -> str:
    """How many measured points are on the side of the line that the theory predicts."""
    judged = every.dropna(subset="per_judgement_rate")
    if costs is None or judged.empty:
        return NOTHING
    line = pd.Series(break_even_line(costs, judged["draft_length"].to_list()), index=judged.index, dtype="float64")
    predicted = judged["per_judgement_rate"] > line  # never above a line that no rate reaches
    sides = int((predicted == (judged["speedup"] > 1)).sum())
    return (
        f"{sides} of {len(judged)} measured points are on the side of the break-even line that the theory predicts, "
        f"with c = {costs.cost_ratio:.2f} and o = {costs.overhead:.2f} from these rows."
    )


def lookup_map_sentence(every: pd.DataFrame, costs: Costs | None) -> str:
    """`map_sentence` for prompt lookup: from counted tokens, because a round often drafts fewer than γ."""
    judged = every.dropna(subset="per_judgement_rate")
    if costs is None or judged.empty:
        return NOTHING
    predicted = judged["tokens_per_target_call"] > round_steps(judged, costs)
    sides = int((predicted == (judged["speedup"] > 1)).sum())
    return (
        f"{sides} of {len(judged)} measured points are on the side of break-even that their counted tokens per target "
        f"call predict, with c = {costs.cost_ratio:.2f} and o = {costs.overhead:.2f} from these rows."
    )


def prediction_sentence(found: pd.DataFrame) -> str:
    """How far the two predictions are from the measurements, from `predictions`."""
    if found.empty:
        return NOTHING
    counted, formula = (errors(found[way], found["speedup"]) for way in ("counted", "formula"))
    return (
        f"Predicted from its counted tokens, a run’s speedup is off by {percent(counted.median())} in the median and "
        f"{percent(counted.max())} at most ({len(found)} runs). E(γ), which takes γ drafted tokens in every round, "
        f"would be off by {percent(formula.median())} and {percent(formula.max())}: prompt lookup often finds fewer."
    )


REPEATS = 0.25  # of the 4-grams: workloads whose outputs repeat themselves this much are named


def repetition_sentence(fair: pd.DataFrame) -> str:
    """Where greedy outputs repeat themselves; empty where that was not measured."""
    measured = fair.dropna(subset="repetition")
    if measured.empty:
        return ""
    most = measured.sort_values("repetition", ascending=False, kind="stable")
    named = [
        f"{_in_a_sentence(point.workload)} ({percent(point.repetition)})"
        for point in each_row(most)
        if point.repetition >= REPEATS
    ]
    if not named:
        return f"Outputs repeat little: at most {percent(most['repetition'].iloc[0])} of their 4-grams occurred before."
    return (
        f"Outputs repeat themselves on {', '.join(named)}: that share of their 4-grams (four tokens in a row) occurred "
        "earlier in the same output. Repeated text is easy to guess, for prompt lookup most of all, so part of the "
        "gain there is the target repeating itself."
    )


def grammar_sentence(pairs: pd.DataFrame) -> str:
    """Whether a grammar makes drafting easier, from `points.grammar_pairs`."""
    judged = pairs.dropna(subset=["acceptance_rate_without", "acceptance_rate_with"])
    if judged.empty:
        return "No prompt has been measured both ways yet."
    higher = int((judged["acceptance_rate_with"] > judged["acceptance_rate_without"]).sum())
    without, within = (judged[f"accepted_{way}"].sum() / judged[f"drafted_{way}"].sum() for way in ("without", "with"))
    return (
        f"With the grammar, acceptance is higher on {higher} of {len(judged)} prompts: {percent(within)} of the "
        f"drafted tokens are accepted, {percent(without)} without it."
    )


def adaptive_sentence(found: pd.DataFrame) -> str:
    """How often a schedule is within 5 % of the best fixed length, which is known only after measuring all."""
    if found.empty:
        return "No schedule has been measured beside fixed draft lengths yet."
    parts = []
    for schedule, name in ADAPTIVE.items():
        its = found.dropna(subset=schedule)
        near = int((its[schedule] * NEUTRAL >= its["speedup"]).sum())
        if len(its):
            parts.append(f"the {name} on {near} of {len(its)} workloads")
    return (
        f"With {prompts_each(found)} each, within 5 % of the fixed γ that did best on the other prompts, or better: "
        f"{', '.join(parts)}."
    )


def _in_a_sentence(workload: str) -> str:
    title = workload_title(workload)
    return title[0].lower() + title[1:] if find_workload(workload) else title
