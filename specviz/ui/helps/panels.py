"""The tabs of "When it helps": each takes the rows of one pair and shows what they say."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from specviz.core.judge import UNTOLD
from specviz.measure.sweep.points import ADAPTIVE
from specviz.measure.sweep.sentences import (
    adaptive_sentence,
    doubted,
    grammar_sentence,
    length_sentence,
    lookup_map_sentence,
    map_sentence,
    prediction_sentence,
    prompts_each,
    repetition_sentence,
    workload_sentence,
    workload_title,
)
from specviz.measure.sweep.simultaneous import RISK
from specviz.measure.sweep.study import Study
from specviz.measure.sweep.table import each_row
from specviz.ui.helps.batches import show_batches
from specviz.ui.helps.by_draft import show_by_draft
from specviz.ui.helps.by_method import show_by_method
from specviz.ui.helps.figures import (
    acceptance_figure,
    adaptive_figure,
    break_even_figure,
    break_even_tokens_figure,
    grammar_figure,
    grid_figure,
    length_figure,
    workload_figure,
)
from specviz.ui.helps.helps_state import ByDraft
from specviz.ui.race.elsewhere import show_race_beside
from specviz.ui.session import session
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.parts import PERCENT, TIMES, data_table, note, numbers, texts


def show_temperatures(study: Study) -> None:
    studies = sorted([study, *study.others], key=lambda each: each.series.temperature)
    if len(studies) == 1 and study.fair["repetition"].isna().all():
        return
    table = temperature_table(study.fair["workload"].to_list(), studies)
    alt = "Speedup with its interval and share of repeated 4-grams, by workload and temperature."
    data_table(table, "sweep_temperatures", alt, texts(*table.columns[1:]))
    st.caption(TEMPERATURES_CAPTION)


TEMPERATURES_CAPTION = (
    "Each figure is over prompts, at the draft length that did best on the other prompts, with the 95 % interval; a "
    "question mark: with these prompts it cannot be told whether it helps. Repeated: the share of an output’s 4-grams "
    "(four tokens in a row) that occurred earlier in it. Greedy decoding often falls into a loop, which is easy to "
    "draft; at temperature 1 a model of this size repeats itself less."
)


def temperature_table(workloads: Sequence[str], studies: Sequence[Study]) -> pd.DataFrame:
    columns: dict[str, list[str | None]] = {"workload": [workload_title(name) for name in workloads]}
    for study in studies:
        points = {point.workload: point for point in each_row(study.as_sure(study.fair))}
        name = _temperature(study.series.temperature)
        columns[name] = [_speedup(points.get(workload)) for workload in workloads]
        columns[f"repeated, {name}"] = [_repeated(points.get(workload)) for workload in workloads]
    return pd.DataFrame(columns)


def _temperature(value: float) -> str:
    return "greedy" if value == 0 else f"temperature {value:g}"


def _speedup(point: object) -> str | None:
    if point is None:
        return None
    speedup, low, high, outcome = (getattr(point, name) for name in ("speedup", "low", "high", "outcome"))
    interval = "" if pd.isna(low) else f" ({low:.2f}–{high:.2f})"
    return f"{speedup:.2f}×{interval}{' ?' if outcome == UNTOLD else ''}"


def _repeated(point: object) -> str | None:
    share = getattr(point, "repetition", None)
    return None if share is None or pd.isna(share) else f"{100 * share:.0f} %"


Panel = Callable[[Study, str], None]  # one series, and where its rows are from


def by_workload(study: Study, source: str) -> None:
    fair = study.fair
    _reading(doubted(workload_sentence(fair), study.spoilt))
    if fair.empty:
        return
    chart(workload_figure(study.as_sure(fair), study.fair_rows), "sweep-workload", f"Speedup by workload, {source}.")
    show_race_beside(study, session().race.shown().values())
    if repeated := repetition_sentence(fair):
        st.markdown(plain(repeated))
    show_temperatures(study)
    chart(acceptance_figure(fair), "sweep-acceptance", f"Both acceptance rates by workload, {source}.")
    note(WORKLOAD_CAPTION, "sweep-workload")


WORKLOAD_CAPTION = (
    "The speedup of a bar is the geometric mean of its prompts (the dots), and its line is the 95 % interval over the "
    "prompts. Each prompt is shown at the draft length γ that did best on the workload’s other prompts: the best of "
    "several noisy figures would flatter. A draft helps where the interval is above 1×, and hurts where it is below. "
    "It is about even where the interval contains 1× and is within 5 % of it. Anything else cannot be told with so few "
    "prompts. Accepted / drafted counts every drafted token. The acceptance per judgement, α, leaves out the discarded "
    "tokens, which the target never checked: accepted / (accepted + rejected)."
)


def by_length(study: Study, source: str) -> None:
    every = study.points
    _reading(doubted(length_sentence(every), study.spoilt))
    if every.empty:
        return
    chart(length_figure(every), "sweep-length", f"Speedup against draft length by workload, {source}.")
    note(
        f"Each point is the geometric mean of {prompts_each(every)}. A ring: the highest point of a line, or one that "
        "these prompts cannot tell apart from it (the interval of the paired ratio over the prompts contains 1). The "
        "interval is for all pairs of lengths together: where all lengths are equal, chance tells one apart on at most "
        f"{100 * RISK:.0f} % of workloads. "
        "The highest was chosen from the same prompts as are shown. The By drafter tab counts tokens per target call "
        "at every draft length, which needs no clock.",
        "sweep-length",
    )


def by_map(study: Study, source: str) -> None:
    every, costs = study.points, study.costs
    _reading(doubted((lookup_map_sentence if study.lookup else map_sentence)(every, costs), study.spoilt))
    if every.empty:
        return
    chart(grid_figure(study.as_sure(every)), "sweep-grid", f"Speedup by workload and draft length, {source}.")
    if costs and study.lookup:
        chart(
            break_even_tokens_figure(every, costs),
            "sweep-break-even",
            f"Tokens per target call and draft length, {source}, and break-even.",
        )
        st.markdown(prediction_sentence(study.predictions))
        note(LOOKUP_MAP_CAPTION, "sweep-map")
    elif costs:
        chart(
            break_even_figure(every, costs),
            "sweep-break-even",
            f"Acceptance and draft length, {source}, and break-even.",
        )
        note(MAP_CAPTION, "sweep-map")


LOOKUP_MAP_CAPTION = (
    "Prompt lookup drafts at most γ tokens, often fewer, so α and γ do not say what a round gives. Here the tokens per "
    "target call are counted. The line is modelled: the time of a round in steps of the target alone, nc + v(γ+1) + o, "
    "with n the mean number of drafted tokens at that γ. The points above the line should be faster than the target "
    "alone."
)
MAP_CAPTION = (
    "The line is modelled, that is computed by a formula and not timed: the acceptance per judgement α at which "
    "E(γ) = γc + v(γ+1) + o (Leviathan et al. 2023, Theorem 3.8, with the verification and overhead of these rows). "
    "E(γ) is the expected number of tokens per target call. Costs are in steps of the target alone: c is a draft step, "
    "v(γ+1) the target pass that checks γ+1 tokens at once, and o the overhead of a round. The points are measured: "
    "those above the line should be faster than the target alone."
)


def by_constraint(study: Study, source: str) -> None:
    pairs = study.grammar
    _reading(grammar_sentence(pairs))
    if pairs.empty:
        st.info("Choose the Constrained output workload and switch on “With and without grammar”, then measure.")
        return
    chart(grammar_figure(pairs), "sweep-held", f"Acceptance without and with the grammar, by prompt, {source}.")
    table = pd.DataFrame({"prompt": pairs["prompt"]})
    for name, column, scale in (
        ("accepted", "acceptance_rate", 100),
        ("α", "per_judgement_rate", 100),
        ("speedup", "speedup", 1),
    ):
        for way in ("without", "with"):
            table[f"{name}, {way}"] = scale * pairs[f"{column}_{way}"]
    formats = numbers(PERCENT, *table.columns[1:5]) | numbers(TIMES, *table.columns[5:])
    data_table(
        table, "sweep_held_table", "Acceptance and speedup of each prompt, without and with its grammar.", formats
    )
    lengths = ", ".join(map(str, sorted({length for each in pairs["lengths_with"] for length in each})))
    st.caption(
        f"Fixed draft lengths γ = {lengths}, all together. The grammar (a JSON schema or a regular expression) masks "
        "the tokens of both models: in the draft, in the check, and in the run of the target alone that it is compared "
        "with. An output ends where it is complete. Without the grammar the same prompt is continued freely."
    )


def by_schedule(study: Study, source: str) -> None:
    found = study.adaptive
    _reading(doubted(adaptive_sentence(found), study.spoilt))
    if found.empty:
        st.info("Choose “heuristic” or “confidence stop” beside “fixed γ”, then measure.")
        return
    chart(
        adaptive_figure(found),
        "sweep-adaptive",
        f"Fixed draft length chosen on other prompts, and adaptive schedules, by workload, {source}.",
    )
    table = pd.DataFrame(
        {
            "workload": found["workload"].map(workload_title),
            "fixed γ": found["lengths"].map(lambda lengths: ", ".join(map(str, lengths))),
            "speedup at it": found["speedup"],
            **{name: found[schedule] for schedule, name in ADAPTIVE.items()},
        }
    )
    formats = numbers(TIMES, "speedup at it", *ADAPTIVE.values())
    alt = "Speedup of the fixed draft length that did best on other prompts and of each schedule, by workload."
    data_table(table, "sweep_adaptive_table", alt, formats)
    st.caption(
        "The fixed γ of each prompt is the one that did best on the other prompts of its workload. The heuristic (an "
        "option of transformers’ assisted generation) drafts two tokens more after a round that accepted all, and one "
        "fewer after any other round. The confidence stop ends a draft after a token to which the draft model gives "
        "less than 0.4. The default of transformers is nearest to it: up to 20 tokens, and a limit that starts there "
        "and adapts where scikit-learn is installed."
    )


def tabs(by_draft: ByDraft) -> dict[str, Panel]:
    return {
        "By workload": by_workload,
        "Draft length": by_length,
        "Map": by_map,
        "Constrained output": by_constraint,
        "Adaptive": by_schedule,
        "By drafter": lambda *_: show_by_draft(by_draft),
        "By method": lambda *_: show_by_method(),
        "In batches": lambda *_: show_batches(),
    }


def _reading(sentence: str) -> None:
    st.markdown(f"**{plain(sentence)}**")
