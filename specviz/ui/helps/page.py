"""What "When it helps" shows: the sweep under way, and what its rows say, figure by figure."""

from collections.abc import Callable, Sequence
from time import monotonic

import streamlit as st

from specviz.core.errors import InputError
from specviz.data.lessons.glossary import explained
from specviz.measure.sweep.rows import SweepRow, dump_rows
from specviz.measure.sweep.summary import (
    Adaptive,
    Held,
    Point,
    Series,
    adaptive_rows,
    adaptive_sentence,
    clock_sentence,
    costs_of,
    fair_points,
    held_pairs,
    held_sentence,
    impossible_rows,
    length_sentence,
    map_sentence,
    percent,
    points,
    series_of,
    workload_sentence,
    workload_title,
)
from specviz.service.job import JobView
from specviz.ui.helps.by_draft import show_by_draft
from specviz.ui.helps.choice import in_minutes
from specviz.ui.helps.controls import start_bar
from specviz.ui.helps.figures import (
    acceptance_figure,
    adaptive_figure,
    break_even_figure,
    grid_figure,
    held_figure,
    length_figure,
    workload_figure,
)
from specviz.ui.helps.state import (
    HERE,
    RECORDED,
    Sweeps,
    clear_rows,
    load_rows,
    sweeps,
    take_results,
    undo_clear,
)
from specviz.ui.shared.engine import engine, visitor
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.notices import notices
from specviz.ui.watch.outcome import NO_TOOLS

POLL_SECONDS = 1.5  # a figure that grows need not be redrawn more often; the engine is not asked more often either

Panel = Callable[[Sequence[SweepRow], str], None]


def lead() -> None:
    """One sentence that says what the page answers."""
    st.markdown(
        "##### :primary[spec]viz&emsp;**“2–3× faster” is no law.** How much a draft helps depends on the text, the "
        "draft and its length: measure it."
    )


def show_sweeps(tabs: dict[str, Panel]) -> None:
    """Draw progress and figures; while a sweep is under way the drawing repeats by itself."""
    engine().heartbeat(visitor().id)
    take_results()
    running = sweeps().job is not None

    @st.fragment(run_every=POLL_SECONDS if running else None)
    def drawing() -> None:
        take_results()
        if running != (sweeps().job is not None):  # Start and Cancel are in here too: the polling begins or ends
            st.rerun()
        start_bar()
        with st.container():  # always there, so that the chosen tab below stays
            _progress(sweeps())
        _figures(tabs)

    drawing()


def _progress(kept: Sweeps) -> None:
    if kept.job is not None:
        view = engine().view(kept.job)
        done = len(view.results)
        st.progress(done / view.total if view.total else 0.0, text=plain(_progress_line(kept, view)))
    elif kept.outcome:
        st.info(plain(kept.outcome), icon=":material/info:")
    for line in kept.problems[:5]:
        st.warning(plain(line), icon=":material/info:")
    if len(kept.problems) > 5:
        st.caption(f"… and {len(kept.problems) - 5} more that could not be measured.")


def _progress_line(kept: Sweeps, view: JobView) -> str:
    done = f"{len(view.results)} of {view.total}" if view.total else ""
    if view.state == "waiting":
        return f"{done} waiting: {view.message or f'place {view.place} in the queue'}".strip()
    if view.state == "loading":
        return f"{done} loading {view.model}".strip() if view.model else f"{done} starting".strip()
    left = ""
    if view.results:
        each = (monotonic() - kept.began) / len(view.results)
        left = f"; {in_minutes(each * (view.total - len(view.results)))} left"
    return f"{done} measured{left}. Now {view.note}" if view.note else f"{done} measured{left}"


def _figures(tabs: dict[str, Panel]) -> None:
    kept = sweeps()
    sources = kept.sources()
    if not sources:
        st.info("Nothing is measured yet: choose what to measure, then press Measure here.")
        return
    source = _choose_source(kept, sources)
    rows = kept.rows_of(source)
    series = _choose_series(rows)
    chosen = [row for row in rows if series_of(row) == series]
    st.caption(_where(source, series, len(chosen)))
    notices([clock_sentence(chosen)])
    spoilt = {id(row) for row in impossible_rows(chosen)}
    possible = [row for row in chosen if id(row) not in spoilt]
    for tab, panel in zip(st.tabs(list(tabs)), tabs.values(), strict=True):
        with tab:
            panel(possible, source)
    _files(kept, source, rows)


def _choose_source(kept: Sweeps, sources: list[str]) -> str:
    shown = kept.shown if kept.shown in sources else sources[0]
    if len(sources) == 1:
        return shown
    picked = st.segmented_control(
        "Rows", sources, default=shown, format_func=plain, key=f"sweep_source-{len(sources)}-{shown}"
    )
    kept.shown = picked or shown
    return kept.shown


def _choose_series(rows: Sequence[SweepRow]) -> Series:
    """The pair and temperature in the figures; the newest, until the visitor picks one."""
    every = list(dict.fromkeys(series_of(row) for row in rows))
    if len(every) == 1:
        return every[0]
    labels = [each.label for each in every]
    doubled = len(set(labels)) < len(labels)  # the same pair on two machines
    names = [f"{each.label}, {each.machine}" if doubled else each.label for each in every]
    key = f"sweep_series-{'|'.join(names)}"
    picked = st.selectbox("Pair and temperature", range(len(every)), format_func=names.__getitem__, key=key)
    return every[picked]


def _where(source: str, series: Series, runs: int) -> str:
    machine = f"{plain(series.machine)}, {series.threads} {'thread' if series.threads == 1 else 'threads'}"
    if source == HERE:
        where = f":material/bolt: **Measured here**, on this machine ({machine})"
    elif source == RECORDED:
        where = f":material/history: **Recorded** on {machine}; your machine will differ"
    else:
        where = f":material/upload_file: **Loaded {plain(source)}**, measured on {machine}"
    return f"{where}: {plain(series.label)}; {runs} pairs of runs, each pair neighbours in time."


# ---- the tabs


def by_workload(rows: Sequence[SweepRow], source: str) -> None:
    """Speedup and both acceptance rates, a workload each."""
    fair = fair_points(points(rows))
    _reading(workload_sentence(fair))
    if not fair:
        return
    _plot(workload_figure(fair), "workload", f"Speedup by workload, {source}.")
    _plot(acceptance_figure(fair), "acceptance", f"Both acceptance rates by workload, {source}.")
    told = (
        "Each bar is the geometric mean of its prompts (the dots), each at the draft length γ that did best on the "
        "workload’s other prompts: the best of several noisy figures would flatter. It pays above 1.05×, and for sure "
        "where the 95 % interval over its prompts lies above 1×. Accepted / drafted counts every drafted token; per "
        "judgement, α, leaves out the discarded ones, which were never judged: accepted / (accepted + rejected)."
    )
    st.caption(explained(told, "hp-workload"), unsafe_allow_html=True)


def by_length(rows: Sequence[SweepRow], source: str) -> None:
    """Speedup against the draft length, a line for each workload."""
    every = points(rows)
    _reading(length_sentence(every))
    if every:
        _plot(length_figure(every), "length", f"Speedup against draft length by workload, {source}.")
        st.caption(
            f"Each point is the geometric mean of {_prompts_each(every)}; the ring marks the highest of a line. With "
            "so few, neighbours are not told apart: the By drafter tab counts every draft length without a clock."
        )


def _prompts_each(every: Sequence[Point]) -> str:
    """How many prompts stand behind a point, in words."""
    few, many = min(len(point.prompts) for point in every), max(len(point.prompts) for point in every)
    return f"{few} {'prompt' if few == 1 else 'prompts'}" if few == many else f"{few} to {many} prompts"


def by_map(rows: Sequence[SweepRow], source: str) -> None:
    """Workload by draft length, and the measured points beside the break-even line."""
    every, costs = points(rows), costs_of(rows)
    _reading(map_sentence(every, costs))
    if every:
        _plot(grid_figure(every), "grid", f"Speedup by workload and draft length, {source}.")
    if every and costs:
        _plot(break_even_figure(every, costs), "break-even", f"Acceptance and draft length, {source}, and break-even.")
        st.caption(
            "The line is modelled: α at which E(γ) = γc + v(γ+1) + o (Leviathan et al. 2023, Theorem 3.8, with the "
            "verification and overhead of these rows). In steps of the target, c is a draft step, v(γ+1) the check "
            "of γ+1 tokens at once, and o the rest of a round. Points are measured: above the line should be quicker."
        )


def by_constraint(rows: Sequence[SweepRow], source: str) -> None:
    """Acceptance with and without the grammar, prompt by prompt."""
    pairs = held_pairs(rows)
    _reading(held_sentence(pairs))
    if not pairs:
        st.info("Choose the Constrained output workload and switch on “With and without grammar”, then measure.")
        return
    _plot(held_figure(pairs), "held", f"Acceptance without and with the grammar, by prompt, {source}.")
    st.dataframe([_held_cells(pair) for pair in pairs], hide_index=True, key="sweep_held_table")
    lengths = ", ".join(map(str, sorted({length for pair in pairs for length in pair.held.lengths})))
    st.caption(
        f"Fixed draft lengths γ = {lengths}, all together. The grammar (a JSON schema or a regular expression) masks "
        "both models’ tokens, in the draft, in the check and in the run of the target alone that it is timed against; "
        "an output ends where it is complete. Without the grammar the same prompt is written freely."
    )


def _held_cells(pair: Held) -> dict[str, str]:
    return {
        "prompt": pair.prompt,
        "accepted, without": percent(pair.free.acceptance_rate),
        "accepted, held": percent(pair.held.acceptance_rate),
        "α, without": percent(pair.free.per_judgement_rate),
        "α, held": percent(pair.held.per_judgement_rate),
        "speedup, without": f"{pair.free.speedup:.2f}×",
        "speedup, held": f"{pair.held.speedup:.2f}×",
    }


def by_schedule(rows: Sequence[SweepRow], source: str) -> None:
    """Schedules that choose the draft length themselves beside the best fixed one."""
    found = adaptive_rows(rows)
    _reading(adaptive_sentence(found))
    if not found:
        st.info("Choose “heuristic” or “confidence stop” beside “fixed γ”, then measure.")
        return
    _plot(adaptive_figure(found), "adaptive", f"Best fixed draft length and adaptive schedules by workload, {source}.")
    st.dataframe([_adaptive_cells(each) for each in found], hide_index=True, key="sweep_adaptive_table")
    st.caption(
        "The best fixed γ is the highest of these very figures, which flatters it. The heuristic (transformers’ "
        "default for assisted generation) drafts two tokens more after a round that accepted all, one fewer after any "
        "other. The confidence stop ends a draft after a token it is unsure of."
    )


def _adaptive_cells(each: Adaptive) -> dict[str, str]:
    cells = {"workload": workload_title(each.workload)}
    cells["best fixed γ"] = f"{each.fixed.speedup:.2f}× (γ = {each.fixed.draft_length})"
    for schedule, name in (("heuristic", "heuristic"), ("confidence", "confidence stop")):
        point = each.schedules.get(schedule)
        cells[name] = f"{point.speedup:.2f}×" if point else "not measured"
    return cells


def by_drafter(rows: Sequence[SweepRow], source: str) -> None:
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


def _plot(figure: object, key: str, alt: str) -> None:
    st.plotly_chart(figure, key=f"sweep_plot_{key}", config=NO_TOOLS, alt=alt)


# ---- files


def _files(kept: Sweeps, source: str, rows: Sequence[SweepRow]) -> None:
    with st.container(horizontal=True, key="sweep_files"):
        st.download_button(
            "Download CSV",
            lambda: dump_rows(rows),
            file_name="specviz-sweep.csv",
            mime="text/csv",
            icon=":material/download:",
            key="sweep_download",
            on_click="ignore",
        )
        if kept.rows:
            st.button("Clear my rows", key="sweep_clear", icon=":material/delete:", on_click=clear_rows)
        elif kept.cleared:
            st.button("Undo clear", key="sweep_undo", icon=":material/undo:", on_click=undo_clear)
    with st.expander("Open a sweep’s CSV"):
        st.file_uploader("A CSV made here or by the command line", type="csv", key="sweep_csv", on_change=_open_csv)
        if problem := st.session_state.get("sweep_csv_problem"):
            st.error(plain(problem), icon=":material/error:")


def _open_csv() -> None:
    """A file that cannot be read changes nothing but a sentence."""
    state = st.session_state
    state.sweep_csv_problem = ""
    if state.sweep_csv is not None:
        try:
            load_rows(state.sweep_csv.getvalue(), state.sweep_csv.name)
        except InputError as error:
            state.sweep_csv_problem = f"That file cannot be shown. {error}"
