"""What all of a sweep's rows say in the end: how fast, how sure, at which draft length. Frames in, sentences out."""

import math
from typing import Any

import pandas as pd

from specviz.measure.sweep.points import ADAPTIVE, EVEN, LOSES, PAYS, UNCLEAR, of_kind, pooled
from specviz.measure.sweep.sentences import adaptive_sentence, clock_sentence, grammar_sentence, workload_sentence
from specviz.measure.sweep.study import Study, studies_of

OUTCOMES = {
    PAYS: "It pays.",
    LOSES: "It is slower than the target alone.",
    EVEN: "That is about even.",
    UNCLEAR: "The interval contains 1, so these prompts cannot tell whether it pays.",
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
    """The sentences of one series, without its name."""
    possible = [clock_sentence(study.spoilt), *_speeds(study)]
    if study.possible["constrained"].any():
        possible.append(grammar_sentence(study.grammar))
    possible.append(_identity(study.rows))
    return [sentence for sentence in possible if sentence]


def _speeds(study: Study) -> list[str]:
    """The speedup of fixed draft lengths and the best of them, by workload too; then of schedules that choose."""
    found, fixed = list[str](), not of_kind(study.possible).empty
    if fixed:
        found += [_speed(study.fair_rows, _how(study)), _best_length(study)]
        if len(study.fair) > 1:
            found.append(workload_sentence(study.fair))
    chosen = {name: of_kind(study.possible, schedule) for schedule, name in ADAPTIVE.items()}
    found += [_speed(its, f"with the {name}") for name, its in chosen.items() if not its.empty]
    if fixed and not all(its.empty for its in chosen.values()):
        found.append(adaptive_sentence(study.adaptive))
    return found


def _how(study: Study) -> str:
    """At which draft lengths."""
    lengths = sorted(set(study.points["draft_length"]))
    if len(lengths) == 1:
        return f"at draft length {lengths[0]}"
    if _no_prompt_has_others(study):
        return "at each prompt's own best draft length, which flatters,"
    return "with each prompt at the draft length that did best on the other prompts,"


def _speed(rows: pd.DataFrame, how: str) -> str:
    """The speedup over all prompts with its 95 % interval, and what that means."""
    whole: Any = pooled(rows.assign(whole=True), ["whole"]).iloc[0]
    measured = f"{how} speculative decoding runs at {whole.speedup:.2f} times the speed of the target alone"
    if math.isnan(whole.low):
        return f"{measured} (one prompt, so there is no interval)."
    interval = f"95 % interval over {whole.prompts} prompts {whole.low:.2f} to {whole.high:.2f}×"
    return f"{measured} ({interval}). {OUTCOMES[whole.outcome]}"


def _best_length(study: Study) -> str:
    """Which draft length the other prompts choose; empty where there is nothing to choose."""
    prompts = _prompts(study.fair_rows)
    if study.points["draft_length"].nunique() == 1 or _no_prompt_has_others(study):
        return ""
    votes = prompts["draft_length"].value_counts()
    first = f"γ = {votes.index[0]} for {votes.iloc[0]} of {len(prompts)} prompts"
    others = [f"γ = {length} for {count}" for length, count in list(votes.items())[1:]]
    chosen = ", ".join([first, *others])
    return f"best draft length, chosen for each prompt on the other prompts of its workload: {chosen}."


def _no_prompt_has_others(study: Study) -> bool:
    """Whether each workload has one prompt only, so that its best draft length cannot be chosen on others."""
    return bool((_prompts(study.fair_rows).groupby("workload").size() == 1).all())


def _prompts(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each prompt, with the draft length chosen for it."""
    return rows.drop_duplicates(["workload", "preset", "text_hash"])


def _identity(rows: pd.DataFrame) -> str:
    """Whether greedy outputs are the target's own; empty for sampled ones."""
    judged = rows["identical"].dropna()
    if judged.empty:
        return ""
    differ = int((~judged.astype("bool")).sum())
    if not differ:
        return f"all {len(judged)} outputs are the target's own, token for token."
    return f"{differ} of {len(judged)} outputs differ from the target's own; compare --prompt says where and why."
