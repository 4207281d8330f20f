"""The page: how far a sweep is, whose rows are shown, the tabs on them, and files in and out."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from specviz.core.drafters import spoken
from specviz.core.judge import UNTOLD
from specviz.core.numbers import percent, times
from specviz.data.texts import join_choices, page_texts
from specviz.figures import sweep as figures
from specviz.measure.paired import show_rest
from specviz.measure.sweep import study as sentences
from specviz.measure.sweep.rows import SweepSeries, dump_frame, iterate_rows
from specviz.measure.sweep.study import RISK, Study
from specviz.service.job import JobView
from specviz.ui.shared import parts
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.job_slot import beside_line, show_progress, waiting_line
from specviz.ui.shared.parts import Options, button, chart, choice, data_table, download, note, notices, texts
from specviz.ui.when_it_helps.by_draft import show_by_draft
from specviz.ui.when_it_helps.by_method import show_by_method
from specviz.ui.when_it_helps.sweeps import HERE, RECORDED, WhenItHelpsState, studied
from specviz.ui.when_it_helps.your_server import show_your_server

SAYS = page_texts("when_it_helps")
SCHEDULES = page_texts("schedules")
Panels = Mapping[str, Callable[[], None]]
POLL_SECONDS = 1.5  # figures that grow need not be drawn more often
FIGURES = "when_it_helps_figures"  # the part of the page that grows with a sweep


def show_sweeps(sweeps: WhenItHelpsState) -> None:
    parts.offer_download(sweeps.slot)
    show_progress(sweeps.slot, partial(_progress_line, sweeps), sweeps.refresh, FIGURES, POLL_SECONDS)
    with st.container():  # always there, as what it holds is not
        if sweeps.slot.busy:
            button(SAYS["cancel"], "when_it_helps_cancel", sweeps.cancel, icon="stop")

    @st.fragment(key=FIGURES)
    def found() -> None:
        with st.container():  # always there, so that the chosen tab below stays
            if (ended := sweeps.slot.ended) and not sweeps.slot.busy:
                notices([" ".join(filter(None, [ended, beside_line(sweeps.slot.view.beside)]))], "info")
            for line in sweeps.problems[:5]:
                notices([line])
            if len(sweeps.problems) > 5:
                st.caption(SAYS["more_problems"].format(count=len(sweeps.problems) - 5))
        _figures(sweeps)

    found()


def _progress_line(sweeps: WhenItHelpsState, view: JobView) -> str:
    progress, waits = view.progress, waiting_line(view)
    if progress is None:
        return waits or SAYS["starting"]
    if waits:
        return SAYS["progress_waits"].format(progress=progress, waits=waits)
    left = show_rest(sweeps.began, sweeps.measured, sweeps.measured + progress.total - progress.done)
    length = str(progress.draft_length)
    if progress.schedule != "fixed":
        length = SAYS["scheduled"].format(length=length, schedule=SCHEDULES[progress.schedule])
    return SAYS["progress"].format(progress=progress, left=left, length=length, draft=spoken(progress.draft))


def _figures(sweeps: WhenItHelpsState) -> None:
    drafters: Panels = {SAYS["tab_by_draft"]: show_by_draft, SAYS["tab_by_method"]: show_by_method}
    draw_tabs(
        {
            SAYS["tab_sweep"]: partial(_draw_sweep, sweeps),
            SAYS["tab_drafts"]: partial(draw_tabs, drafters),
            SAYS["tab_server"]: show_your_server,
        }
    )


def draw_tabs(panels: Panels) -> None:
    for tab, panel in zip(st.tabs(list(panels)), panels.values(), strict=True):
        with tab:
            panel()


def _draw_sweep(sweeps: WhenItHelpsState) -> None:
    sources = sweeps.sources()
    titles = {source: plain(_title(source)) for source in sources}
    shown = sweeps.shown if sweeps.shown in sources else sources[0]
    key = f"when_it_helps_source-{len(sources)}-{shown}"  # a new one where something else is to be shown
    source = choice(SAYS["rows"], titles, key, shown)
    if source != shown:  # what a sweep will bring stays asked for, until the visitor chooses
        sweeps.shown = source
    studies = studied(sweeps, source)
    study, labels = studies[0], [study.series.label for study in studies]
    if len(set(labels)) < len(labels):  # the same pair on two machines
        labels = [f"{study.series.label}, {study.series.machine}" for study in studies]
    if len(studies) > 1:
        named: Options = {"format_func": labels.__getitem__, "key": f"when_it_helps_series-{'|'.join(labels)}"}
        study = studies[st.selectbox(SAYS["series"], range(len(studies)), **named)]
    st.caption(_where(source, study.series, len(study.rows)))
    notices([sentences.clock_sentence(study.spoilt)])
    _draw_study(study, _title(source))
    _files(sweeps, sweeps.rows_of(source))


def _title(source: str) -> str:
    """What rows are called: `HERE` and `RECORDED` are names in the program, a file's name is its title."""
    return SAYS[{HERE: "rows_here", RECORDED: "rows_recorded"}[source]] if source in (HERE, RECORDED) else source


def _where(source: str, series: SweepSeries, runs: int) -> str:
    known = {HERE: (":material/bolt:", "where_here"), RECORDED: (":material/history:", "where_recorded")}
    icon, name = known.get(source, (":material/upload_file:", "where_loaded"))
    figures = {"machine": plain(series.machine), "threads": series.threads, "series": plain(series.label)}
    where = SAYS[name].format(source=plain(source))
    return f"{icon} {SAYS['where'].format(source=where, **figures, runs=runs)}"


def _files(sweeps: WhenItHelpsState, rows: pd.DataFrame) -> None:
    with st.container(horizontal=True, key="when_it_helps_files"):
        name, key = "specviz-sweep.csv", "when_it_helps_download"
        download(SAYS["save_csv"], partial(dump_frame, rows), name, key, "download")
        # The rows decide also what stands outside the figures: how long a sweep is expected to take.
        if sweeps.rows:
            button(SAYS["clear_rows"], "when_it_helps_clear", sweeps.clear, icon="delete", whole_page=True)
        elif sweeps.cleared:
            button(SAYS["undo_clear"], "when_it_helps_undo", sweeps.undo_clear, icon="undo", whole_page=True)
    with st.expander(SAYS["open_csv"]):
        parts.file_uploader(SAYS["csv_file"], "when_it_helps_csv", sweeps.load, sweeps.csv_problems, type="csv")


def temperature_table(workloads: Sequence[str], studies: Sequence[Study]) -> list[dict[str, str | None]]:
    rows: dict[str, dict[str, str | None]] = {name: {"workload": sentences.workload_title(name)} for name in workloads}
    for study in studies:
        points: dict[str, Any] = {point.workload: point for point in iterate_rows(study.mark_unsure(study.fair))}
        temperature = study.series.temperature
        name = SAYS["column_temperature"].format(temperature=temperature) if temperature else SAYS["column_greedy"]
        repeated = SAYS["column_repeated"].format(name=name)
        for workload, row in rows.items():
            point = points.get(workload)
            row[name] = point and times(point.speedup, figures.interval_of(point), "?" * (point.outcome == UNTOLD))
            row[repeated] = percent(point.repetition) if point and not pd.isna(point.repetition) else None
    return list(rows.values())


def _draw_study(study: Study, source: str) -> None:
    names = ("workloads", "lengths", "map", "constrained", "adaptive")
    workloads, lengths, break_even, constrained, adaptive = st.tabs([SAYS[f"tab_{name}"] for name in names])
    fair, every, costs, ways = study.fair, study.points, study.costs, study.grammar
    with workloads:
        if _reads(sentences.workload_sentence(fair), fair, study.spoilt):
            drawn = figures.workload_figure(study.mark_unsure(fair), study.fair_rows)
            chart(drawn, "sweep-workload", source=source)
            note(SAYS["workloads"], "sweep-workload")
            studies = sorted([study, *study.others], key=lambda each: each.series.temperature)
            if len(studies) > 1 or fair["repetition"].notna().any():
                table = temperature_table(fair["workload"].to_list(), studies)
                data_table(table, "sweep_temperatures", columns=texts(*[*table[0]][1:]))
                st.caption(SAYS["temperatures"])
            chart(figures.acceptance_figure(fair), "sweep-acceptance", source=source)
    with lengths:
        if _reads(sentences.length_sentence(every), every, study.spoilt):
            chart(figures.length_figure(every), "sweep-length", source=source)
            note(SAYS["lengths"].format(prompts=sentences.prompts_each(every), risk=100 * RISK), "sweep-length")
    with break_even:
        if _reads(sentences.map_sentence(every, costs, study.lookup), every, study.spoilt) and costs:
            key = "sweep-break-even-tokens" if study.lookup else "sweep-break-even"
            chart(figures.break_even_figure(every, costs, lookup=study.lookup), key, source=source)
            note(SAYS["lookup_map" if study.lookup else "map"], "sweep-map")
    with constrained:
        if _reads(sentences.grammar_sentence(ways), ways):
            labels = {False: SAYS["grammar_without"], True: SAYS["grammar_with"]}
            chart(figures.ways_figure(study.mark_unsure(ways), "constrained", labels), "sweep-held", source=source)
            used = join_choices(sorted({length for each in ways["lengths"] for length in each}), "and")
            st.caption(SAYS["grammar"].format(lengths=used))
        else:
            st.info(SAYS["no_grammar"])
    with adaptive:
        if study.schedules.empty:
            st.info(SAYS["no_schedules"])
        else:
            drawn = figures.ways_figure(study.mark_unsure(study.schedules), "draft_schedule", SCHEDULES)
            chart(drawn, "sweep-adaptive", source=source)
            st.caption(SAYS["fixed_on_others"])


def _reads(sentence: str, found: pd.DataFrame, spoilt: "pd.Series[bool] | None" = None) -> bool:
    """Say the sentence, unless it is of times that a busy machine spoilt; whether there is something to draw."""
    if found.empty or spoilt is None or not spoilt.any():
        st.markdown(f"**{plain(sentence)}**")
    return not found.empty
