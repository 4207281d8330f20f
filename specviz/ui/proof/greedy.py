"""The greedy section of the proof page: ids compared one by one, and a near-tie that makes two outputs differ."""

from math import floor, log2

import streamlit as st

from specviz.core.request import DEFAULT_DRAFT, RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.lessons.glossary import explained
from specviz.measure.proof.rows import GreedyRow, NearTie
from specviz.ui.proof.figures import tie_figure
from specviz.ui.proof.link import Wanted
from specviz.ui.proof.outcome import badge
from specviz.ui.proof.state import Proving, Source, one_of_each
from specviz.ui.proof.status import show_status
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain


def show_greedy(state: Proving, wanted: Wanted) -> None:
    """Both decoders on several prompts, and an example in which they differ."""
    st.subheader("Greedy: token for token", anchor="greedy")
    st.markdown(
        explained(
            "Greedy decoding is temperature 0: both ways must write the same tokens. They are compared by number "
            "(token id), not by text.",
            "proof-greedy",
        ),
        unsafe_allow_html=True,
    )
    left, right = st.columns(2, gap="large")
    with left:
        _greedy_rows(state, wanted)
    with right:
        _near_tie(state)


def _greedy_rows(state: Proving, wanted: Wanted) -> None:
    rows, busy = state.greedy, state.slot.busy or wanted.problem is not None
    if rows:
        same, tokens = sum(row.same for row in rows), sum(row.tokens for row in rows)
        all_same = all(row.identical for row in rows)
        icon = ":material/check_circle:" if all_same else ":material/compare_arrows:"
        verdict = "identical, id for id" if all_same else "they differ at a near-tie where marked ✗"
        st.markdown(f"{badge(state.greedy_source)} {icon} **{same} of {tokens} tokens {verdict}.**")
        st.dataframe([_greedy_row(row) for row in rows], hide_index=True, key="proof_greedy_rows", alt=GREEDY_ALT)
    with st.container(horizontal=True, key="proof_greedy_buttons"):
        if st.button("Compare one prompt of each kind", key="proof_greedy", disabled=busy):
            state.compare_greedy(wanted.request, one_of_each())
            st.rerun()
        if st.button("Compare my prompt", key="proof_greedy_own", disabled=busy):
            state.compare_greedy(wanted.request, [])
            st.rerun()
    show_status(state, "greedy")


def _greedy_row(row: GreedyRow) -> dict[str, str | int]:
    return {
        "prompt": row.preset or "your own",
        "same": f"{'✓' if row.identical else '✗'} {row.same} of {row.tokens}",
        "drafts accepted": f"{row.accepted} of {row.drafted}",
        "draft length": row.draft_length,
        "draft": row.draft,
        "target": f"{row.target} ({row.dtype})",
    }


def _near_tie(state: Proving) -> None:
    parted = [row for row in state.greedy if row.near_tie]
    row, source = (parted[0], state.greedy_source) if parted else (state.near_tie, state.near_tie_source)
    if row is None:
        return
    st.markdown("**When greedy texts differ: a near-tie in detail**")
    if row.near_tie is None:
        st.markdown(f"{badge(source)} Here the two texts do not differ: all {row.tokens} tokens are the same.")
    else:
        _tie(row, row.near_tie, source)
    busy = state.slot.busy or row.dtype != "bfloat16" or not row.preset
    if st.button("Run this example here", key="proof_tie", disabled=busy, help=TIE_BUTTON_HELP):
        settings = DecodeSettings(draft_length=row.draft_length)
        state.repeat_near_tie(RunRequest(row.prompt, row.target, DEFAULT_DRAFT, settings=settings), row.preset)
        st.rerun()
    show_status(state, "near-tie")


def _tie(row: GreedyRow, tie: NearTie, source: Source) -> None:
    st.markdown(
        f"{badge(source)} {plain(row.target)} in {row.dtype}, prompt {plain(row.preset or 'of your own')}: the first "
        f"{tie.position} tokens are the same. Then two tokens are almost equally likely, and rounding decides."
    )
    st.text(f"…{' '.join(tie.text.split())} ▸ {tie.plain_token!r} or {tie.speculative_token!r}")
    alt = "Scores of both tokens in the one-token pass, the batched pass, and recomputed in float32."
    chart(tie_figure(tie), key="proof_tie_figure", alt=alt)
    st.caption(_tie_sentence(tie))


def _tie_sentence(tie: NearTie) -> str:
    one, batched, exact = tie.ways
    winner = "the plain" if exact.gap >= 0 else "the speculative run’s"
    equal = " (of equal scores, the token with the lower number is taken)" if batched.gap == 0 else ""
    return (
        f"A bfloat16 number has 8 bits of precision, so near {one.plain:.0f} scores change in steps of "
        f"{bfloat16_step(one.plain):g}. Reading {tie.batch} tokens in one pass adds numbers in another order than "
        f"reading one, and can be one step off: the plain token leads by {one.gap:+.4f} in the one-token pass and by "
        f"{batched.gap:+.4f} in the batched one{equal}. In float32 it is {exact.gap:+.4f}: {winner} token. Neither "
        "text is worse; in exact float32 runs this is rare."
    )


def bfloat16_step(value: float) -> float:
    """The distance between neighbouring bfloat16 numbers near `value`."""
    return 2.0 ** (floor(log2(abs(value))) - 7) if value else 0.0


GREEDY_ALT = "Each prompt with how many tokens are the same, from the start, in both outputs."
TIE_BUTTON_HELP = "Decodes the recorded prompt again on this machine, both ways, with the target in bfloat16."
