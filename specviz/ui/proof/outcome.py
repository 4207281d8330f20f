"""The result of draws by one rule: bars, the distance against draws, the test's figures, and a verdict."""

import streamlit as st

from specviz.measure.proof.findings import FALSE_ALARM, LIMIT, Finding
from specviz.measure.proof.rows import BATCHES
from specviz.measure.proof.rule_names import POSITIONS
from specviz.ui.proof.figures import SHOWN, distance_figure, distribution_figure, places_figure
from specviz.ui.proof.state import Outcome, Proving, Source
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain


def show_outcome(state: Proving, outcome: Outcome, key: str, *, narrow: bool = False) -> None:
    """Bars, the distance against draws, the test's figures and the verdict."""
    if not outcome.batches:
        return
    ways, alone, last = outcome.looks, outcome.plain_looks, outcome.looks[-1]
    running = state.drawing == outcome.rule
    st.markdown(f"{badge(outcome.source)} {_what(outcome)}")
    st.markdown(_verdict(outcome.finding, cut_short=not running and len(outcome.batches) < BATCHES))
    with st.container(horizontal=True, gap="medium", key=f"{key}_figures"):
        for label, value, meaning in [
            ("draws each way", f"{last.draws:,}", DRAWN_HELP),
            ("distance", f"{last.distance:.3f}", DISTANCE_HELP),
            ("chance alone", f"up to {last.chance:.3f}", CHANCE_HELP),
            ("χ²", f"{last.statistic:.1f}, {last.degrees} degrees of freedom", CHI_HELP),
            (f"p-value of the counts, fails below {LIMIT:g}", _p(last.p_value), P_HELP),
            ("the same of the target alone", _p(alone[-1].p_value), CONTROL_HELP),
            *_place_figures(outcome),
        ]:
            st.markdown(f"**{value}**  \n:small[{label}]", width="content", help=meaning)
    bars, distance = (st.container(), st.container()) if narrow else st.columns([3, 2], gap="medium")
    with bars:
        chart(distribution_figure(outcome.batches), key=f"{key}_bars", alt=BARS_ALT)
        bins = ", ".join(token.replace("\n", "⏎") for token in outcome.batches[0].tokens)
        st.caption(
            plain(f"Bins of the first test: {bins}. The bars show the first {SHOWN}, and all the rest together.")
        )
    with distance:
        chart(distance_figure(ways, alone), key=f"{key}_distance", alt=DISTANCE_ALT)
        if outcome.place_looks:
            chart(places_figure(outcome.batches), key=f"{key}_places", alt=PLACES_ALT)


def _place_figures(outcome: Outcome) -> list[tuple[str, str, str]]:
    """The test of places beside that of counts; nothing for a recording without it."""
    placed, alone = outcome.place_looks, outcome.plain_place_looks
    if not placed:
        return []
    return [
        (f"p-value of the places, fails below {LIMIT:g}", _p(placed[-1].p_value), PLACES_HELP),
        ("the same of the target alone", _p(alone[-1].p_value), CONTROL_HELP),
    ]


def _what(outcome: Outcome) -> str:
    request, texts = outcome.request, sum(batch.texts for batch in outcome.batches)
    draft = "prompt lookup" if request.draft == "lookup" else plain(request.draft)
    after = "" if outcome.position == "first" else f", after {texts:,} texts"
    return (
        f"{POSITIONS[outcome.position]}{after}; {draft} → {plain(request.target)}, temperature "
        f"{request.settings.temperature:g}, draft length {request.settings.draft_length}{request.settings.manner}."
    )


def _verdict(found: Finding, *, cut_short: bool) -> str:
    if found.state == "fails":
        return f":material/cancel: :orange[**Fails the test.**] {found.sentence}"
    if found.state == "passes":
        return f":material/check_circle: :blue[**Passes the test.**] {found.sentence}"
    if cut_short:
        return ":material/pause_circle: **Stopped early: no verdict.** No difference was found so far."
    return f":material/pending: {found.sentence}"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}" if value > 1e-99 else "< 1e-99"


def badge(source: Source) -> str:
    """The source of a result."""
    return ":gray-badge[RECORDED]" if source == "recorded" else ":green-badge[LIVE · this machine]"


DRAWN_HELP = "How many times the token was written by speculative decoding, and as many times by the target alone."
DISTANCE_HELP = (
    "Total variation distance: half the sum of all differences between the counted shares and the target’s own "
    "probabilities. 0: no difference; 1: nothing in common."
)
CHANCE_HELP = (
    "Counts differ by chance even without a real difference. Draws from the target’s own probabilities stay below "
    "this distance 19 times in 20 (simulated, with a fixed seed)."
)
CHI_HELP = (
    "Chi-squared: (counted − expected)² / expected, summed. About as large as its degrees of freedom when nothing is "
    "wrong. Tokens expected fewer than 5 times are counted together."
)
P_HELP = (
    "The probability of a χ² at least this large if the draws are the target’s. Two tests, of counts and of places, "
    f"are made {BATCHES} times as draws arrive. The proof fails if one p-value is below {LIMIT:g}, so a right rule "
    f"fails in at most {FALSE_ALARM:.0%} of proofs."
)
PLACES_HELP = (
    "Line up all tokens by probability, each as wide as its probability: the place of a drawn token is a random point "
    "of its own piece. Places of the target’s own draws are spread evenly, so this test looks inside “any other” too."
)
PLACES_ALT = "Share of the places in each twentieth of the probability, speculative and plain, beside the even 5 %."
CONTROL_HELP = "The control: the same test on what the target alone wrote in as many draws. It should pass too."
BARS_ALT = (
    "Share of each of the most likely tokens: the target's probabilities, speculative decoding's draws, plain draws."
)
DISTANCE_ALT = "Distance from the target's probabilities by number of draws, both ways, and the limit of chance."
