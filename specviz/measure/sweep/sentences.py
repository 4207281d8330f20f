"""What a sweep's points say, each in one sentence. Frames of `study` in, text out."""

import math
from itertools import product
from typing import Any

import pandas as pd

from specviz.core.judge import LOOKS
from specviz.core.metrics import Costs
from specviz.core.numbers import times
from specviz.core.texts import Sentences, join_choices
from specviz.data.prompts.workloads import find_workload
from specviz.data.texts import page_texts
from specviz.measure.sweep.plan import OWN_WORKLOAD
from specviz.measure.sweep.study import (
    ADAPTIVE,
    Study,
    break_even_line,
    round_steps,
    select_kind,
    studies_of,
    summarise,
)
from specviz.measure.sweep.table import iterate_rows

say = Sentences("sweep")
SCHEDULES = page_texts("schedules")


def clock_sentence(impossible: "pd.Series[bool]") -> str:
    """How many rows a busy machine has certainly spoilt, from `study.impossible`; empty for none."""
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
    return say(
        "grammar", higher=int((rates[True] > rates[False]).sum()), all=len(rates), within=within, without=without
    )


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
