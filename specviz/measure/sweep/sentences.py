"""What a sweep's points say, each in one sentence. Frames of `points` in, text out."""

from typing import Any

import pandas as pd

from specviz.core.metrics import Costs
from specviz.core.verdict import NEUTRAL
from specviz.data.workloads import find_workload
from specviz.measure.sweep.points import ADAPTIVE, best_points, break_even_line
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
    """On how many workloads drafting pays, where most, where it makes no difference, and where it loses."""
    if fair.empty:
        return NOTHING
    pays, loses = fair[fair["pays"]], fair[fair["loses"]]
    parts = [_pays(pays, len(fair))]
    if even := len(fair) - len(pays) - len(loses):
        parts.append(f"about even on {even}")
    if len(loses):
        parts.append(f"loses on {', '.join(map(_with_rate, each_row(loses)))}")
    return "; ".join(parts) + "."


def _with_rate(point: Any) -> str:
    return f"{_in_a_sentence(point.workload)} ({percent(point.acceptance_rate)} accepted)"


def _pays(pays: pd.DataFrame, total: int) -> str:
    if pays.empty:
        return "Pays on none of these workloads"
    sure = int(pays["sure"].sum())
    claim = "Pays on" if sure else "Looks like it pays on"
    how_sure = f", {sure} of them for sure" if 0 < sure < len(pays) else ""
    workloads = "workload" if total == 1 else "workloads"
    most = pays.iloc[0]
    return (
        f"{claim} {len(pays)} of {total} {workloads}{how_sure}, "
        f"most on {_in_a_sentence(most['workload'])} ({most['speedup']:.1f}×)"
    )


def length_sentence(every: pd.DataFrame) -> str:
    """Whether one draft length is good enough everywhere, and how far apart the best ones are."""
    if every.empty:
        return NOTHING
    if good := _good_lengths(every):
        lengths = " or ".join(f"γ = {length}" for length in good[:2])
        return f"{lengths} is within 5 % of the best on every workload, of the lengths tried."
    best = best_points(every)
    ends = best.loc[[best["draft_length"].idxmin(), best["draft_length"].idxmax()]]
    named = " and ".join(f"γ = {point.draft_length} on {_with_rate(point)}" for point in each_row(ends))
    return f"No one draft length is best everywhere. Fastest here: {named}."


def _good_lengths(every: pd.DataFrame) -> list[int]:
    """Draft lengths that are within the neutral band of each workload's best; one that was not tried is not."""
    grid = every.pivot(index="workload", columns="draft_length", values="speedup")
    good = grid.mul(NEUTRAL).ge(grid.max(axis="columns"), axis="index").all()
    return [int(length) for length in grid.columns[good]]


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
    return f"Within 5 % of the best fixed γ, which is known only afterwards, or better: {', '.join(parts)}."


def _in_a_sentence(workload: str) -> str:
    title = workload_title(workload)
    return title[0].lower() + title[1:] if find_workload(workload) else title
