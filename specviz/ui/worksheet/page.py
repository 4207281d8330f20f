"""The worksheet's sections on the visitor's own numbers: the calculator, predicted against measured, exercises."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from specviz.core.errors import InputError
from specviz.core.metrics import Costs
from specviz.core.names import pair_name
from specviz.core.trace import Trace
from specviz.data.batches import BatchStudy, recorded_batches
from specviz.data.first_run import first_trace
from specviz.data.lessons.glossary import explained
from specviz.measure.batch_sentences import checks_sentence
from specviz.measure.race import RaceLap
from specviz.measure.worksheet.exercises import exercises, sheet
from specviz.measure.worksheet.model import (
    Model,
    batch_sentence,
    break_even_sentence,
    counts_sentence,
    half_sentence,
    label_of,
)
from specviz.measure.worksheet.runs import Measured, first_series, of_laps, of_rows, of_runs, trace_of_lap
from specviz.measure.worksheet.serving import contain_load
from specviz.measure.worksheet.starts import Start, batch_starts, start_of_file, starts
from specviz.ui.helps.state import HERE, recorded_sweep
from specviz.ui.race.state import recorded_race
from specviz.ui.session import session
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.heading import heading
from specviz.ui.shared.tables import NOT_MEASURED, TIMES, data_table, numbers
from specviz.ui.worksheet.controls import chosen_start, controls
from specviz.ui.worksheet.figures import gap_figure, speedup_map


@dataclass(frozen=True, slots=True)
class Known:
    """The runs of this visitor and the recorded ones."""

    finished: list[Trace]  # the Watch page's runs
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
        """The source of that run."""
        if self.finished:
            return "Your last run, measured here."
        return f"The recorded run, made on {self.recorded.recorded_on.machine}." if self.recorded else ""

    @property
    def starts(self) -> list[Start]:
        """What the controls can start from."""
        raced = {lap.name: trace_of_lap(lap) for lap in self.raced}
        found = starts(self.finished, self.recorded, self.costs, raced, self.opened)
        if self.newest and self.opened and (file := start_of_file(self.opened)):
            found.sort(key=lambda start: start.label != file.label)
        return found + (batch_starts(self.batches) if self.batches else [])


def known_runs() -> Known:
    """Collect the results of Watch, Race and When it helps from the session."""
    visitor = session()
    finished, recorded = [shown.trace for shown in visitor.watch.finished], first_trace()
    raced, swept = visitor.race.laps, visitor.sweeps.rows_of(HERE)
    measured = [
        *(of_runs(finished, False) or of_runs([recorded] if recorded else [], True)),
        *(of_laps(raced, False) or of_laps(recorded_race(), True)),
        *(of_rows(swept, False) or of_rows(first_series(recorded_sweep()), True)),
    ]
    measured.sort(key=lambda each: each.recorded)
    watched = visitor.watch
    newest = watched.opened_as == watched.runs
    return Known(finished, watched.costs, recorded, raced, watched.opened, newest, _batches(), measured)


def _batches() -> BatchStudy | None:
    try:
        return recorded_batches()
    except InputError:
        return None  # the page works without it


def lead() -> None:
    """One sentence that says what the page answers."""
    answer = explained(
        "Tokens per target call over the cost of a round. Modelled unless marked as measured.", "worksheet-lead"
    )
    heading(f"**Does a draft pay?** {answer}", html=True)


def calculator(known: Known) -> None:
    """Counts and costs on the left; break-even, figures and the map on the right (on a phone: above)."""
    with st.container(key="worksheet_calculator"):
        inputs, outcome = st.columns([5, 8], gap="large")
    with inputs, st.container(key="worksheet_inputs"):
        model = controls(known.starts, session().watch.runs)
        _batch(model, chosen_start(known.starts), known.batches)
    with outcome:
        counted = counts_sentence(st.session_state.worksheet_drafted, st.session_state.worksheet_accepted, model)
        st.markdown(explained(counted, "worksheet-counts"), unsafe_allow_html=True)
        st.markdown(explained(break_even_sentence(model), "worksheet-break-even"), unsafe_allow_html=True)
        _figures(model)
        alt = "Modelled speedup by acceptance per judgement and draft length, with the break-even line and your runs."
        chart(speedup_map(model, known.measured), key="worksheet_map", alt=alt)
        st.caption(
            f"{half_sentence(model)} The map takes c, v, o and the batch from the sliders; its points are measured, "
            "each at its own costs."
        )


def _batch(model: Model, start: Start, study: BatchStudy | None) -> None:
    """What the batch slider does, or why it does nothing; and what was measured in batches, beside what is assumed."""
    sentence = batch_sentence(model, measured=contain_load(start.named_costs))
    if model.batch > 1:
        st.info(sentence, icon=":material/groups:")
    else:
        st.caption(sentence)
    st.caption(BATCH_ASSUMPTION)
    if study and (said := checks_sentence(study, model.draft_length, model.batch)):
        st.caption(plain(said))


def _figures(model: Model) -> None:
    with st.container(horizontal=True, gap="medium", key="worksheet_figures"):
        st.metric("Tokens per call, E(γ)", f"{model.tokens_per_call:.2f}", help=TOKENS_HELP, width="content")
        st.metric("Ideal speedup", f"{model.ideal:.2f}×", help=IDEAL_HELP, width="content")
        realistic = f"{model.realistic:.2f}×"
        st.metric(f"Realistic: {label_of(model.realistic).lower()}", realistic, help=REALISTIC_HELP, width="content")
        st.metric("Extra compute", f"{model.extra_operations:.2f}×", help=EXTRA_HELP, width="content")
        st.metric("Best γ", f"{model.best} ({model.best_speedup:.2f}×)", help=BEST_HELP, width="content")


def show_gaps(known: Known) -> None:
    """Predicted against measured for every run, race and sweep, and one run's gap split into its causes."""
    if not known.measured:
        st.info("No run has both decoders yet: make one on the Watch page.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        _show_gap([each for each in known.measured if each.gap])
    with right:
        st.markdown("**Predicted against measured**")
        data_table(
            pd.DataFrame([_gap_row(each) for each in known.measured]),
            hide_index=True,
            key="worksheet_gaps",
            column_config=numbers("%d", "γ")
            | numbers("%.2f", "α")
            | numbers(TIMES, "formula", "with v, o", "by position", "measured"),
            placeholder=NOT_MEASURED,
            alt="Predicted and measured speedup of each run, race and sweep.",
        )
        st.caption(MEASURED_CAPTION)


def _show_gap(split: Sequence[Measured]) -> None:
    if not split:
        st.info("No run with acceptance by position yet: make one on the Watch page.")
        return
    names = [f"{each.source}: {each.label}, γ = {each.terms.draft_length}" for each in split]
    chosen = split[
        st.selectbox("Run to explain", range(len(split)), format_func=names.__getitem__, key="worksheet_gap_of")
    ]
    assert chosen.gap
    st.markdown(chosen.gap.sentence)
    alt = "Speedup by the paper's formula, what each cause changes, and the measured speedup."
    chart(gap_figure(chosen.gap), key="worksheet_gap", alt=alt)
    st.caption(GAP_CAPTION)


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
    """Questions about the visitor's last run, to print, with an answer key computed from it."""
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
            st.download_button(
                label,
                sheet(trace, TITLE, known.last_source, key=key),
                file_name=f"specviz-{name}.html",
                mime="text/html",
                icon=":material/print:",
                key=f"worksheet_{name}",
                on_click="ignore",
            )
    for number, exercise in enumerate(found, start=1):
        st.text(f"{number}. {exercise.question}")
    with st.expander("Answer key"):
        for number, exercise in enumerate(found, start=1):
            st.text(f"{number}. {exercise.answer}")


TITLE = "Speculative decoding: exercises on one run"
TOKENS_HELP = "E(γ) = 1 + α + … + α^γ: tokens a round is expected to write (Leviathan et al. 2023, Eq. 1)."
IDEAL_HELP = "E(γ) / (γc + 1): as if checking cost one step and the loop nothing (Leviathan, Theorem 3.8)."
REALISTIC_HELP = "E(γ) / (γc + v(γ+1) + o), v in this batch: with the costs of a real machine. Modelled."
EXTRA_HELP = (
    "Arithmetic operations, speculative over plain: (1 − α)(γĉ + γ + 1) / (1 − α^(γ+1)) (Leviathan, Theorem 3.11). "
    "The speedup costs extra work: rejected tokens are thrown away."
)
BEST_HELP = "The draft length from 1 to 16 with the highest realistic speedup at these costs, and that speedup."
BATCH_ASSUMPTION = (
    "Assumed: a pass over n tokens takes 1 + s(n − 1), whichever sequence they are of, with the slope s of v(γ+1); c "
    "and o stay as they are. Real machines are flat at first and steeper later. Measured on H100s under vLLM, speedups "
    "shrink as batches grow and checking takes 42 to 95 % of the time ([arXiv 2601.11580]"
    "(https://arxiv.org/abs/2601.11580))."
)
MEASURED_CAPTION = (
    "Predicted from what each measured of itself: α, c, v and o. “Yours” is from this session, on this machine; for a "
    "page on which you have not measured yet, the recorded values are shown. A sweep’s rows are pooled by workload and "
    "draft length, and store no acceptance by position. The speedup of a race is over all its repeats."
)
GAP_CAPTION = (
    "Each cause is added to those before it: acceptance by position instead of one α; v(γ+1) instead of 1; o instead "
    "of 0; the rest is rounds with shorter drafts and uneven steps. Costs are this run’s own medians."
)
