"""What a page holds in the visitor's browser tab, so that a reload does not lose it: a game, the answers of a quiz.

A reload is a new visitor to the server. The text is in the tab's own storage: no other tab has it, it ends with the
tab, and the server stores nothing. What comes back is a visitor's input, and its reader trusts nothing in it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from specviz.ui.shared.components import component

MOST = 2_000_000  # characters: more than any page holds, less than a browser refuses


def keep(name: str, text: str | None, take: Callable[[str], None]) -> None:
    """Hold a text in the browser tab. Nothing is to be seen of it.

    Args:
        name: of the text; one page's.
        text: what is to be held; an empty one removes it; None where the page has nothing yet, and wants what the tab
            has.
        take: called with what the tab has, before the script runs again.
    """
    key = f"kept-{name}"

    def came() -> None:
        came = st.session_state[key].get("text")
        if isinstance(came, str) and 0 < len(came) <= MOST:
            take(came)

    _component()(key=key, data={"name": f"specviz-{name}", "text": text}, on_text_change=came)


@cache
def _component() -> Any:
    return component("specviz_keep", '<div class="keep" hidden></div>', (), "memory/keep.js")
