"""The menu on a phone: Streamlit's side menu, with a handle that has a name, closed after a choice."""

from functools import cache
from typing import Any

from specviz.ui.shared.components import component


def phone_menu() -> None:
    """Mount the script. Nothing is to be seen of it; assets/app.css draws the handle."""
    _component()(key="phone_menu", data={})


@cache
def _component() -> Any:
    return component("specviz_menu", '<div class="menu" hidden></div>', (), "menu/menu.js")
