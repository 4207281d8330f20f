"""Lines that come and go above a moving picture."""

from collections.abc import Iterable
from typing import Literal

import streamlit as st

from specviz.ui.shared.escaping import plain

ICONS = {"info": ":material/info:", "warning": ":material/info:", "error": ":material/error:"}


def notices(lines: Iterable[str | None], kind: Literal["info", "warning", "error"] = "warning") -> None:
    """Say the lines, as text, in a place that is there without them too. Empty ones are left out.

    Streamlit knows what has no key by its place among its siblings. A callout that came and went among them would move
    what stands below: a component there is built again and loses its playhead, and tabs forget which one was open.
    """
    with st.container():
        if shown := "\n\n".join(plain(line) for line in lines if line):
            getattr(st, kind)(shown, icon=ICONS[kind])
