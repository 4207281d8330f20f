"""A bare page with the stage on it, for test_stage.py: the address chooses the run, buttons change it."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import streamlit as st

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from specviz.core.replay import DraftGuesses  # noqa: E402
from specviz.core.trace import Trace  # noqa: E402
from specviz.player.data import stage_data  # noqa: E402
from specviz.player.replay import replay_data  # noqa: E402
from specviz.ui.shared.plotly_static import publish_plotly  # noqa: E402
from specviz.ui.stage.component import stage  # noqa: E402
from tests.support.fake_traces import cut, fake_trace, translated  # noqa: E402
from tests.support.fake_trees import fake_tree_trace  # noqa: E402

st.set_page_config(layout="wide")
publish_plotly(HERE / "static")


def draft_guesses_of(trace: Trace) -> DraftGuesses:
    """Made-up guesses that agree with what the made-up greedy run drafted; right wherever it drafted nothing."""
    guesses = list(trace.output.token_ids)
    pieces = {token.id: token.text for round in trace.rounds for token in [*round.drafted, round.emitted] if token.id}
    written = 0
    for round in trace.rounds:
        for place, token in enumerate(round.drafted[: round.accepted + round.rejected], start=written):
            guesses[place] = token.id
        written += len(round.emitted_ids)
    assert trace.drafter is not None
    return DraftGuesses(trace.drafter, trace.output.token_ids, guesses, None, pieces, True)


asked = st.query_params
trace = fake_trace(
    tokens=int(asked.get("tokens", 64)),
    draft_length=int(asked.get("gamma", 4)),
    sharpness=float(asked.get("sharpness", 6)),
    greedy="greedy" in asked,
    lookup="lookup" in asked,
    eos="eos" in asked,
    hostile="hostile" in asked,
    record="unrecorded" not in asked,
)
if "translated" in asked:
    trace = translated(trace)
if "tree" in asked:
    trace = fake_tree_trace(
        asked["tree"],
        setting=asked.get("setting"),
        kind=asked.get("kind", "model"),
        greedy="greedy" in asked,
        sharpness=float(asked.get("sharpness", 6)),
        hostile="hostile" in asked,
        record="unrecorded" not in asked,
    )
if "block" in asked:
    trace = replace(trace, settings=replace(trace.settings, verification="block"))
growing = st.session_state.setdefault("rounds", int(asked.get("rounds", 0)))
st.text_input("something to type in")
left, middle, right = st.columns(3)
if left.button("more rounds"):
    growing = st.session_state.rounds = growing + 2
if middle.button("new run"):
    st.session_state.run = st.session_state.get("run", 0) + 1
elsewhere = right.checkbox("elsewhere")


@st.fragment(run_every=float(asked["every"]) if "every" in asked else None)
def show() -> None:
    """The stage; with `every`, one more round each time that many seconds have passed; `latency` seconds late."""
    time.sleep(float(asked.get("latency", 0)))
    if "every" in asked:
        st.session_state.rounds = min(st.session_state.rounds + 1, len(trace.rounds))
    growing = st.session_state.rounds
    place = st.session_state.get("place", int(asked["step"]) if "step" in asked else None)
    reported = stage(
        stage_data(
            cut(trace, growing) if growing else trace,
            run_id=f"run {st.session_state.get('run', 0)}",
            source="live" if growing else "recorded",
            running=bool(growing),
            link={"target": "wren-base", "prompt": "a & b"},
            playhead=place,
            gamma=st.session_state.get("gamma"),
            replay=replay_data(trace, draft_guesses_of(trace), None, running=False) if "foresight" in asked else None,
        ),
        on_draft_length=lambda length: st.session_state.update(gamma=length),
    )
    st.session_state.place = reported if reported is not None else place
    st.text(f"reported {reported}")
    st.text(f"asked {st.session_state.get('gamma')}")


if not elsewhere:
    show()
