"""The page: how far a sweep is, whose rows are shown, the tabs on them, and files in and out."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import pandas as pd
import streamlit as st

from specviz.core.drafters import spoken
from specviz.core.judge import UNTOLD
from specviz.data.texts import page_texts
from specviz.measure.paired import show_rest
from specviz.measure.sweep import sentences
from specviz.measure.sweep.rows import SweepSeries
from specviz.measure.sweep.study import ADAPTIVE, RISK, Study
from specviz.measure.sweep.table import dump_frame, iterate_rows
from specviz.service.job import JobView
from specviz.ui.race.results import show_race_beside
from specviz.ui.session import session
from specviz.ui.shared import parts
from specviz.ui.shared.below_streamlit import UploadedFile
from specviz.ui.shared.escaping import file_label, plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.job_slot import beside_line, show_progress, waiting_line
from specviz.ui.shared.parts import PERCENT, TIMES, Options, button, data_table, download, note, notices, numbers, texts
from specviz.ui.when_it_helps import figures
from specviz.ui.when_it_helps.batches import show_batches
from specviz.ui.when_it_helps.by_draft import show_by_draft
from specviz.ui.when_it_helps.by_method import show_by_method
from specviz.ui.when_it_helps.when_it_helps_state import HERE, RECORDED, WhenItHelpsState, studied
from specviz.ui.when_it_helps.your_server import show_your_server

SAYS = page_texts("when_it_helps")
Panels = Mapping[str, Callable[[], None]]
POLL_SECONDS = 1.5  # figures that grow need not be drawn more often
NOTHING_YET = "Nothing is measured yet: choose what to measure in The next measurement, then press Measure here."
FIGURES = "when_it_helps_figures"  # the part of the page that grows with a sweep


def show_sweeps(sweeps: WhenItHelpsState) -> None:
    show_progress(sweeps.slot, partial(_progress_line, sweeps), sweeps.refresh, FIGURES, POLL_SECONDS)
    with st.container():  # always there, as what it holds is not
        if sweeps.slot.busy:
            button("Cancel", "when_it_helps_cancel", sweeps.cancel, icon="stop")

    @st.fragment(key=FIGURES)
    def found() -> None:
        with st.container():  # always there, so that the chosen tab below stays
            if sweeps.outcome and not sweeps.slot.busy:
                notices([" ".join(filter(None, [sweeps.outcome, beside_line(sweeps.slot.beside)]))], "info")
            for line in sweeps.problems[:5]:
                notices([line])
            if len(sweeps.problems) > 5:
                st.caption(f"… and {len(sweeps.problems) - 5} more that could not be measured.")
        _figures(sweeps)

    found()


def _progress_line(sweeps: WhenItHelpsState, view: JobView) -> str:
    progress = view.progress
    done = f"{progress.done} of {progress.total} " if progress else ""
    if line := waiting_line(view):
        return f"{done}{line}"
    if progress is None:
        return "starting"
    left = show_rest(sweeps.began, progress.done, progress.total)
    schedule = "" if progress.schedule == "fixed" else f" ({progress.schedule})"
    constrained = ", constrained" if progress.constrained else ""
    step = f"{progress.prompt}, γ = {progress.draft_length}{schedule}{constrained}, drafted by {spoken(progress.draft)}"
    return f"{done}measured{left}. Now {step}"


def _figures(sweeps: WhenItHelpsState) -> None:
    drafters: Panels = {"By draft": partial(show_by_draft, sweeps.by_draft), "By method": show_by_method}
    draw_tabs(
        {
            "Texts and settings": partial(_draw_sweep, sweeps),
            "Drafts": partial(draw_tabs, drafters),
            "In batches": show_batches,
            "Your server": partial(show_your_server, sweeps.your_server),
        }
    )


def draw_tabs(panels: Panels) -> None:
    for tab, panel in zip(st.tabs(list(panels)), panels.values(), strict=True):
        with tab:
            panel()


def _draw_sweep(sweeps: WhenItHelpsState) -> None:
    sources = sweeps.sources()
    if not sources:
        return notices([NOTHING_YET], "info")
    source = _choose_source(sweeps, sources)
    studies = studied(sweeps, source)
    study, labels = studies[0], [study.series.label for study in studies]
    if len(set(labels)) < len(labels):  # the same pair on two machines
        labels = [f"{study.series.label}, {study.series.machine}" for study in studies]
    if len(studies) > 1:
        named: Options = {"format_func": labels.__getitem__, "key": f"when_it_helps_series-{'|'.join(labels)}"}
        study = studies[st.selectbox("Pair and temperature", range(len(studies)), **named)]
    st.caption(_where(source, study.series, len(study.rows)))
    notices([sentences.clock_sentence(study.spoilt)])
    draw_tabs(
        {
            "By workload": partial(draw_workloads, study, source),
            "Draft length": partial(draw_lengths, study, source),
            "Map": partial(draw_map, study, source),
            "Constrained output": partial(draw_constraints, study, source),
            "Adaptive": partial(draw_schedules, study, source),
        }
    )
    _files(sweeps, sweeps.rows_of(source))


def _choose_source(sweeps: WhenItHelpsState, sources: list[str]) -> str:
    shown = sweeps.shown if sweeps.shown in sources else sources[0]
    if len(sources) == 1:
        return shown
    key = f"when_it_helps_source-{len(sources)}-{shown}"
    sweeps.shown = st.segmented_control("Rows", sources, default=shown, format_func=plain, key=key) or shown
    return sweeps.shown


def _where(source: str, series: SweepSeries, runs: int) -> str:
    machine = f"{plain(series.machine)}, {series.threads} {'thread' if series.threads == 1 else 'threads'}"
    known = {HERE: f":material/bolt: **Measured here**, on this machine ({machine})"}
    known[RECORDED] = f":material/history: **Recorded** on {machine}; your machine will differ"
    where = known.get(source, f":material/upload_file: **Loaded {plain(source)}**, measured on {machine}")
    return f"{where}: {plain(series.label)}; {runs} pairs of runs, each pair was timed back to back."


def _files(sweeps: WhenItHelpsState, rows: pd.DataFrame) -> None:
    def load(file: UploadedFile) -> None:
        sweeps.load(file.getvalue(), file_label(file.name))

    with st.container(horizontal=True, key="when_it_helps_files"):
        icon = ":material/download:"
        download("Download CSV", lambda: dump_frame(rows), "specviz-sweep.csv", icon=icon, key="when_it_helps_download")
        # The rows decide also what stands outside the figures: how long a sweep is expected to take.
        if sweeps.rows:
            button("Clear my rows", "when_it_helps_clear", sweeps.clear, icon="delete", whole_page=True)
        elif sweeps.cleared:
            button("Undo clear", "when_it_helps_undo", sweeps.undo_clear, icon="undo", whole_page=True)
    with st.expander("Open a sweep’s CSV"):
        more: Options = {"take": load, "problems": sweeps.csv_problems, "type": "csv"}
        parts.file_uploader("A CSV made here or by the command line", key="when_it_helps_csv", **more)


def temperature_table(workloads: Sequence[str], studies: Sequence[Study]) -> pd.DataFrame:
    def speedup(point: Any) -> str:
        interval = "" if pd.isna(point.low) else f" ({point.low:.2f}–{point.high:.2f})"
        return f"{point.speedup:.2f}×{interval}{' ?' if point.outcome == UNTOLD else ''}"

    def repeated(point: Any) -> str | None:
        return None if pd.isna(point.repetition) else f"{100 * point.repetition:.0f} %"

    columns: dict[str, list[str | None]] = {"workload": [sentences.workload_title(name) for name in workloads]}
    for study in studies:
        points = {point.workload: point for point in iterate_rows(study.mark_unsure(study.fair))}
        temperature = study.series.temperature
        name = f"temperature {temperature:g}" if temperature else "greedy"
        for title, said in ((name, speedup), (f"repeated, {name}", repeated)):
            columns[title] = [said(points[workload]) if workload in points else None for workload in workloads]
    return pd.DataFrame(columns)


def draw_workloads(study: Study, source: str) -> None:
    fair = study.fair
    if not _reads(sentences.workload_sentence(fair), fair, study.spoilt):
        return
    chart(figures.workload_figure(study.mark_unsure(fair), study.fair_rows), "sweep-workload", source=source)
    show_race_beside(study, session().race.shown().values())
    if repeated := sentences.repetition_sentence(fair):
        st.markdown(plain(repeated))
    studies = sorted([study, *study.others], key=lambda each: each.series.temperature)
    if len(studies) > 1 or fair["repetition"].notna().any():
        table = temperature_table(fair["workload"].to_list(), studies)
        data_table(table, "sweep_temperatures", columns=texts(*table.columns[1:]))
        st.caption(SAYS["temperatures"])
    chart(figures.acceptance_figure(fair), "sweep-acceptance", source=source)
    note(SAYS["workloads"], "sweep-workload")


def draw_lengths(study: Study, source: str) -> None:
    every = study.points
    if not _reads(sentences.length_sentence(every), every, study.spoilt):
        return
    chart(figures.length_figure(every), "sweep-length", source=source)
    note(SAYS["lengths"].format(prompts=sentences.prompts_each(every), risk=100 * RISK), "sweep-length")


def draw_map(study: Study, source: str) -> None:
    every, costs = study.points, study.costs
    if not _reads(sentences.map_sentence(every, costs, study.lookup), every, study.spoilt):
        return
    chart(figures.grid_figure(study.mark_unsure(every)), "sweep-grid", source=source)
    if costs and study.lookup:
        chart(figures.break_even_tokens_figure(every, costs), "sweep-break-even-tokens", source=source)
        st.markdown(sentences.prediction_sentence(study.predictions))
        note(SAYS["lookup_map"], "sweep-map")
    elif costs:
        chart(figures.break_even_figure(every, costs), "sweep-break-even", source=source)
        note(SAYS["map"], "sweep-map")


def draw_constraints(study: Study, source: str) -> None:
    pairs = study.grammar
    if not _reads(sentences.grammar_sentence(pairs), pairs):
        st.info("Choose the Constrained output workload and switch on “With and without grammar”, then measure.")
        return
    chart(figures.grammar_figure(pairs), "sweep-held", source=source)
    shown = (("accepted", "acceptance_rate", 100), ("α", "per_judgement_rate", 100), ("speedup", "speedup", 1))
    table = pd.DataFrame({"prompt": pairs["prompt"]})
    for (name, column, scale), way in product(shown, ("without", "with")):
        table[f"{name}, {way}"] = scale * pairs[f"{column}_{way}"]
    formats = numbers(PERCENT, *table.columns[1:5]) | numbers(TIMES, *table.columns[5:])
    data_table(table, "sweep_held_table", columns=formats)
    lengths = ", ".join(map(str, sorted({length for each in pairs["lengths_with"] for length in each})))
    st.caption(SAYS["grammar"].format(lengths=lengths))


def draw_schedules(study: Study, source: str) -> None:
    found = study.adaptive
    if not _reads(sentences.adaptive_sentence(found), found, study.spoilt):
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


def _reads(sentence: str, found: pd.DataFrame, spoilt: "pd.Series[bool] | None" = None) -> bool:
    """Say the sentence; whether there is something to draw."""
    st.markdown(f"**{plain(sentence if spoilt is None else sentences.doubted(sentence, spoilt))}**")
    return not found.empty
