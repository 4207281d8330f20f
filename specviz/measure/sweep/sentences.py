"""What a sweep's points say, each in one sentence. Frames of `study` in, text out."""

import math
from typing import Any

import pandas as pd

from specviz.core.judge import EVEN, HELPS, HURTS, LOOKS, NEUTRAL, UNTOLD, VerdictWord
from specviz.core.metrics import Costs
from specviz.core.numbers import percent as in_percent
from specviz.core.texts import Sentences, join_choices
from specviz.data.prompts.workloads import find_workload
from specviz.data.texts import page_texts
from specviz.measure.sweep.plan import OWN_WORKLOAD
from specviz.measure.sweep.study import (
    ADAPTIVE,
    PROMPT,
    Study,
    break_even_line,
    pooled,
    round_steps,
    select_kind,
    studies_of,
)
from specviz.measure.sweep.table import iterate_rows

say = Sentences("sweep")
SCHEDULES = page_texts("schedules")
REPEATS = 0.25  # of the 4-grams: workloads whose outputs repeat themselves this much are named


def outcome_sentence(word: VerdictWord) -> str:
    return say(("it_helps", "it_hurts", "it_is_even", "it_is_untold")[(HELPS, HURTS, EVEN, UNTOLD).index(word)])


def clock_sentence(impossible: "pd.Series[bool]") -> str:
    """How many rows a busy machine has certainly spoilt, from `study.impossible`; empty for none."""
    spoilt = int(impossible.sum())
    return say("spoilt", spoilt=spoilt, all=len(impossible)) if spoilt else ""


def doubted(sentence: str, impossible: "pd.Series[bool]") -> str:
    """What a sweep says, as no more than its times support: on a busy machine they decide nothing."""
    spoilt = int(impossible.sum())
    if not spoilt or sentence == say("nothing"):
        return sentence
    return say("no_verdict", spoilt=spoilt, all=len(impossible), sentence=sentence)


def workload_title(name: str) -> str:
    """The workload's name on an axis; a visitor's own workload is shown by the name in the file."""
    known = find_workload(name)
    return known.here.title if known else say("your_prompts") if name == OWN_WORKLOAD else name


def percent(rate: float | None) -> str:
    return say("none_drafted") if rate is None or pd.isna(rate) else in_percent(rate)


def workload_sentence(fair: pd.DataFrame) -> str:
    if fair.empty:
        return say("nothing")
    several, single = fair[fair["prompts"] > 1], fair[fair["prompts"] == 1]
    parts = [_helps(several, fair) if len(several) else ""]
    unclear = several[several["outcome"] == UNTOLD]
    if hurt := _listed(several, HURTS):
        parts.append(say("hurts_on", names=hurt))
    if even := _listed(several, EVEN):
        parts.append(say("even_on", names=even))
    if names := _listed(unclear, UNTOLD):
        parts.append(say("untold_on", prompts=prompts_each(unclear), names=names))
    looks = {LOOKS[word].looks: _listed(single, word) for word in (HELPS, HURTS, EVEN)}
    if any(looks.values()):
        said_of = [say("looks_on", looks=said, names=names) for said, names in looks.items() if names]
        parts.append(say("of_one_prompt", looks=", ".join(said_of)))
    said = "; ".join(filter(None, parts))
    return say("whole", said=f"{said[0].upper()}{said[1:]}")


def _helps(several: pd.DataFrame, fair: pd.DataFrame) -> str:
    """Where it helps for sure."""
    helps = several[several["outcome"] == HELPS]
    if helps.empty:
        return say("helps_nowhere")
    most = helps.sort_values("speedup", ascending=False, kind="stable").iloc[0]
    name = _spell_workload(most.workload)
    return say("helps_on", helps=len(helps), all=len(fair), speedup=most["speedup"], name=name)


def _listed(its: pd.DataFrame, outcome: VerdictWord) -> str:
    return join_choices([*map(_spell_workload, its[its["outcome"] == outcome]["workload"])], "and")


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


def repetition_sentence(fair: pd.DataFrame) -> str:
    repeated = fair[fair["repetition"] >= REPEATS].sort_values("repetition", ascending=False, kind="stable")
    named = [f"{_spell_workload(point.workload)} ({percent(point.repetition)})" for point in iterate_rows(repeated)]
    return say("repeats", names=join_choices(named, "and")) if named else ""


def grammar_sentence(pairs: pd.DataFrame) -> str:
    judged = pairs.dropna(subset=["acceptance_rate_without", "acceptance_rate_with"])
    if judged.empty:
        return say("nothing")
    higher = int((judged["acceptance_rate_with"] > judged["acceptance_rate_without"]).sum())
    without, within = (judged[f"accepted_{way}"].sum() / judged[f"drafted_{way}"].sum() for way in ("without", "with"))
    return say("grammar", higher=higher, all=len(judged), within=within, without=without)


def adaptive_sentence(found: pd.DataFrame) -> str:
    if found.empty:
        return say("nothing")
    parts = []
    for schedule in ADAPTIVE:
        its = found.dropna(subset=schedule)
        near = int((its[schedule] * NEUTRAL >= its["speedup"]).sum())
        if len(its):
            parts.append(say("near_on", schedule=SCHEDULES[schedule], near=near, all=len(its)))
    return say("adaptive", near=join_choices(parts, "and"))


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
    possible = [clock_sentence(study.spoilt), *_speeds(study)]
    if study.possible["constrained"].any():
        possible.append(grammar_sentence(study.grammar))
    possible.append(_identity(study.rows))
    return [sentence for sentence in possible if sentence]


def _speeds(study: Study) -> list[str]:
    found, fixed = list[str](), not select_kind(study.possible).empty
    if fixed:
        found += [_speed(study.fair_rows, _describe_choice(study)), _best_length(study)]
        if len(study.fair) > 1:
            found.append(workload_sentence(study.fair))
    chosen = {schedule: select_kind(study.possible, schedule) for schedule in ADAPTIVE}
    found += [_speed(its, f"with the {SCHEDULES[name]}") for name, its in chosen.items() if not its.empty]
    if fixed and not all(its.empty for its in chosen.values()):
        found.append(adaptive_sentence(study.adaptive))
    return [doubted(sentence, study.spoilt) for sentence in found if sentence]


def _describe_choice(study: Study) -> str:
    lengths = sorted(set(study.points["draft_length"]))
    if len(lengths) == 1:
        return f"at draft length {lengths[0]}"
    if _has_single_prompts(study):
        return "at each prompt's own best draft length, which flatters,"
    return "with each prompt at the draft length that did best on the other prompts,"


def _speed(rows: pd.DataFrame, how: str) -> str:
    whole: Any = pooled(rows.assign(whole=True), ["whole"]).iloc[0]
    speed = say("speed", how=how, whole=whole)
    if math.isnan(whole.low):
        return say("speed_of_one", speed=speed)
    return say("speed_of_several", speed=speed, whole=whole, outcome=outcome_sentence(whole.outcome))


def _best_length(study: Study) -> str:
    if study.points["draft_length"].nunique() == 1 or _has_single_prompts(study):
        return ""
    votes = study.fair_rows.drop_duplicates(["workload", *PROMPT])["draft_length"].value_counts()
    first = f"γ = {votes.index[0]} for {votes.iloc[0]} of {votes.sum()} prompts"
    others = [f"γ = {length} for {count}" for length, count in list(votes.items())[1:]]
    chosen = ", ".join([first, *others])
    return say("chosen_lengths", chosen=chosen)


def _has_single_prompts(study: Study) -> bool:
    return bool((study.fair["prompts"] == 1).all())


def _identity(rows: pd.DataFrame) -> str:
    judged = rows["identical"].dropna()
    if judged.empty:
        return ""
    different = int((~judged.astype("bool")).sum())
    return say("different", different=different, all=len(judged)) if different else say("identical", all=len(judged))
