"""That a menu of Streamlit holds options and never what they are called; the rest of below_streamlit.py."""

from dataclasses import replace
from typing import Any

from streamlit.elements.widgets.multiselect import MultiSelectSerde
from streamlit.elements.widgets.radio import RadioSerde
from streamlit.elements.widgets.selectbox import SelectboxSerde
from streamlit.runtime.state import SessionState

from specviz.ui.shared import below_streamlit as below

# Pills and segmented controls drop a name that is no option's.
MENUS: tuple[Any, ...] = SelectboxSerde, RadioSerde, MultiSelectSerde


def let_menus_hold_options() -> None:
    """From now on, the value of a menu is one of its options, or what was typed where that is allowed.

    A browser sends what the chosen option is called there. Once it is called something else (a model that was fetched,
    another language), Streamlit takes the older name for a new value, and nobody corrects the browser. Here a menu
    knows every name that its options had, and its browser is sent the new one until it says that.
    """

    @below.instead(SessionState, "register_widget")
    def register(take: below.Function, state: Any, metadata: Any, user_key: str | None) -> Any:
        menu = getattr(metadata.deserializer, "__self__", None)
        if not isinstance(menu, MENUS):
            return take(state, metadata, user_key)
        before: Any = state._new_widget_state.widget_metadata.get(metadata.id)
        _inherit(menu, before and before.deserializer.__self__, metadata.formatted_options is None)
        found = take(state, metadata, user_key)
        menu.held = found.value
        corrected = menu.sent not in (None, metadata.serializer(found.value))
        return replace(found, value_changed=found.value_changed or corrected)

    for kind in MENUS:
        below.instead(kind, "deserialize")(_options_named)


def _inherit(menu: Any, before: Any, is_typed: bool) -> None:
    """What the menu that was drawn before knows; options that are gone are forgotten."""
    now = dict(zip(menu.formatted_options, menu.options, strict=True))
    older = before.options_by_name.items() if before else ()
    menu.options_by_name = {name: it for name, it in older if name not in now and it in menu.options} | now
    menu.is_typed, menu.sent, menu.held = is_typed, before and before.sent, before and before.held


def _options_named(read: below.Function, menu: Any, ui_value: Any) -> Any:
    """What a browser means by what it sends; what no option is called changes nothing."""
    menu.sent = ui_value
    if ui_value is None:
        return read(menu, None)
    known = menu.options_by_name
    if not isinstance(ui_value, str):
        return [known.get(name, name) for name in ui_value if name in known or menu.is_typed]
    if ui_value in known or menu.is_typed:
        return known.get(ui_value, ui_value)
    return menu.held if menu.held in menu.options else read(menu, None)
