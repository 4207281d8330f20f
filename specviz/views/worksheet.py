"""The worksheet's sections on the visitor's own numbers: the calculator, predicted against measured, exercises."""

from dataclasses import dataclass

import streamlit as st

from specviz.metrics import Costs
from specviz.trace import Trace
from specviz.views.outcome import NO_TOOLS
from specviz.views.recorded import first_trace
from specviz.views.watching import Watching
from specviz.views.worksheet_controls import controls
from specviz.views.worksheet_exercises import exercises, sheet
from specviz.views.worksheet_figures import (
    Point,
    gap_figure,
    speedup_map,
)
from specviz.views.worksheet_gap import Gap, gap_of
from specviz.views.worksheet_model import (
    Model,
    batch_sentence,
    break_even_sentence,
    counts_sentence,
    half_sentence,
    label_of,
)
from specviz.views.worksheet_starts import pair_name, starts


@dataclass(frozen=True, slots=True)
class Known:
    """What this visitor has measured, and the run recorded for everyone."""

    finished: list[Trace]
    costs: dict[tuple[str, str, str], Costs]
    recorded: Trace | None

    @property
    def last(self) -> Trace | None:
        """The visitor's newest run, or the recorded one before there is any."""
        return self.finished[-1] if self.finished else self.recorded

    @property
    def last_source(self) -> str:
        """Where that run is from."""
        if self.finished:
            return "Your last run, measured here."
        return f"The recorded run, made on {self.recorded.recorded_on.machine}." if self.recorded else ""


def known_runs() -> Known:
    """Collect the session's runs; the Watch page leaves them there."""
    watching: Watching = st.session_state.get("watching") or Watching()
    return Known([shown.trace for shown in watching.finished], watching.costs, first_trace())


def lead() -> None:
    """One sentence that says what the page answers."""
    st.markdown(
        "##### :primary[spec]viz&emsp;**Does a draft pay?** Tokens a target call, over what a round costs. Modelled, "
        "unless it says otherwise."
    )


def calculator(known: Known) -> None:
    """Counts and costs on the left; break-even, figures and the map on the right."""
    inputs, outcome = st.columns([5, 8], gap="large")
    with inputs:
        model = controls(starts(known.finished, known.recorded, known.costs), len(known.finished))
        st.caption(f"{batch_sentence(model)} {BATCH_ASSUMPTION}")
    with outcome:
        st.markdown(counts_sentence(st.session_state.ws_drafted, st.session_state.ws_accepted, model))
        st.markdown(break_even_sentence(model))
        _figures(model)
        alt = "Modelled speedup by acceptance per judgement and draft length, with the break-even line and your runs."
        st.plotly_chart(speedup_map(model, _points(known)), key="ws_map", config=NO_TOOLS, alt=alt)
        st.caption(f"{half_sentence(model)} The map takes c, v, o and the batch from the sliders.")


def _figures(model: Model) -> None:
    with st.container(horizontal=True, gap="medium", key="ws_figures"):
        st.metric("Tokens a call, E(γ)", f"{model.tokens_per_call:.2f}", help=TOKENS_HELP, width="content")
        st.metric("Ideal speedup", f"{model.ideal:.2f}×", help=IDEAL_HELP, width="content")
        realistic = f"{model.realistic:.2f}×"
        st.metric(f"Realistic: {label_of(model.realistic).lower()}", realistic, help=REALISTIC_HELP, width="content")
        st.metric("Extra compute", f"{model.extra_operations:.2f}×", help=EXTRA_HELP, width="content")
        st.metric("Best γ", f"{model.best} ({model.best_speedup:.2f}×)", help=BEST_HELP, width="content")


def _points(known: Known) -> list[Point]:
    runs = [(trace, False) for trace in known.finished] + ([(known.recorded, True)] if known.recorded else [])
    found = [(trace, gap_of(trace), recorded) for trace, recorded in runs]
    return [
        Point(gap.terms.draft_length, gap.terms.alpha, gap.measured, gap.terms.speedup, pair_name(trace), recorded)
        for trace, gap, recorded in found
        if gap
    ]


def show_gaps(known: Known) -> None:
    """Predicted against measured for every run, and the last one's gap split into its causes."""
    runs = [*reversed(known.finished), *([known.recorded] if known.recorded else [])]
    gaps = [(trace, gap) for trace in runs if (gap := gap_of(trace))]
    if not gaps:
        st.info("No run has both decoders yet: make one on the Watch page.")
        return
    trace, gap = gaps[0]
    source = "recorded" if trace is known.recorded else "measured here"
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"**{pair_name(trace)}, {source}.** {gap.sentence}")
        alt = "Speedup by the paper's formula, what each cause changes, and the measured speedup."
        st.plotly_chart(gap_figure(gap), key="ws_gap", config=NO_TOOLS, alt=alt)
        st.caption(GAP_CAPTION)
    with right:
        st.markdown("**Predicted against measured**")
        rows = [_gap_row(each, one, each is known.recorded) for each, one in gaps]
        st.dataframe(rows, hide_index=True, key="ws_gaps", alt="Each run's predicted and measured speedup.")


def _gap_row(trace: Trace, gap: Gap, recorded: bool) -> dict[str, str | int]:
    return {
        "γ": gap.terms.draft_length,
        "α": f"{gap.terms.alpha:.2f}",
        "formula": f"{gap.ideal:.2f}×",
        "with v, o": f"{gap.terms.speedup:.2f}×",
        "by position": f"{gap.by_position:.2f}×",
        "measured": f"{gap.measured:.2f}×",
        "from": "recorded" if recorded else "here",
        "run": pair_name(trace),
    }


def show_exercises(known: Known) -> None:
    """Questions about the visitor's last run, to print, with an answer key computed from it."""
    trace = known.last
    if trace is None or not (found := exercises(trace)):
        st.info("There is no run with drafted tokens to ask about yet: make one on the Watch page.")
        return
    st.markdown(
        f"**{len(found)} questions about {pair_name(trace)}.** {known.last_source} Answers are computed from it."
    )
    with st.container(horizontal=True, key="ws_downloads"):
        for label, name, key in [("Sheet to print", "sheet", False), ("Answer key", "answer-key", True)]:
            st.download_button(
                label,
                sheet(trace, TITLE, known.last_source, key=key),
                file_name=f"specviz-{name}.html",
                mime="text/html",
                icon=":material/print:",
                key=f"ws_{name}",
            )
    for number, exercise in enumerate(found, start=1):
        st.text(f"{number}. {exercise.question}")
    with st.expander("Answer key"):
        for number, exercise in enumerate(found, start=1):
            st.text(f"{number}. {exercise.answer}")


TITLE = "Speculative decoding: exercises on one run"
TOKENS_HELP = "E(γ) = 1 + α + … + α^γ: tokens a round is expected to write (Leviathan et al. 2023, Eq. 1)."
IDEAL_HELP = "E(γ) / (γc + 1): checking costs no more than one step, the loop nothing (Leviathan, Theorem 3.8)."
REALISTIC_HELP = "E(γ) / (γc + v(γ+1) + o), v in this batch: what a real machine’s costs leave of it. Modelled."
EXTRA_HELP = (
    "Arithmetic operations, speculative over plain: (1 − α)(γĉ + γ + 1) / (1 − α^(γ+1)) (Leviathan, Theorem 3.11). "
    "Speed is bought with work that is thrown away."
)
BEST_HELP = "The draft length from 1 to 16 with the highest realistic speedup at these costs, and that speedup."
BATCH_ASSUMPTION = (
    "Assumed: a pass over n tokens takes 1 + s(n − 1), whichever sequence they are of, with the slope s of v(γ+1); c "
    "and o stay as they are. Real machines are flat at first and steeper later. Measured on H100s under vLLM, speedups "
    "shrink as batches grow and checking takes 42 to 95 % of the time ([arXiv 2601.11580]"
    "(https://arxiv.org/abs/2601.11580))."
)
GAP_CAPTION = (
    "Each cause after those before it: acceptance by position instead of one α; v(γ+1) instead of 1; o instead of 0; "
    "the rest is rounds with shorter drafts and uneven steps. Costs are this run’s own medians."
)
