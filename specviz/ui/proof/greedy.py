"""The greedy section of the proof page: ids compared one by one, and the place where two outputs differ."""

from collections.abc import Sequence
from math import floor, log2
from typing import Literal

import streamlit as st

from specviz.core.names import short_name
from specviz.core.request import DEFAULT_DRAFT, RunRequest
from specviz.core.rounding import SOURCE, Judged
from specviz.core.settings import DecodeSettings
from specviz.data.texts import page_texts
from specviz.measure.proof.rows import GreedyRow, NearTie
from specviz.ui.proof.outcomes import badge, show_status, tie_figure
from specviz.ui.proof.proof_state import ONE_OF_EACH, Proving, Source, Wanted
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.parts import data_table, say

SAYS = page_texts("proof")

Cells = dict[str, str | int]  # of a row of the table
SETTINGS = ("draft length", "draft", "target")
Result = Judged | Literal["identical"]
VERDICTS: dict[Result, tuple[str, str]] = {  # the worst one last
    "identical": (":material/check_circle:", "identical, id for id"),
    "rounding": (":material/compare_arrows:", "identical; rounding decides a near-tie where marked ✗"),
    "unknown": (":material/help:", "identical; whether rounding explains the rest is not known for this model"),
    "fails": (":material/cancel:", "identical. FAILS: a difference is larger than rounding explains, where marked ✗"),
}
DIFFERENCES: dict[Result, str] = {"identical": "none", "rounding": "near-tie", "unknown": "not known", "fails": "FAILS"}


def show_greedy(state: Proving, wanted: Wanted) -> None:
    st.header("Greedy: token for token", anchor="greedy")
    about = SAYS["greedy"]
    say(about, "proof-greedy")
    left, right = st.columns([4, 6], gap="large")
    with left:
        _greedy_rows(state, wanted)
    with right:
        _near_tie(state)


def _greedy_rows(state: Proving, wanted: Wanted) -> None:
    rows, busy = state.greedy, state.slot.busy or wanted.problem is not None
    if rows:
        st.markdown(f"{badge(state.source('greedy'))} {_greedy_verdict(rows)}")
        same, table = without_constant([_greedy_row(row) for row in rows])
        data_table(table, "proof_greedy_rows")
        if same:
            st.caption(plain(f"In every row: {', '.join(f'{name} {value}' for name, value in same.items())}."))
    with st.container(horizontal=True, key="proof_greedy_buttons"):
        if st.button("Compare one prompt of each kind", key="proof_greedy", disabled=busy):
            state.compare("greedy", wanted.request, ONE_OF_EACH)
            st.rerun()
        if st.button("Compare my prompt", key="proof_greedy_own", disabled=busy):
            state.compare("greedy", wanted.request)
            st.rerun()
    show_status(state, "greedy")


def _greedy_verdict(rows: Sequence[GreedyRow]) -> str:
    same, tokens = sum(row.same for row in rows), sum(row.tokens for row in rows)
    icon, verdict = VERDICTS[max((_state(row) for row in rows), key=list(VERDICTS).index)]
    return f"{icon} **{same} of {tokens} tokens {verdict}.**"


def _state(row: GreedyRow) -> Result:
    return row.judged.state if row.judged else "identical"


def _greedy_row(row: GreedyRow) -> Cells:
    return {
        "prompt": row.preset or "your own",
        "same": f"{'✓' if row.identical else '✗'} {row.same} of {row.tokens}",
        "difference": DIFFERENCES[_state(row)],
        "drafts accepted": f"{row.accepted} of {row.drafted}",
        "draft length": f"{row.draft_length}, tree {row.tree}" if row.tree else row.draft_length,
        "draft": short_name(row.draft),
        "target": f"{short_name(row.target)} ({row.dtype})",
    }


def without_constant(rows: Sequence[Cells]) -> tuple[Cells, list[Cells]]:
    """The settings that are the same in every row, and the rows without them: a table of half a page has no room."""
    same = {name: rows[0][name] for name in SETTINGS if len({row[name] for row in rows}) == 1}
    return same, [{name: value for name, value in row.items() if name not in same} for row in rows]


def _near_tie(state: Proving) -> None:
    parted = sorted((row for row in state.greedy if row.near_tie), key=lambda row: _state(row) != "fails")
    row = parted[0] if parted else state.near_tie
    if row is None:
        return
    st.markdown("**When greedy texts differ: the place in detail**")
    show_difference(row, state.source("greedy" if parted else "near-tie"), "proof_tie_figure")
    busy = state.slot.busy or row.dtype != "bfloat16" or not row.preset
    if st.button("Run this example here", key="proof_tie", disabled=busy, help=SAYS["near_tie_help"]):
        settings = DecodeSettings(draft_length=row.draft_length)
        request = RunRequest(row.prompt, row.target, DEFAULT_DRAFT, settings=settings)
        state.compare("near-tie", request, [row.preset])
        st.rerun()
    show_status(state, "near-tie")


def show_difference(row: GreedyRow, source: Source, key: str) -> None:
    tie, judged = row.near_tie, row.judged
    if tie is None or judged is None:
        st.markdown(f"{badge(source)} Here the two texts do not differ: all {row.tokens} tokens are the same.")
        return
    sentence = judged.sentence[0].upper() + judged.sentence[1:]
    mark = ":material/cancel: :orange" if judged.state == "fails" else ":material/compare_arrows: :blue"
    target = plain(short_name(row.target))
    st.markdown(
        f"{badge(source)} {target} in {row.dtype}, prompt {plain(row.preset or 'of your own')}: the texts "
        f"differ from new token {tie.position + 1} on.  \n{mark}[**{plain(sentence)}.**]"
    )
    st.text(f"…{' '.join(tie.text.split())} ▸ {tie.plain_token!r} or {tie.speculative_token!r}")
    chart(tie_figure(tie), key, alt=SAYS["tie_alt"])
    st.caption(_why(row, tie), help=SOURCE)


def _why(row: GreedyRow, tie: NearTie) -> str:
    one, batched, exact = tie.ways
    winner = "the plain" if exact.gap >= 0 else "the speculative run’s"
    equal = " (of equal scores, the token with the lower number is taken)" if batched.gap == 0 else ""
    leads = (
        f"The plain token leads by {one.gap:+.4f} in the one-token pass and by {batched.gap:+.4f} in the pass over "
        f"{tie.batch} tokens{equal}: a change of {tie.change:.2g}. In float32 it is {exact.gap:+.4f}: {winner} token."
    )
    if _state(row) == "fails":
        return f"{leads} So large a change has another cause than rounding: for example, a row is missing in the cache."
    if _state(row) == "unknown":
        return leads
    step = f"A bfloat16 number has 8 bits of precision, so near {one.plain:.0f} scores change in steps of "
    steps = f"{step}{bfloat16_step(one.plain):g}. " if row.dtype == "bfloat16" else ""
    return (
        f"{steps}Reading {tie.batch} tokens in one pass adds numbers in another order than reading one. {leads} "
        "Neither text is worse; in float32 this is rare."
    )


def bfloat16_step(value: float) -> float:
    """The distance between neighbouring bfloat16 numbers near `value`."""
    return 2.0 ** (floor(log2(abs(value))) - 7) if value else 0.0
