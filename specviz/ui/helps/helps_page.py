"""The page: how far a sweep is, whose rows are shown, the tabs on them, and files in and out."""

from collections.abc import Callable
from functools import partial
from time import monotonic

import pandas as pd
import streamlit as st

from specviz.core.drafters import spoken
from specviz.core.errors import InputError
from specviz.measure.paired import in_minutes
from specviz.measure.sweep.points import Series
from specviz.measure.sweep.sentences import clock_sentence
from specviz.measure.sweep.table import dump_frame
from specviz.service.job import JobView
from specviz.ui.helps.controls import start_bar
from specviz.ui.helps.helps_state import HERE, RECORDED, Sweeps, studied
from specviz.ui.helps.panels import Panel
from specviz.ui.shared.escaping import file_label, plain
from specviz.ui.shared.job_slot import beside_line, show_progress, waiting_line, while_busy
from specviz.ui.shared.parts import download, notices, uploaded

POLL_SECONDS = 1.5  # figures that grow need not be drawn more often
FIGURES = "sweep_figures"  # the part of the page that grows with a sweep


def show_sweeps(sweeps: Sweeps, tabs: dict[str, Panel]) -> None:
    sweeps.refresh()
    start_bar()
    progress = partial(show_progress, sweeps.slot, partial(_progress_line, sweeps))
    while_busy(lambda: sweeps.slot.busy, progress, sweeps.refresh, part=FIGURES, every=POLL_SECONDS)

    @st.fragment(key=FIGURES)
    def found() -> None:
        with st.container():  # always there, so that the chosen tab below stays
            if sweeps.outcome and not sweeps.slot.busy:
                line = beside_line(sweeps.slot.beside)
                st.info(plain(" ".join(filter(None, [sweeps.outcome, line]))), icon=":material/info:")
            for line in sweeps.problems[:5]:
                st.warning(plain(line), icon=":material/info:")
            if len(sweeps.problems) > 5:
                st.caption(f"… and {len(sweeps.problems) - 5} more that could not be measured.")
        _figures(sweeps, tabs)

    found()


def _progress_line(sweeps: Sweeps, view: JobView) -> str:
    progress = view.progress
    done = f"{progress.done} of {progress.total} " if progress else ""
    if line := waiting_line(view):
        return f"{done}{line}"
    if progress is None:
        return "starting"
    left = ""
    if progress.done:
        each = (monotonic() - sweeps.began) / progress.done
        left = f"; {in_minutes(each * (progress.total - progress.done))} left"
    schedule = "" if progress.schedule == "fixed" else f" ({progress.schedule})"
    constrained = ", constrained" if progress.constrained else ""
    step = f"{progress.prompt}, γ = {progress.draft_length}{schedule}{constrained}, drafted by {spoken(progress.draft)}"
    return f"{done}measured{left}. Now {step}"


def _figures(sweeps: Sweeps, tabs: dict[str, Panel]) -> None:
    sources = sweeps.sources()
    if not sources:
        st.info("Nothing is measured yet: choose what to measure, then press Measure here.")
        return
    source = _choose_source(sweeps, sources)
    studies = studied(sweeps, source)
    study = studies[_choose_series([study.series for study in studies])]
    st.caption(_where(source, study.series, len(study.rows)))
    notices([clock_sentence(study.spoilt)])
    for tab, panel in zip(st.tabs(list(tabs)), tabs.values(), strict=True):
        with tab:
            panel(study, source)
    _files(sweeps, sweeps.rows_of(source))


def _choose_source(sweeps: Sweeps, sources: list[str]) -> str:
    shown = sweeps.shown if sweeps.shown in sources else sources[0]
    if len(sources) == 1:
        return shown
    key = f"sweep_source-{len(sources)}-{shown}"
    sweeps.shown = st.segmented_control("Rows", sources, default=shown, format_func=plain, key=key) or shown
    return sweeps.shown


def _choose_series(every: list[Series]) -> int:
    if len(every) == 1:
        return 0
    labels = [each.label for each in every]
    doubled = len(set(labels)) < len(labels)  # the same pair on two machines
    names = [f"{each.label}, {each.machine}" if doubled else each.label for each in every]
    key = f"sweep_series-{'|'.join(names)}"
    return st.selectbox("Pair and temperature", range(len(every)), format_func=names.__getitem__, key=key)


def _where(source: str, series: Series, runs: int) -> str:
    machine = f"{plain(series.machine)}, {series.threads} {'thread' if series.threads == 1 else 'threads'}"
    if source == HERE:
        where = f":material/bolt: **Measured here**, on this machine ({machine})"
    elif source == RECORDED:
        where = f":material/history: **Recorded** on {machine}; your machine will differ"
    else:
        where = f":material/upload_file: **Loaded {plain(source)}**, measured on {machine}"
    return f"{where}: {plain(series.label)}; {runs} pairs of runs, each pair was timed back to back."


def _files(sweeps: Sweeps, rows: pd.DataFrame) -> None:
    with st.container(horizontal=True, key="sweep_files"):
        icon = ":material/download:"
        download("Download CSV", lambda: dump_frame(rows), "specviz-sweep.csv", icon=icon, key="sweep_download")
        if sweeps.rows:
            clear = partial(_and_all_else, sweeps.clear)
            st.button("Clear my rows", key="sweep_clear", icon=":material/delete:", on_click=clear)
        elif sweeps.cleared:
            undo = partial(_and_all_else, sweeps.undo_clear)
            st.button("Undo clear", key="sweep_undo", icon=":material/undo:", on_click=undo)
    with st.expander("Open a sweep’s CSV"):
        label = "A CSV made here or by the command line"
        st.file_uploader(label, type="csv", key="sweep_csv", on_change=_open_csv, args=(sweeps,))
        if sweeps.csv_problem:
            st.error(plain(sweeps.csv_problem), icon=":material/error:")


def _and_all_else(change: Callable[[], None]) -> None:
    """The rows decide also what stands outside the figures: how long a sweep is expected to take."""
    change()
    st.rerun()


def _open_csv(sweeps: Sweeps) -> None:
    file = uploaded("sweep_csv")
    sweeps.csv_problem = ""
    if file is not None:
        try:
            sweeps.load(file.getvalue(), file_label(file.name))
        except InputError as error:
            sweeps.csv_problem = f"That file cannot be shown. {error}"
