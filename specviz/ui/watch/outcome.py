"""What a run says, below the stage: the verdict, both texts, speedup against draft length."""

from collections.abc import Iterable, Sequence

import streamlit as st

from specviz.core.metrics import Costs, count, speedup
from specviz.core.names import pair_name
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict, compare_texts, verdict_of_run, why_no_verdict
from specviz.data.lessons.glossary import explained
from specviz.player.data import Source
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.hiding import is_hidden
from specviz.ui.shared.verdict import headline
from specviz.ui.watch.figures import Dot, speedup_figure, verification_figure
from specviz.ui.watch.state import Shown, Watching, pair_key


def show_outcome(watching: Watching, shown: Shown, *, running: bool, stale: bool) -> None:
    """Everything below the stage that a run's figures say; `stale`: the run on screen is not the one asked for."""
    costs, request = watching.shown_costs, watching.request
    if not is_hidden("result"):
        show_verdict(shown.trace, shown.source, costs, waiting=running, stale=stale)
    if not is_hidden("texts"):
        show_outputs(shown.trace, shown.plain_text, waiting=running)
    if not is_hidden("costs"):
        formats = watching.formats.get(pair_key(request), ()) if request else ()
        show_speedups(shown, watching.finished, costs, formats)


def show_verdict(trace: Trace, source: Source, costs: Costs | None, *, waiting: bool, stale: bool) -> None:
    """What was counted, which is exact; then helps, about even or hurts, and what decides it; or why not."""
    before = ":gray[Previous run:] " if stale else ""
    if counted := _counted(trace):
        st.markdown(f"{before}{explained(counted, 'counted')} :gray[(counted, exact)]", unsafe_allow_html=True)
    verdict = None if waiting else verdict_of_run(trace, costs)
    if waiting:
        st.markdown(":gray[The verdict comes when both have written the whole text.]")
    elif verdict is None:
        st.markdown(f":gray[No verdict: {why_no_verdict(trace)}.]")
    else:
        st.markdown(f"{before}{_measured(verdict, source)}", unsafe_allow_html=True)


def show_result_line(trace: Trace, source: Source, costs: Costs | None, *, waiting: bool, stale: bool) -> None:
    """What was counted, and the verdict without its reason: one line for a room."""
    before = ":gray[Previous run:] " if stale else ""
    counted, verdict = _counted(trace), None if waiting else verdict_of_run(trace, costs)
    exact = f"{counted} :gray[(counted, exact)]" if counted else ""
    judged = f"{headline(verdict)} :gray[({_origin(source)})]" if verdict else ""
    st.markdown(f"{before}{exact}&emsp;{judged}")


def _origin(source: Source) -> str:
    return "one run of one text, recorded" if source == "recorded" else "one run of one text, measured here"


def _counted(trace: Trace) -> str | None:
    """Figures that do not depend on the machine's speed; None before a draft is judged."""
    counts = count(trace.rounds)
    per_call, judged = counts.tokens_per_target_call, counts.accepted + counts.rejected
    if per_call is None or not judged:
        return None
    return f"{per_call:.2f} tokens per target call; {counts.accepted} of {judged} judged drafts accepted."


def _measured(verdict: Verdict, source: Source) -> str:
    """The verdict as Markdown, and where it was measured."""
    reason = explained(verdict.reason, "verdict")
    if not verdict.trusted:
        return reason if source == "live" else reason.replace("This machine is busy", "The machine was busy")
    where = _origin(source)
    if verdict.interval:
        low, high = verdict.interval
        where += f"; 95 % interval of its timing: {low:.2f}× to {high:.2f}×"
    return f"{headline(verdict)} {reason} :gray[({where})]"


def show_outputs(trace: Trace, plain_text: str | None, *, waiting: bool) -> None:
    """Both decoders' texts, and whether they are the same."""
    compared = trace.autoregressive and trace.output.stopped_by and not waiting
    st.markdown(f"**Is it the same text?** {compare_texts(trace)}" if compared else "**The text**")
    ours, theirs = st.columns(2, gap="medium")
    with ours:
        st.caption("Speculative decoding wrote")
        st.code(trace.output.text or " ", language=None, wrap_lines=True)
    with theirs:
        st.caption("The target alone wrote")
        if plain_text is None and (waiting or not trace.output.stopped_by):
            st.code("…", language=None)
        elif trace.autoregressive is None:
            st.code("(not known)", language=None)
        elif plain_text is None:
            st.code("(The file has only its token ids.)", language=None, wrap_lines=True)
        else:
            st.code(plain_text or " ", language=None, wrap_lines=True)


def show_speedups(shown: Shown, finished: Iterable[Shown], costs: Costs | None, formats: Sequence[str]) -> None:
    """Every run of the session as a dot beside what the measured costs predict."""
    tree = shown.trace.settings.tree is not None
    alpha = count(shown.trace.rounds).per_judgement_rate if shown.measured_here and not tree else None
    runs = [*finished] if shown.measured_here else [*finished, shown]
    dots = [_dot(run, shown) for run in runs if speedup(run.trace) and count(run.trace.rounds).drafted]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown("**Speedup against draft length**")
        figure = speedup_figure(dots, alpha, costs)
        alt = "Measured speedup of each run of this session by draft length, the predicted curve, and break-even."
        chart(figure, key="speedups", alt=alt)
    with right:
        st.markdown("**What checking k tokens at once costs**")
        if costs:
            alt = "Measured time of one target pass over k tokens, in single-token steps, and the free ideal."
            chart(verification_figure(costs), key="verification", alt=alt)
        else:
            st.caption("Measured here after a live run of this pair.")
    st.caption(
        " ".join([explained(_costs_sentence(costs, tree), "costs"), *map(plain, formats)]), unsafe_allow_html=True
    )


def _costs_sentence(costs: Costs | None, tree: bool) -> str:
    if costs is None:
        return "Each live run adds a dot. The predicted curve appears when this pair's costs have been measured here."
    checked = costs.verification.get(5, 1.0)
    curve = (
        "A tree has several guesses a place: the formula of a chain does not predict it, so there is no curve."
        if tree
        else "The curve is E(γ) / (γc + v(γ+1) + o) with this run's acceptance per judgement, α."
    )
    return (
        f"Measured here: one target step {1000 * costs.step_seconds:.1f} ms; in such steps, a draft step "
        f"c = {costs.cost_ratio:.2f}, checking 5 tokens at once v(5) = {checked:.2f}, overhead {costs.overhead:.2f} "
        f"a round. {curve}"
    )


def _dot(run: Shown, current: Shown) -> Dot:
    return Dot(
        draft_length=run.trace.settings.draft_length,
        speedup=speedup(run.trace) or 0.0,
        label=f"{_pair(run.trace)}{run.trace.settings.manner}, temperature {run.trace.settings.temperature:g}",
        current=run.run_id == current.run_id,
        same_pair=_pair(run.trace) == _pair(current.trace),
        recorded=not run.measured_here,
    )


def _pair(run: Trace) -> str:
    return f"{pair_name(run)} ({run.target.dtype})"
