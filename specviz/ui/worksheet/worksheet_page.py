"""The worksheet: its calculator, and the sections on the visitor's own runs: predicted against measured, exercises."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from specviz.core.errors import InputError
from specviz.core.judge import LOOKS, UNTOLD, judge
from specviz.core.metrics import Costs
from specviz.core.names import pair_name
from specviz.core.trace import Trace
from specviz.data.batches import BatchStudy, recorded_batches
from specviz.data.first_run import first_trace
from specviz.data.texts import page_texts
from specviz.measure.batch_sentences import checks_sentence, kinds_of_machines
from specviz.measure.race import RaceLap
from specviz.measure.worksheet import advice
from specviz.measure.worksheet import model as terms
from specviz.measure.worksheet.exercises import exercises, sheet
from specviz.measure.worksheet.model import measured_passes
from specviz.measure.worksheet.runs import Measured, first_series, of_laps, of_rows, of_runs
from specviz.measure.worksheet.serving import Production, contain_load, outlook
from specviz.measure.worksheet.starts import Start, batch_starts, start_of_file, starts, with_passes
from specviz.ui.helps.helps_state import HERE, recorded_sweep
from specviz.ui.race.race_state import recorded_race
from specviz.ui.session import Session
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.parts import TIMES, data_table, download, note, numbers, say
from specviz.ui.worksheet import controls as sliders
from specviz.ui.worksheet.figures import gap_figure, speedup_map
from specviz.ui.worksheet.worksheet_state import Worksheet

SAYS = page_texts("worksheet")


@dataclass(frozen=True, slots=True)
class Known:
    finished: list[Trace]  # the Watch page's runs
    count: int  # of them, also those that the server has no longer, and of files
    costs: dict[tuple[str, str, str], Costs]
    recorded: Trace | None
    raced: list[RaceLap]  # the last race
    opened: Trace | None  # the file that Watch opened last
    newest: bool  # it was opened after the last run
    batches: BatchStudy | None  # as recorded
    measured: list[Measured]  # everything with a speedup; of a page without own measurements, the recorded ones

    @property
    def last(self) -> Trace | None:
        """The visitor's newest run, or the recorded one before there is any."""
        return self.finished[-1] if self.finished else self.recorded

    @property
    def last_source(self) -> str:
        if self.finished:
            return "Your last run, measured here."
        return f"The recorded run, made on {self.recorded.recorded_on.machine}." if self.recorded else ""

    @property
    def starts(self) -> list[Start]:
        raced = {lap.name: lap.both for lap in self.raced}
        found = starts(self.finished, self.recorded, self.costs, raced, self.opened)
        if self.newest and self.opened and (file := start_of_file(self.opened)):
            found.sort(key=lambda start: start.label != file.label)
        passes = measured_passes(self.batches) if self.batches else None
        return [with_passes(start, passes) for start in found] + (batch_starts(self.batches) if self.batches else [])


def known_runs(visitor: Session) -> Known:
    finished, recorded = [shown.trace for shown in visitor.watch.past.finished], first_trace()
    raced, swept = visitor.race.laps, visitor.sweeps.rows_of(HERE)
    measured = [
        *(of_runs(finished, False) or of_runs([recorded] if recorded else [], True)),
        *(of_laps(raced, False) or of_laps(recorded_race(), True)),
        *(of_rows(swept, False) or of_rows(first_series(recorded_sweep()), True)),
    ]
    measured.sort(key=lambda each: each.recorded)
    past, costs = visitor.watch.past, visitor.watch.costs.known
    newest = past.opened_as == past.count
    return Known(finished, past.count, costs, recorded, raced, past.opened, newest, _batches(), measured)


def _batches() -> BatchStudy | None:
    try:
        return recorded_batches()
    except InputError:
        return None  # the page works without it


def show_gaps(known: Known) -> None:
    if not known.measured:
        st.info("No run has both decoders yet: make one on the Watch page.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        _show_gap([each for each in known.measured if each.gap])
    with right:
        st.markdown("**Predicted against measured**")
        speedups = numbers(TIMES, "formula", "with v, o", "by position", "measured")
        columns = numbers("%d", "γ") | numbers("%.2f", "α") | speedups
        data_table(pd.DataFrame([_gap_row(each) for each in known.measured]), "worksheet_gaps", columns=columns)
        st.caption(SAYS["measured"])


def _show_gap(split: Sequence[Measured]) -> None:
    if not split:
        st.info("No run with acceptance by position yet: make one on the Watch page.")
        return
    names = [f"{each.source}: {each.label}, γ = {each.terms.draft_length}" for each in split]
    places = range(len(split))
    chosen = split[st.selectbox("Run to explain", places, format_func=names.__getitem__, key="worksheet_gap_of")]
    assert chosen.gap
    st.markdown(chosen.gap.sentence)
    chart(gap_figure(chosen.gap), "worksheet_gap")
    st.caption(SAYS["gap"])


def _gap_row(each: Measured) -> dict[str, str | float | None]:
    return {
        "γ": each.terms.draft_length,
        "α": each.terms.alpha,
        "formula": each.ideal,
        "with v, o": each.terms.speedup,
        "by position": each.gap.by_position if each.gap else None,
        "measured": each.measured,
        "from": each.source,
        "of": each.label,
    }


def show_exercises(known: Known) -> None:
    trace = known.last
    if trace is None or not (found := exercises(trace)):
        st.info("There is no run with drafted tokens yet: make one on the Watch page.")
        return
    st.markdown(
        f"**{len(found)} questions about {plain(pair_name(trace))}.** {plain(known.last_source)} "
        "Answers are computed from it."
    )
    with st.container(horizontal=True, key="worksheet_downloads"):
        for label, name, key in [("Sheet to print", "sheet", False), ("Answer key", "answer-key", True)]:
            made = sheet(trace, TITLE, known.last_source, key=key)
            download(label, made, f"specviz-{name}.html", icon=":material/print:", key=f"worksheet_{name}")
    for number, exercise in enumerate(found, start=1):
        st.text(f"{number}. {exercise.question}")
    with st.expander("Answer key"):
        for number, exercise in enumerate(found, start=1):
            st.text(f"{number}. {exercise.answer}")


TITLE = "Speculative decoding: exercises on one run"


def calculator(worksheet: Worksheet, known: Known) -> None:
    outcome = st.container(key="worksheet_outcome")
    inputs, picture = st.columns([5, 8], gap="large")
    with inputs:
        model = sliders.controls(worksheet, known.starts, known.count)
    start = sliders.chosen_start(worksheet, known.starts)
    alone = sliders.counters_alone(worksheet, start)
    with outcome:
        if alone:
            _untold(alone)
        else:
            _verdict(model)
        changed = sliders.changes(start)
        now = f" The sliders now say: {', '.join(changed)}." if changed else " The sliders say the same."
        st.caption(f"**Loaded:** {plain(start.in_words)}{now}")
        if model.batch > 1 and not alone:
            st.info(_batch(model, start), icon=":material/groups:")
    with picture:
        loaded = start.model if changed and not start.costs_only else None  # where it is not that of the sliders
        chart(speedup_map(model, known.measured, loaded), "worksheet_map")
        whose = f", those of {plain(sliders.costs_named(start))} and not of your machine" if alone else ""
        st.caption(f"The map has the costs of the sliders{whose}. Its points are measured, each at its own costs.")
    with st.expander("All terms"):
        _all_terms(model, start, known.batches)


def _verdict(model: terms.Model) -> None:
    judged = judge(model.realistic, None, modelled=True)
    look = judged.look
    st.markdown(f":material/{look.icon}: :{look.color}[**{judged.headline}.**]")
    say(terms.verdict_sentence(model), "worksheet-verdict")
    needed = "none" if model.break_even is None else f"{100 * model.break_even:.0f} %"
    best = f"{model.best} ({model.best_speedup:.2f}×)"
    speedup = ("Speedup", f"{model.realistic:.2f}×", "speedup_help")
    _metrics(speedup, ("Pays above", needed, "needed_help"), ("Best length", best, "best_help"))


def _untold(found: Production) -> None:
    """Counters without the cost of a round: no verdict, but a range. The text below takes it from the same place."""
    ahead, look = outlook(found), LOOKS[UNTOLD]
    st.markdown(f":material/{look.icon}: :{look.color}[**{advice.UNTOLD}**]")
    say(advice.known_without_costs(found), "worksheet-verdict")
    below = ("Pays below", f"{found.tokens:.2f} steps", "below_help")
    _metrics(("Speedup", ahead.speeds, "range_help"), below, ("Best length", ahead.lengths, "lengths_help"))


def _metrics(*shown: tuple[str, str, str]) -> None:
    """Figures beside each other: a label, the value, and the name of its explanation."""
    with st.container(horizontal=True, gap="medium", key="worksheet_figures"):
        for label, value, explanation in shown:
            st.metric(label, value, help=SAYS[explanation], width="content")


def _all_terms(model: terms.Model, start: Start, study: BatchStudy | None) -> None:
    inputs, outcome = st.columns([5, 8], gap="large")
    state = st.session_state
    with inputs:
        sliders.more_controls()
        if model.batch == 1:
            st.caption(_batch(model, start))
        kinds = f" {plain(kinds_of_machines(study))}" if study else ""
        st.caption(f"{plain(terms.batch_shape(model))}{kinds} {SAYS['h100']}")
        st.caption(SAYS["batch_lesson"])
        if study and (said := checks_sentence(study, model.draft_length, model.batch)):
            st.caption(plain(said))
    with outcome:
        counts = state.worksheet_drafted, state.worksheet_accepted, state.worksheet_counted_at
        say(terms.counts_sentence(*counts, model), "worksheet-counts")
        say(terms.break_even_sentence(model), "worksheet-break-even")
        st.markdown(terms.symbols(model))
        note(terms.half_sentence(model), "worksheet-half")


def _batch(model: terms.Model, start: Start) -> str:
    return terms.batch_sentence(model, measured=contain_load(start.named_costs))
