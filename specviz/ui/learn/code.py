"""The code behind a step of the story, as it runs here: one click away, on one page each."""

from functools import cache
from pathlib import Path

import streamlit as st

PACKAGE = Path(__file__).parents[2]
CODE = {  # by step of the story
    "round": ("The same in code: the loop of a round", "decoding/speculative.py"),
    "rejection": ("The same in code: accept or reject", "decoding/verification.py"),
    "arithmetic": ("The same in code: the model on one page", "models/llama.py"),
    "together": ("The same in code: several texts at once", "decoding/batches.py"),
}
HEIGHT = 460  # px


def show_code(step: str) -> None:
    """The file that does what this step tells, where there is one."""
    if step in CODE:
        label, file = CODE[step]
        with st.expander(label, icon=":material/code:"):
            st.caption(f"specviz/{file}")
            st.code(_source(file), language="python", line_numbers=True, height=HEIGHT)


@cache
def _source(file: str) -> str:
    return (PACKAGE / file).read_text(encoding="utf-8")
