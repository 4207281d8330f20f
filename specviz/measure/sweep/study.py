"""A sweep's rows, pooled: what is measured of each workload, draft length and prompt, and what it says in sentences.

A `Study` computes its tables once for each file, and only where they are looked at.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any

import pandas as pd

from specviz.core.intervals import interval_of_ratios, student_t
from specviz.core.judge import LOOKS, UNTOLD, judge, least_check
from specviz.core.metrics import SHORTEST, Costs
from specviz.core.numbers import times
from specviz.core.texts import Sentences, join_choices
from specviz.core.theory import break_even_acceptance
from specviz.data.prompts.workloads import find_workload
from specviz.data.texts import page_texts
from specviz.measure.sweep.plan import OWN_WORKLOAD
from specviz.measure.sweep.rows import SERIES, SweepSeries, iterate_rows, joined, names_apart

say = Sentences("sweep")
SCHEDULES = page_texts("schedules")

PROMPT = ["preset", "text_hash"]  # what tells prompts apart: names in a visitor's file may be used twice
ADAPTIVE = ("heuristic", "confidence")  # schedules that choose the length
RISK = 0.05  # at most so often is any of k equal lengths told apart from the best


def select_kind(rows: pd.DataFrame, schedule: str = "fixed") -> pd.DataFrame:
    return rows[(rows["draft_schedule"] == schedule) & ~rows["constrained"]]


def summarise(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """One row for each group of `rows` that is the same in the columns `by`, in the order of first occurrence.

    Columns:
        those of `by`
        drafted, accepted, rejected, rounds, new_tokens, runs, prompts: how many there are, all together.
        lengths: the draft lengths among them, as a tuple.
        speedup: the geometric mean: twice as fast and half as fast average to 1.
        low, high: its 95 % interval over the prompts; NaN for a single prompt.
        acceptance_rate: accepted / drafted, all together; NaN where nothing was drafted.
        per_judgement_rate: accepted / (accepted + rejected), all together; NaN where nothing was judged.
        tokens_per_target_call: new_tokens / rounds, all together.
        outcome: the word of `judge`; of one prompt by its size alone.
        repetition: the mean share of an output's 4-grams that occurred earlier in it; NaN where not measured.
    """
    logs = rows.assign(log=rows["speedup"].map(math.log))
    groups = logs.groupby(by, sort=False)
    prompts = logs.groupby(list(dict.fromkeys([*by, *PROMPT])), sort=False)["log"].mean().map(math.exp)
    ratios = prompts.groupby(level=by, sort=False).agg(list)
    intervals = [interval_of_ratios(each) if len(each) > 1 else (math.nan, math.nan) for each in ratios]
    sums = groups[["drafted", "accepted", "rejected", "rounds", "new_tokens"]].sum()
    lengths: Any = groups["draft_length"].agg(lambda lengths: tuple(sorted(set(lengths))))
    found = sums.assign(
        **{
            "runs": groups.size(),
            "lengths": lengths,
            "speedup": groups["log"].mean().map(math.exp),
            "acceptance_rate": sums["accepted"] / sums["drafted"],
            "per_judgement_rate": sums["accepted"] / (sums["accepted"] + sums["rejected"]),
            "tokens_per_target_call": sums["new_tokens"] / sums["rounds"],
            "repetition": groups["repetition"].mean(),
            "prompts": ratios.map(len),
            "low": [low for low, _ in intervals],
            "high": [high for _, high in intervals],
        }
    ).reset_index()
    judged = zip(found["speedup"], intervals, strict=True)
    return found.assign(outcome=[judge(speedup, interval).word for speedup, interval in judged])


def best_points(every: pd.DataFrame) -> pd.DataFrame:
    best = every.loc[every.groupby("workload", sort=False)["speedup"].idxmax()]
    return best.sort_values("speedup", ascending=False, kind="stable", ignore_index=True)


def impossible(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Rows whose round would take less than its check can: `least_check`. Of equally long texts only."""
    most = rows["new_tokens"] / rows["rounds"] / rows["target_dtype"].map(least_check)
    return (rows["plain_tokens"] == rows["new_tokens"]) & (rows["speedup"] > most)


def break_even_line(costs: Costs, lengths: list[int]) -> list[float | None]:
    """The α, per judgement, at which each draft length breaks even; None where no α is enough. Modelled."""
    return [break_even_acceptance(length, costs.cost_ratio, costs.verification, costs.overhead) for length in lengths]


def rivals_t(freedom: int, lengths: int) -> float:
    """The t above which a length is told apart from the best of `lengths`, with `RISK` for all of them together.

    The best is itself chosen by these figures, so it may be any of them: Bonferroni's bound over all ordered pairs,
    RISK / (k (k - 1)) each. RISK / 2 / (k - 1), for a best that is known before, would tell a length apart in more than
    RISK of simulated equal cases (tests/unit/test_study.py).
    """
    if lengths < 2:
        return math.inf
    return student_t(freedom, 1 - RISK / (lengths * (lengths - 1)))


def round_steps(its: pd.DataFrame, costs: Costs) -> "pd.Series[float]":
    """The mean time of a round in target steps: speculation pays where the tokens per target call exceed it."""
    checked = its["draft_length"].map(lambda length: costs.verification[length + 1])
    steps: pd.Series[float] = its["drafted"] / its["rounds"] * costs.cost_ratio + checked + costs.overhead
    return steps


class Study:
    """The rows of one series; each table is computed once, when it is asked for."""

    def __init__(self, series: SweepSeries, rows: pd.DataFrame) -> None:
        self.series, self.rows = series, rows
        self.others: Sequence[Study] = ()  # the same pair at other temperatures
        self.spoilt = impossible(rows)
        self.possible = rows[~self.spoilt]

    @property
    def lookup(self) -> bool:
        return self.series.draft_dtype is None

    def mark_unsure(self, found: pd.DataFrame) -> pd.DataFrame:
        """Points to be drawn: with outcomes that are too close to call where the machine was busy."""
        return found.assign(outcome=UNTOLD) if self.spoilt.any() else found

    @cached_property
    def logs(self) -> pd.DataFrame:
        """The mean logarithm of the speedup of each prompt at each fixed draft length, and how often it was timed."""
        logs = select_kind(self.possible).assign(log=lambda its: its["speedup"].map(math.log))
        its = logs.groupby(["workload", *PROMPT, "draft_length"], sort=False)["log"]
        return its.agg(["sum", "count", "mean"]).reset_index()

    @cached_property
    def points(self) -> pd.DataFrame:
        """Each workload at each fixed draft length: `summarise`, and whether the length may be its workload's best.

        The best is the highest of these very figures. Another length is told apart from it if the simultaneous
        t-interval of the paired ratio, best / other on the same prompt, lies above 1: see `rivals_t`. A single prompt
        tells nothing apart.
        """
        every = summarise(select_kind(self.possible), ["workload", "draft_length"])
        if every.empty:
            return every.assign(may_be_best=pd.Series(dtype="bool"))
        top = self.logs.merge(best_points(every)[["workload", "draft_length"]])
        pairs = self.logs.merge(top, on=["workload", *PROMPT], suffixes=("", "_top"))
        behind = (pairs["mean_top"] - pairs["mean"]).groupby([pairs["workload"], pairs["draft_length"]])
        found = every.merge(behind.agg(["mean", "std", "size"]).reset_index(), how="left")
        lengths = every.groupby("workload")["draft_length"].transform("size")
        limits = [
            rivals_t(int(size) - 1, count) if size > 1 else math.inf
            for size, count in zip(found["size"], lengths, strict=True)
        ]
        return every.assign(may_be_best=~(found["mean"] > limits * found["std"] / found["size"] ** 0.5))

    @cached_property
    def fair_rows(self) -> pd.DataFrame:
        """Each prompt's rows at the draft length that did best on the other prompts of its workload.

        The best of several noisy figures flatters. A draft length chosen on other prompts cannot profit from a prompt's
        own luck. A prompt without others is shown at its own best length.
        """
        prompt, own = ["workload", *PROMPT], self.logs
        others = own.groupby(["workload", "draft_length"])[["sum", "count"]].transform("sum") - own[["sum", "count"]]
        score = others["sum"] / others["count"].where(others["count"] > 0)
        has_others = score.notna().groupby([own[name] for name in prompt]).transform("any")
        scored = own.assign(score=score.where(has_others, own["mean"]))
        chosen = scored.loc[scored.groupby(prompt, sort=False)["score"].idxmax(), [*prompt, "draft_length"]]
        return select_kind(self.possible).merge(chosen)

    @cached_property
    def fair(self) -> pd.DataFrame:
        found = summarise(self.fair_rows, ["workload"])
        return found.sort_values("speedup", ascending=False, kind="stable", ignore_index=True)

    @cached_property
    def costs(self) -> Costs | None:
        """c, v(γ+1) and o from the times of chains of a fixed length without a grammar; None without any."""
        its = select_kind(self.possible)
        its = its[(its["drafted"] > 0) & its["tree"].isna()]
        if its.empty:
            return None
        step = float((its["autoregressive_seconds"] / its["plain_tokens"]).median())
        checks: Any = (its["verify_seconds"] / its["rounds"]).groupby(its["draft_length"]).median().to_dict()
        if min(step, *checks.values()) < SHORTEST:
            return None
        return Costs(
            step_seconds=step,
            cost_ratio=float((its["draft_seconds"] / its["drafted"]).median()) / step,
            verification={length + 1: seconds / step for length, seconds in checks.items()},
            overhead=float(its["overhead_seconds"].sum() / its["rounds"].sum()) / step,
        )

    @cached_property
    def grammar(self) -> pd.DataFrame:
        """Prompts measured at the same fixed lengths without and with their grammar: `summarise` by both."""
        fixed = self.possible[self.possible["draft_schedule"] == "fixed"]
        ways = fixed.groupby(["preset", "draft_length"])["constrained"].transform("nunique")
        return summarise(fixed[ways == 2], ["preset", "constrained"])

    @cached_property
    def schedules(self) -> pd.DataFrame:
        """Workloads measured with a schedule that chooses the draft length: `summarise` by both, beside `fair_rows`."""
        rows, fair = self.possible, self.fair_rows
        chosen = rows[(rows["draft_schedule"] != "fixed") & ~rows["constrained"]]
        beside = fair[fair["workload"].isin(chosen["workload"])]
        return summarise(joined(beside, chosen), ["workload", "draft_schedule"])


def studies_of(rows: pd.DataFrame) -> list[Study]:
    """One for each series of the rows, each knowing the same pair at other temperatures."""
    rows = rows.assign(preset=names_apart(zip(rows["preset"], rows["text_hash"], strict=True)))
    groups: Any = rows.groupby(list(SERIES), sort=False, dropna=False)
    pairs: dict[SweepSeries, list[Study]] = defaultdict(list)
    studies = []
    for key, its in groups:
        known: dict[str, Any] = {name: None if pd.isna(of) else of for name, of in zip(SERIES, key, strict=True)}
        studies.append(Study(SweepSeries(**known), its))
        pairs[replace(studies[-1].series, temperature=0.0)].append(studies[-1])
    for same in pairs.values():
        for study in same:
            study.others = [other for other in same if other is not study]
    return studies


def clock_sentence(impossible: "pd.Series[bool]") -> str:
    """How many rows a busy machine has certainly spoilt, from `impossible`; empty for none."""
    spoilt = int(impossible.sum())
    return say("spoilt", spoilt=spoilt, all=len(impossible)) if spoilt else ""


def workload_title(name: str) -> str:
    """The workload's name on an axis; a visitor's own workload is shown by the name in the file."""
    known = find_workload(name)
    return known.here.title if known else say("your_prompts") if name == OWN_WORKLOAD else name


def workload_sentence(fair: pd.DataFrame) -> str:
    """ "Helps on story (1.56×); looks like it hurts on random words (0.60×).": what several prompts support first."""
    if fair.empty:
        return say("nothing")
    on: dict[str, list[str]] = {}
    for word, several in product(LOOKS, (True, False)):
        for point in iterate_rows(fair[(fair["outcome"] == word) & ((fair["prompts"] > 1) == several)]):
            said = LOOKS[word].said if several else LOOKS[word].looks
            on.setdefault(said, []).append(f"{_spell_workload(point.workload)} ({times(point.speedup)})")
    said = "; ".join(say("on", said=said, names=join_choices(names, "and")) for said, names in on.items())
    return say("whole", said=f"{said[0].upper()}{said[1:]}")


def prompts_each(its: pd.DataFrame) -> str:
    few, many = its["prompts"].min(), its["prompts"].max()
    return say("prompts", count=int(few)) if few == many else say("prompts_between", few=few, many=many)


def length_sentence(every: pd.DataFrame) -> str:
    if every.empty:
        return say("nothing")
    if every["prompts"].max() == 1:
        return say("one_prompt")
    grid = every.pivot(index="workload", columns="draft_length", values="may_be_best").fillna(False).astype("bool")
    prompts = prompts_each(every)
    if everywhere := [int(length) for length in grid.columns[grid.all()]]:
        return say("no_length", prompts=prompts, lengths=join_choices(everywhere))
    may_be = {str(name): [int(length) for length in grid.columns[row]] for name, row in grid.iterrows()}
    shortest, longest = min(may_be, key=lambda name: max(may_be[name])), max(may_be, key=lambda name: min(may_be[name]))
    ends = [
        say("lengths_on", lengths=join_choices(may_be[name]), workload=_spell_workload(name))
        for name in (shortest, longest)
    ]
    return say("lengths", prompts=prompts, ends=join_choices(ends, "and"))


def map_sentence(every: pd.DataFrame, costs: Costs | None, lookup: bool = False) -> str:
    """How many points are where break-even says; of prompt lookup by counted tokens: it often drafts fewer than γ."""
    judged = every.dropna(subset="per_judgement_rate")
    if costs is None or judged.empty:
        return say("nothing")
    if lookup:
        predicted = judged["tokens_per_target_call"] > round_steps(judged, costs)
    else:
        line = pd.Series(break_even_line(costs, judged["draft_length"].to_list()), judged.index, dtype="float64")
        predicted = judged["per_judgement_rate"] > line  # never above a line that no rate reaches
    sides = int((predicted == (judged["speedup"] > 1)).sum())
    return say("map", sides=sides, all=len(judged), costs=costs)


def grammar_sentence(ways: pd.DataFrame) -> str:
    rates = ways.pivot(index="preset", columns="constrained", values="acceptance_rate").dropna()
    if rates.empty:
        return say("nothing")
    sums = ways[ways["preset"].isin(rates.index)].groupby("constrained")[["accepted", "drafted"]].sum()
    without, within = sums["accepted"] / sums["drafted"]
    higher = int((rates[True] > rates[False]).sum())
    return say("grammar", higher=higher, all=len(rates), within=within, without=without)


def _spell_workload(workload: str) -> str:
    title = workload_title(workload)
    return title[0].lower() + title[1:] if find_workload(workload) else title


def conclusions(rows: pd.DataFrame) -> list[str]:
    """The conclusion of each pair at each temperature on each kind of machine, in sentences; none without rows."""
    studies = studies_of(rows)
    several = len({study.series.machine for study in studies}) > 1
    return [
        f"{study.series.label}{f' on {study.series.machine}' if several else ''}: {sentence}"
        for study in studies
        for sentence in _conclusion(study)
    ]


def _conclusion(study: Study) -> list[str]:
    """On a busy machine times decide nothing: then only what is counted is said."""
    found = [spoilt] if (spoilt := clock_sentence(study.spoilt)) else _speeds(study)
    if study.possible["constrained"].any():
        found.append(grammar_sentence(study.grammar))
    judged = study.rows["identical"].dropna()
    if not judged.empty:
        different = int((~judged.astype("bool")).sum())
        alike = say("identical", all=len(judged))
        found.append(say("different", different=different, all=len(judged)) if different else alike)
    return found


def _speeds(study: Study) -> list[str]:
    found = list[str]()
    if not study.fair.empty:
        lengths = sorted(set(study.points["draft_length"]))
        how = "with each prompt at the draft length that did best on the other prompts,"
        if len(lengths) == 1:
            how = f"at draft length {lengths[0]}"
        elif (study.fair["prompts"] == 1).all():
            how = "at each prompt's own best draft length, which flatters,"
        found.append(_speed(study.fair_rows, how))
        found += [workload_sentence(study.fair)] if len(study.fair) > 1 else []
    chosen = {schedule: select_kind(study.possible, schedule) for schedule in ADAPTIVE}
    return found + [_speed(its, f"with the {SCHEDULES[name]}") for name, its in chosen.items() if not its.empty]


def _speed(rows: pd.DataFrame, how: str) -> str:
    whole: Any = summarise(rows.assign(whole=True), ["whole"]).iloc[0]
    speed = say("speed", how=how, whole=whole)
    if math.isnan(whole.low):
        return say("speed_of_one", speed=speed)
    said = LOOKS[whole.outcome].said
    return say("speed_of_several", speed=speed, whole=whole, outcome=f"{said[0].upper()}{said[1:]}.")
