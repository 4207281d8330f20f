"""A bare page with the stage on it, for test_stage.py: the address chooses the run, buttons change it."""

import sys
from pathlib import Path

import streamlit as st

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from specviz.views.plotly_static import publish_plotly  # noqa: E402
from specviz.views.stage import stage  # noqa: E402
from specviz.views.stage_data import stage_data  # noqa: E402
from tests.fake_traces import cut, fake_trace, translated  # noqa: E402

st.set_page_config(layout="wide")
publish_plotly(HERE / "static")

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
    """The stage; with `every`, one more round each time that many seconds have passed."""
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
        )
    )
    st.session_state.place = reported if reported is not None else place
    st.text(f"reported {reported}")


if not elsewhere:
    show()
