"""The tabs of "When it helps": each takes the rows of one pair and shows what they say."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from specviz.data.lessons.glossary import explained
from specviz.measure.sweep.points import ADAPTIVE
from specviz.measure.sweep.sentences import (
    adaptive_sentence,
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
from specviz.measure.sweep.study import Study
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
from specviz.ui.helps.temperatures import show_temperatures
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.tables import NOT_MEASURED, PERCENT, TIMES, data_table, numbers

Panel = Callable[[Study, str], None]  # one series, and where its rows are from


def by_workload(study: Study, source: str) -> None:
    """Speedup and both acceptance rates, a workload each; then other temperatures, and how much outputs repeat."""
    fair = study.fair
    _reading(workload_sentence(fair))
    if fair.empty:
        return
    chart(workload_figure(fair, study.fair_rows), "sweep-workload", f"Speedup by workload, {source}.")
    if repeated := repetition_sentence(fair):
        st.markdown(plain(repeated))
    show_temperatures(study)
    chart(acceptance_figure(fair), "sweep-acceptance", f"Both acceptance rates by workload, {source}.")
    _caption(WORKLOAD_CAPTION, "sweep-workload")


WORKLOAD_CAPTION = (
    "The speedup of a bar is the geometric mean of its prompts (the dots), and its line is the 95 % interval over the "
    "prompts. Each prompt is shown at the draft length γ that did best on the workload’s other prompts: the best of "
    "several noisy figures would flatter. A draft pays, or loses, where the interval leaves out 1× and the speedup is "
    "more than 5 % from 1×. It is about even where both are within 5 %. Anything else cannot be told with so few "
    "prompts. Accepted / drafted counts every drafted token. The acceptance per judgement, α, leaves out the discarded "
    "tokens, which the target never checked: accepted / (accepted + rejected)."
)


def by_length(study: Study, source: str) -> None:
    """Speedup against the draft length, a line for each workload."""
    every = study.points
    _reading(length_sentence(every))
    if every.empty:
        return
    chart(length_figure(every), "sweep-length", f"Speedup against draft length by workload, {source}.")
    _caption(
        f"Each point is the geometric mean of {prompts_each(every)}. A ring: the highest point of a line, or one that "
        "these prompts cannot tell apart from it (the 95 % interval of the paired ratio over the prompts contains 1). "
        "The highest was chosen from the same prompts as are shown. The By drafter tab counts tokens per target call "
        "at every draft length, which needs no clock.",
        "sweep-length",
    )


def by_map(study: Study, source: str) -> None:
    """Workload by draft length, and the measured points beside the break-even line."""
    every, costs = study.points, study.costs
    _reading((lookup_map_sentence if study.lookup else map_sentence)(every, costs))
    if every.empty:
        return
    chart(grid_figure(every), "sweep-grid", f"Speedup by workload and draft length, {source}.")
    if costs and study.lookup:
        chart(
            break_even_tokens_figure(every, costs),
            "sweep-break-even",
            f"Tokens per target call and draft length, {source}, and break-even.",
        )
        st.markdown(prediction_sentence(study.predictions))
        _caption(LOOKUP_MAP_CAPTION, "sweep-map")
    elif costs:
        chart(
            break_even_figure(every, costs),
            "sweep-break-even",
            f"Acceptance and draft length, {source}, and break-even.",
        )
        _caption(MAP_CAPTION, "sweep-map")


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
    """Acceptance with and without the grammar, prompt by prompt."""
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
        table, hide_index=True, key="sweep_held_table", column_config=formats, placeholder=NOT_MEASURED, alt=GRAMMAR_ALT
    )
    lengths = ", ".join(map(str, sorted({length for each in pairs["lengths_with"] for length in each})))
    st.caption(
        f"Fixed draft lengths γ = {lengths}, all together. The grammar (a JSON schema or a regular expression) masks "
        "the tokens of both models: in the draft, in the check, and in the run of the target alone that it is compared "
        "with. An output ends where it is complete. Without the grammar the same prompt is continued freely."
    )


GRAMMAR_ALT = "Acceptance and speedup of each prompt, without and with its grammar."


def by_schedule(study: Study, source: str) -> None:
    """Schedules that choose the draft length themselves, beside fixed ones."""
    found = study.adaptive
    _reading(adaptive_sentence(found))
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
    data_table(
        table,
        hide_index=True,
        key="sweep_adaptive_table",
        column_config=formats,
        placeholder=NOT_MEASURED,
        alt="Speedup of the fixed draft length that did best on other prompts and of each schedule, by workload.",
    )
    st.caption(
        "The fixed γ of each prompt is the one that did best on the other prompts of its workload. The heuristic (an "
        "option of transformers’ assisted generation) drafts two tokens more after a round that accepted all, and one "
        "fewer after any other round. The confidence stop ends a draft after a token to which the draft model gives "
        "less than 0.4. The default of transformers is nearest to it: up to 20 tokens, and the same limit."
    )


def by_drafter(study: Study, source: str) -> None:
    """One output, and what every draft would have guessed of it; needs no sweep."""
    show_by_draft()


def by_method(study: Study, source: str) -> None:
    """All drafting methods on the same prompts, as they were recorded; needs no sweep."""
    show_by_method()


def by_batch(study: Study, source: str) -> None:
    """What is left of the gain when a server decodes several texts at once; a recorded study, needs no sweep."""
    show_batches()


TABS: dict[str, Panel] = {
    "By workload": by_workload,
    "Draft length": by_length,
    "Map": by_map,
    "Constrained output": by_constraint,
    "Adaptive": by_schedule,
    "By drafter": by_drafter,
    "By method": by_method,
    "In batches": by_batch,
}


def _reading(sentence: str) -> None:
    st.markdown(f"**{plain(sentence)}**")


def _caption(text: str, key: str) -> None:
    st.caption(explained(text, key), unsafe_allow_html=True)
