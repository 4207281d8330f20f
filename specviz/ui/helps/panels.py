"""The tabs of "When it helps": each takes the rows of one pair and shows what they say."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from specviz.data.lessons.glossary import explained
from specviz.measure.sweep.points import (
    ADAPTIVE,
    adaptive_points,
    costs_of,
    fair_points,
    fair_rows,
    grammar_pairs,
    points,
)
from specviz.measure.sweep.sentences import (
    adaptive_sentence,
    grammar_sentence,
    length_sentence,
    map_sentence,
    workload_sentence,
    workload_title,
)
from specviz.ui.helps.by_draft import show_by_draft
from specviz.ui.helps.figures import (
    acceptance_figure,
    adaptive_figure,
    break_even_figure,
    grammar_figure,
    grid_figure,
    length_figure,
    workload_figure,
)
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.tables import NOT_MEASURED, PERCENT, TIMES, numbers

Panel = Callable[[pd.DataFrame, str], None]  # rows of one series, and where they are from


def by_workload(rows: pd.DataFrame, source: str) -> None:
    """Speedup and both acceptance rates, a workload each."""
    chosen = fair_rows(rows)
    fair = fair_points(chosen)
    _reading(workload_sentence(fair))
    if fair.empty:
        return
    chart(workload_figure(fair, chosen), "sweep-workload", f"Speedup by workload, {source}.")
    chart(acceptance_figure(fair), "sweep-acceptance", f"Both acceptance rates by workload, {source}.")
    _caption(WORKLOAD_CAPTION, "sweep-workload")


WORKLOAD_CAPTION = (
    "The speedup of a bar is the geometric mean of its prompts (the dots). Each prompt is shown at the draft length γ "
    "that did best on the workload’s other prompts: the best of several noisy figures would flatter. A draft pays "
    "where it is above 1.05×, and for sure where the 95 % interval over the prompts is above 1×. Accepted / drafted "
    "counts every drafted token. The acceptance per judgement, α, leaves out the discarded tokens, which the target "
    "never checked: accepted / (accepted + rejected)."
)


def by_length(rows: pd.DataFrame, source: str) -> None:
    """Speedup against the draft length, a line for each workload."""
    every = points(rows)
    _reading(length_sentence(every))
    if every.empty:
        return
    chart(length_figure(every), "sweep-length", f"Speedup against draft length by workload, {source}.")
    _caption(
        f"Each point is the geometric mean of {_prompts_each(every)}; the ring marks the highest point of a line. "
        "With so few prompts, neighbouring draft lengths cannot be told apart by their times: the By drafter tab "
        "counts tokens per target call at every draft length, which needs no clock.",
        "sweep-length",
    )


def _prompts_each(every: pd.DataFrame) -> str:
    """How many prompts a point stands for, in words."""
    few, many = every["prompts"].min(), every["prompts"].max()
    return f"{few} {'prompt' if few == 1 else 'prompts'}" if few == many else f"{few} to {many} prompts"


def by_map(rows: pd.DataFrame, source: str) -> None:
    """Workload by draft length, and the measured points beside the break-even line."""
    every, costs = points(rows), costs_of(rows)
    _reading(map_sentence(every, costs))
    if every.empty:
        return
    chart(grid_figure(every), "sweep-grid", f"Speedup by workload and draft length, {source}.")
    if costs:
        chart(
            break_even_figure(every, costs),
            "sweep-break-even",
            f"Acceptance and draft length, {source}, and break-even.",
        )
        _caption(MAP_CAPTION, "sweep-map")


MAP_CAPTION = (
    "The line is modelled, that is computed by a formula and not timed: the acceptance per judgement α at which "
    "E(γ) = γc + v(γ+1) + o (Leviathan et al. 2023, Theorem 3.8, with the verification and overhead of these rows). "
    "E(γ) is the expected number of tokens per target call. Costs are in steps of the target alone: c is a draft step, "
    "v(γ+1) the target pass that checks γ+1 tokens at once, and o the overhead of a round. The points are measured: "
    "those above the line should be faster than the target alone."
)


def by_constraint(rows: pd.DataFrame, source: str) -> None:
    """Acceptance with and without the grammar, prompt by prompt."""
    pairs = grammar_pairs(rows)
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
    st.dataframe(
        table, hide_index=True, key="sweep_held_table", column_config=formats, placeholder=NOT_MEASURED, alt=GRAMMAR_ALT
    )
    lengths = ", ".join(map(str, sorted({length for each in pairs["lengths_with"] for length in each})))
    st.caption(
        f"Fixed draft lengths γ = {lengths}, all together. The grammar (a JSON schema or a regular expression) masks "
        "the tokens of both models: in the draft, in the check, and in the run of the target alone that it is compared "
        "with. An output ends where it is complete. Without the grammar the same prompt is continued freely."
    )


GRAMMAR_ALT = "Acceptance and speedup of each prompt, without and with its grammar."


def by_schedule(rows: pd.DataFrame, source: str) -> None:
    """Schedules that choose the draft length themselves, beside the best fixed one."""
    found = adaptive_points(rows)
    _reading(adaptive_sentence(found))
    if found.empty:
        st.info("Choose “heuristic” or “confidence stop” beside “fixed γ”, then measure.")
        return
    chart(
        adaptive_figure(found),
        "sweep-adaptive",
        f"Best fixed draft length and adaptive schedules by workload, {source}.",
    )
    table = pd.DataFrame(
        {
            "workload": found["workload"].map(workload_title),
            "best fixed γ": found["draft_length"],
            "speedup at it": found["speedup"],
            **{name: found[schedule] for schedule, name in ADAPTIVE.items()},
        }
    )
    formats = numbers("%d", "best fixed γ") | numbers(TIMES, "speedup at it", *ADAPTIVE.values())
    st.dataframe(
        table,
        hide_index=True,
        key="sweep_adaptive_table",
        column_config=formats,
        placeholder=NOT_MEASURED,
        alt="Speedup of the best fixed draft length and of each schedule, by workload.",
    )
    st.caption(
        "The best fixed γ is the highest of the figures shown here, which flatters it. The heuristic (the default of "
        "transformers’ assisted generation) drafts two tokens more after a round that accepted all, and one fewer "
        "after any other round. The confidence stop ends a draft after a token that the draft model is unsure of."
    )


def by_drafter(rows: pd.DataFrame, source: str) -> None:
    """One output, and what every draft would have guessed of it; needs no sweep."""
    show_by_draft()


TABS: dict[str, Panel] = {
    "By workload": by_workload,
    "Draft length": by_length,
    "Map": by_map,
    "Constrained output": by_constraint,
    "Adaptive": by_schedule,
    "By drafter": by_drafter,
}


def _reading(sentence: str) -> None:
    st.markdown(f"**{plain(sentence)}**")


def _caption(text: str, key: str) -> None:
    st.caption(explained(text, key), unsafe_allow_html=True)
