"""Cookies of this site: what the server must know of a visitor before the first drawing of the next visit."""

from functools import cache
from typing import Any

import streamlit as st

from specviz.ui.shared.components import component

YEAR = 31_536_000  # seconds


def remembered(name: str) -> str:
    """What the browser has sent under this name; empty where it has not, and where there is no browser."""
    sent: object = st.context.cookies.get(name, "")
    return sent if isinstance(sent, str) else ""


def remember(name: str, value: str, seconds: int = YEAR) -> None:
    """Hand the browser a cookie for so long; for 0 seconds, it forgets it. Nothing is to be seen of it."""
    _memory()(key=f"memory_{name}", data={"name": name, "value": value, "seconds": seconds})


@cache
def _memory() -> Any:
    return component("specviz_memory", '<div class="memory" hidden></div>', (), "memory/memory.js")
