"""What a run says, below the stage: both texts, and what its pair costs on this machine."""

from collections.abc import Sequence

import streamlit as st

from specviz.core.metrics import Costs
from specviz.core.trace import Trace
from specviz.core.verdict import compare_texts
from specviz.data.lessons.glossary import explained
from specviz.ui.shared.address import is_hidden
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import BLUE, GREY, Figure, axis, chart, figure, level, scatter
from specviz.ui.shared.parts import two_texts
from specviz.ui.watch.watch_state import Shown, Watching, pair_key

HEIGHT = 300


def verification_figure(costs: Costs) -> Figure:
    """v(k), the target's time for k tokens at once in single-token steps, beside free and one-by-one checking."""
    lengths = sorted(costs.verification)
    measured = [costs.verification[k] for k in lengths]
    one_by_one = scatter("one by one", lengths, lengths, mode="lines", line={"dash": "dash", "color": GREY})
    said = "%{x} tokens at once: %{y:.2f} steps, measured<extra></extra>"
    here = scatter("measured here", lengths, measured, said, line={"color": BLUE, "width": 2})
    x = axis("tokens read at once, k", dtick=2 if lengths[-1] <= 20 else 8)
    y = axis("v(k), target steps", range=[0, max(3.0, 1.2 * max(measured))])
    return figure([one_by_one, here], HEIGHT, x=x, y=y, **level(1, "free verification"))


def show_outcome(watching: Watching, shown: Shown, *, running: bool) -> None:
    """What a run's figures say that the stage does not: both texts, and what its costs are."""
    request = watching.request
    with st.container():  # one place on the page, whatever it holds: what is below stays open
        if not is_hidden("texts"):
            _show_outputs(shown.trace, shown.plain_text, waiting=running)
        if not is_hidden("costs") and not shown.trace.imported:  # its pair can never be measured here
            _show_costs(watching.shown_costs, watching.costs.formats.get(pair_key(request), ()) if request else ())


def _show_outputs(trace: Trace, plain_text: str | None, *, waiting: bool) -> None:
    """Both decoders' texts, and whether they are the same."""
    compared = trace.autoregressive and trace.output.stopped_by and not waiting
    st.markdown(f"**Is it the same text?** {compare_texts(trace)}" if compared else "**The text**")
    if trace.imported and trace.autoregressive is None:
        st.text(trace.output.text)
        return
    if plain_text is None and (waiting or not trace.output.stopped_by):
        plain_text = "…"
    elif trace.autoregressive is None:
        plain_text = "(not known)"
    two_texts(trace.output.text, "(The file has only its token ids.)" if plain_text is None else plain_text)


def _show_costs(costs: Costs | None, formats: Sequence[str]) -> None:
    """What checking several tokens at once costs, measured here."""
    st.markdown("**What checking k tokens at once costs**")
    if costs is None:
        st.caption("Measured here after a live run of this pair.")
        return
    alt = "Measured time of one target pass over k tokens, in single-token steps, and the free ideal."
    chart(verification_figure(costs), key="verification", alt=alt)
    said = (
        f"Measured here: one target step {1000 * costs.step_seconds:.1f} ms; in such steps, a draft step "
        f"c = {costs.cost_ratio:.2f}, checking 5 tokens at once v(5) = {costs.verification.get(5, 1.0):.2f}, "
        f"overhead {costs.overhead:.2f} a round."
    )
    st.caption(" ".join([explained(said, "costs"), *map(plain, formats)]), unsafe_allow_html=True)
