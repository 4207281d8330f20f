"""What a sweep's points say, each in one sentence. Frames of `points` in, text out."""

import math
from typing import Any

import pandas as pd

from specviz.core.judge import EVEN, HELPS, HURTS, LOOKS, NEUTRAL, UNTOLD, Word
from specviz.core.metrics import Costs
from specviz.data.workloads import find_workload
from specviz.measure.sweep.plan import OWN_WORKLOAD
from specviz.measure.sweep.points import ADAPTIVE, break_even_line, of_kind, pooled
from specviz.measure.sweep.study import Study, errors, round_steps, studies_of
from specviz.measure.sweep.table import each_row

NOTHING = "Nothing is measured yet."


def clock_sentence(impossible: "pd.Series[bool]") -> str:
    spoilt = int(impossible.sum())
    if not spoilt:
        return ""
    return (
        f"{spoilt} of these {len(impossible)} pairs of runs {'is' if spoilt == 1 else 'are'} faster than possible: the "
        "target runs once a round, so no speedup can exceed the tokens per target call. They are left out of the "
        "figures. The machine was busy with something else: do not rely on the other speedups, and measure again when "
        "the machine is quiet. Acceptance is counted, not timed: it is exact."
    )


def doubted(sentence: str, impossible: "pd.Series[bool]") -> str:
    """What a sweep says, as no more than its times support: on a busy machine they decide nothing."""
    spoilt = int(impossible.sum())
    if not spoilt or sentence == NOTHING:
        return sentence
    return (
        f"No verdict: {spoilt} of {len(impossible)} pairs of runs were faster than possible, so the machine was busy. "
        f"As timed: {sentence}"
    )


def workload_title(name: str) -> str:
    """The workload's name on an axis; a visitor's own workload is shown by the name in the file."""
    known = find_workload(name)
    return known.title if known else "your prompts" if name == OWN_WORKLOAD else name


def percent(rate: float | None) -> str:
    return "nothing drafted" if rate is None or pd.isna(rate) else f"{100 * rate:.0f} %"


def workload_sentence(fair: pd.DataFrame) -> str:
    if fair.empty:
        return NOTHING
    several, single = fair[fair["prompts"] > 1], fair[fair["prompts"] == 1]
    parts = [_helps(several, fair) if len(several) else ""]
    parts += [_named("hurts on", several, HURTS), _named("about even on", several, EVEN), _unclear(several)]
    looks = [_named(f"{LOOKS[word].looks} on", single, word) for word in (HELPS, HURTS, EVEN)]
    if any(looks):
        parts.append(f"with one prompt each, it {', '.join(filter(None, looks))}")
    said = "; ".join(filter(None, parts))
    return f"{said[0].upper()}{said[1:]}."


def _helps(several: pd.DataFrame, fair: pd.DataFrame) -> str:
    """Where it helps for sure. "Most" is said only if no other workload is faster, sure or not."""
    helps = several[several["outcome"] == HELPS]
    if helps.empty:
        return "Helps for sure on none of these workloads"
    most = helps.sort_values("speedup", ascending=False, kind="stable").iloc[0]
    where = f"{len(helps)} of {len(fair)} {'workload' if len(fair) == 1 else 'workloads'}"
    fastest = len(helps) > 1 and most["speedup"] >= fair["speedup"].max()
    return f"Helps on {where}{', most on' if fastest else ', such as' if len(helps) > 1 else ':'} {_with_speedup(most)}"


def _with_figure(point: Any, outcome: Word) -> str:
    if outcome == EVEN:
        return _in_a_sentence(point.workload)
    return _with_speedup(point) if outcome == HELPS else _with_rate(point)


def _with_speedup(point: Any) -> str:
    return f"{_in_a_sentence(point.workload)} ({point.speedup:.1f}×)"


def _named(words: str, its: pd.DataFrame, outcome: Word) -> str:
    names = [_with_figure(point, outcome) for point in each_row(its[its["outcome"] == outcome])]
    return f"{words} {', '.join(names)}" if names else ""


def _unclear(several: pd.DataFrame) -> str:
    its = several[several["outcome"] == UNTOLD]
    names = [_in_a_sentence(workload) for workload in its["workload"]]
    return f"cannot be told with {prompts_each(its)} on {', '.join(names)}" if names else ""


def prompts_each(its: pd.DataFrame) -> str:
    few, many = its["prompts"].min(), its["prompts"].max()
    return f"{few} {'prompt' if few == 1 else 'prompts'}" if few == many else f"{few} to {many} prompts"


def _with_rate(point: Any) -> str:
    return f"{_in_a_sentence(point.workload)} ({percent(point.acceptance_rate)} accepted)"


def length_sentence(every: pd.DataFrame) -> str:
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
    alone = int((grid.sum(axis="columns") == 1).sum())
    return f"One length alone is clearly the best on {alone or 'none'} of {len(grid)} workloads."


def _or(lengths: list[int]) -> str:
    *before, last = map(str, lengths)
    return f"{', '.join(before)} or {last}" if before else last


def map_sentence(every: pd.DataFrame, costs: Costs | None) -> str:
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


OUTCOMES: dict[Word, str] = {
    HELPS: "It helps.",
    HURTS: "It hurts: it is slower than the target alone.",
    EVEN: "It is about even.",
    UNTOLD: "It cannot be told with these prompts: the interval contains 1.",
}


def conclusions(rows: pd.DataFrame) -> list[str]:
    """The conclusion of each pair of models at each temperature, in sentences; none without rows.

    Each kind of machine has conclusions of its own. Where there are several, the sentences name theirs.
    """
    studies = studies_of(rows)
    several = len({study.series.machine for study in studies}) > 1
    return [
        f"{study.series.label}{f' on {study.series.machine}' if several else ''}: {sentence}"
        for study in studies
        for sentence in _conclusion(study)
    ]


def _conclusion(study: Study) -> list[str]:
    possible = [clock_sentence(study.spoilt), *_speeds(study)]
    if study.possible["constrained"].any():
        possible.append(grammar_sentence(study.grammar))
    possible.append(_identity(study.rows))
    return [sentence for sentence in possible if sentence]


def _speeds(study: Study) -> list[str]:
    found, fixed = list[str](), not of_kind(study.possible).empty
    if fixed:
        found += [_speed(study.fair_rows, _how(study)), _best_length(study)]
        if len(study.fair) > 1:
            found.append(workload_sentence(study.fair))
    chosen = {name: of_kind(study.possible, schedule) for schedule, name in ADAPTIVE.items()}
    found += [_speed(its, f"with the {name}") for name, its in chosen.items() if not its.empty]
    if fixed and not all(its.empty for its in chosen.values()):
        found.append(adaptive_sentence(study.adaptive))
    return [doubted(sentence, study.spoilt) for sentence in found if sentence]


def _how(study: Study) -> str:
    lengths = sorted(set(study.points["draft_length"]))
    if len(lengths) == 1:
        return f"at draft length {lengths[0]}"
    if _no_prompt_has_others(study):
        return "at each prompt's own best draft length, which flatters,"
    return "with each prompt at the draft length that did best on the other prompts,"


def _speed(rows: pd.DataFrame, how: str) -> str:
    whole: Any = pooled(rows.assign(whole=True), ["whole"]).iloc[0]
    measured = f"{how} speculative decoding runs at {whole.speedup:.2f} times the speed of the target alone"
    if math.isnan(whole.low):
        return f"{measured} (one prompt, so there is no interval)."
    interval = f"95 % interval over {whole.prompts} prompts {whole.low:.2f} to {whole.high:.2f}×"
    return f"{measured} ({interval}). {OUTCOMES[whole.outcome]}"


def _best_length(study: Study) -> str:
    prompts = _prompts(study.fair_rows)
    if study.points["draft_length"].nunique() == 1 or _no_prompt_has_others(study):
        return ""
    votes = prompts["draft_length"].value_counts()
    first = f"γ = {votes.index[0]} for {votes.iloc[0]} of {len(prompts)} prompts"
    others = [f"γ = {length} for {count}" for length, count in list(votes.items())[1:]]
    chosen = ", ".join([first, *others])
    return f"best draft length, chosen for each prompt on the other prompts of its workload: {chosen}."


def _no_prompt_has_others(study: Study) -> bool:
    return bool((_prompts(study.fair_rows).groupby("workload").size() == 1).all())


def _prompts(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.drop_duplicates(["workload", "preset", "text_hash"])


def _identity(rows: pd.DataFrame) -> str:
    judged = rows["identical"].dropna()
    if judged.empty:
        return ""
    differ = int((~judged.astype("bool")).sum())
    if not differ:
        return f"all {len(judged)} outputs are the target's own, token for token."
    return f"{differ} of {len(judged)} outputs differ from the target's own; compare --prompt says where and why."
