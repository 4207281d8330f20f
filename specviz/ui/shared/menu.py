"""The ways from page to page: a phone's side menu with a named handle, closed after a choice; the Back key."""

from functools import cache
from typing import Any

from specviz.ui.shared.components import component


def phone_menu() -> None:
    """Mount the script. Nothing is to be seen of it; assets/app.css draws the handle."""
    _component()(key="phone_menu", data={})


def one_entry_a_page() -> None:
    """Let Back lead to the page before, not to each setting of before on the same page."""
    _history()(key="history", data={})


@cache
def _component() -> Any:
    return component("specviz_menu", '<div class="menu" hidden></div>', (), "menu/menu.js")


@cache
def _history() -> Any:
    return component("specviz_history", '<div class="history" hidden></div>', (), "menu/history.js")
