"""The tabs of "When it helps": each takes the rows of one pair and shows what they say."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from specviz.core.judge import UNTOLD
from specviz.data.texts import page_texts
from specviz.measure.sweep import sentences
from specviz.measure.sweep.points import ADAPTIVE
from specviz.measure.sweep.study import RISK, Study
from specviz.measure.sweep.table import each_row
from specviz.ui.helps import figures
from specviz.ui.helps.batches import show_batches
from specviz.ui.helps.by_draft import show_by_draft
from specviz.ui.helps.by_method import show_by_method
from specviz.ui.helps.helps_state import ByDraft
from specviz.ui.race.elsewhere import show_race_beside
from specviz.ui.session import session
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.parts import PERCENT, TIMES, data_table, note, numbers, texts

SAYS = page_texts("helps")


def _temperatures(study: Study) -> None:
    studies = sorted([study, *study.others], key=lambda each: each.series.temperature)
    if len(studies) == 1 and study.fair["repetition"].isna().all():
        return
    table = temperature_table(study.fair["workload"].to_list(), studies)
    data_table(table, "sweep_temperatures", columns=texts(*table.columns[1:]))
    st.caption(SAYS["temperatures"])


def temperature_table(workloads: Sequence[str], studies: Sequence[Study]) -> pd.DataFrame:
    columns: dict[str, list[str | None]] = {"workload": [sentences.workload_title(name) for name in workloads]}
    for study in studies:
        points = {point.workload: point for point in each_row(study.as_sure(study.fair))}
        temperature = study.series.temperature
        name = f"temperature {temperature:g}" if temperature else "greedy"
        columns[name] = [_speedup(points.get(workload)) for workload in workloads]
        columns[f"repeated, {name}"] = [_repeated(points.get(workload)) for workload in workloads]
    return pd.DataFrame(columns)


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
    _reading(sentences.doubted(sentences.workload_sentence(fair), study.spoilt))
    if fair.empty:
        return
    chart(figures.workload_figure(study.as_sure(fair), study.fair_rows), "sweep-workload", source=source)
    show_race_beside(study, session().race.shown().values())
    if repeated := sentences.repetition_sentence(fair):
        st.markdown(plain(repeated))
    _temperatures(study)
    chart(figures.acceptance_figure(fair), "sweep-acceptance", source=source)
    note(SAYS["workloads"], "sweep-workload")


def by_length(study: Study, source: str) -> None:
    every = study.points
    _reading(sentences.doubted(sentences.length_sentence(every), study.spoilt))
    if every.empty:
        return
    chart(figures.length_figure(every), "sweep-length", source=source)
    note(SAYS["lengths"].format(prompts=sentences.prompts_each(every), risk=100 * RISK), "sweep-length")


def by_map(study: Study, source: str) -> None:
    every, costs = study.points, study.costs
    _reading(sentences.doubted(sentences.map_sentence(every, costs, study.lookup), study.spoilt))
    if every.empty:
        return
    chart(figures.grid_figure(study.as_sure(every)), "sweep-grid", source=source)
    if costs and study.lookup:
        chart(figures.break_even_tokens_figure(every, costs), "sweep-break-even-tokens", source=source)
        st.markdown(sentences.prediction_sentence(study.predictions))
        note(SAYS["lookup_map"], "sweep-map")
    elif costs:
        chart(figures.break_even_figure(every, costs), "sweep-break-even", source=source)
        note(SAYS["map"], "sweep-map")


def by_constraint(study: Study, source: str) -> None:
    pairs = study.grammar
    _reading(sentences.grammar_sentence(pairs))
    if pairs.empty:
        st.info("Choose the Constrained output workload and switch on “With and without grammar”, then measure.")
        return
    chart(figures.grammar_figure(pairs), "sweep-held", source=source)
    table = pd.DataFrame({"prompt": pairs["prompt"]})
    shown = (("accepted", "acceptance_rate", 100), ("α", "per_judgement_rate", 100), ("speedup", "speedup", 1))
    for name, column, scale in shown:
        for way in ("without", "with"):
            table[f"{name}, {way}"] = scale * pairs[f"{column}_{way}"]
    formats = numbers(PERCENT, *table.columns[1:5]) | numbers(TIMES, *table.columns[5:])
    data_table(table, "sweep_held_table", columns=formats)
    lengths = ", ".join(map(str, sorted({length for each in pairs["lengths_with"] for length in each})))
    st.caption(SAYS["grammar"].format(lengths=lengths))


def by_schedule(study: Study, source: str) -> None:
    found = study.adaptive
    _reading(sentences.doubted(sentences.adaptive_sentence(found), study.spoilt))
    if found.empty:
        st.info("Choose “heuristic” or “confidence stop” beside “fixed γ”, then measure.")
        return
    chart(figures.adaptive_figure(found), "sweep-adaptive", source=source)
    table = pd.DataFrame(
        {
            "workload": found["workload"].map(sentences.workload_title),
            "fixed γ": found["lengths"].map(lambda lengths: ", ".join(map(str, lengths))),
            "speedup at it": found["speedup"],
            **{name: found[schedule] for schedule, name in ADAPTIVE.items()},
        }
    )
    formats = numbers(TIMES, "speedup at it", *ADAPTIVE.values())
    data_table(table, "sweep_adaptive_table", columns=formats)
    st.caption(SAYS["schedules"])


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
