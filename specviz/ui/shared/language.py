"""The language of a visitor's pages: what a link says, else what was chosen before, else the class server's."""

from typing import Any

import streamlit as st

from specviz.core.languages import ENGLISH, find_language, find_language_by, languages, set_language
from specviz.core.operator_settings import operator_setting
from specviz.data.texts import join_choices, page_texts
from specviz.ui.session import session
from specviz.ui.shared.below_streamlit import session_id
from specviz.ui.shared.components import remember, remembered

LANGUAGE, COOKIE = "lang", "specviz_lang"
KEY = "language"
SAYS = page_texts("language")


def apply_language() -> None:
    """Before anything is drawn: from here on, texts are in this visitor's language."""
    find_language_by(_language_here)
    set_language(_language_here())


def _language_here() -> str:
    if not session_id():
        return ENGLISH
    visitor = session()
    if asked := find_language(st.query_params.get_all(LANGUAGE)):
        visitor.language = asked
    if not visitor.language:
        usual = (remembered(COOKIE), operator_setting("SPECVIZ_LANG"), st.context.locale)
        visitor.language = find_language(filter(None, usual)) or ENGLISH
    return visitor.language


def unknown_language() -> str | None:
    """A line for a link whose language is not there: the visitor's usual one is shown, and the menu has the others."""
    asked, names = st.query_params.get_all(LANGUAGE), languages()
    if not asked or find_language(asked):
        return None
    codes = join_choices([*names], "and")
    return SAYS["unknown"].format(asked=asked[0][:40], codes=codes, language=names[session().language])


def language_in_link() -> dict[str, str]:
    """English is in no link, as links always were, but where another language is the usual one here."""
    chosen = session().language
    return {LANGUAGE: chosen} if chosen != (find_language([operator_setting("SPECVIZ_LANG")]) or ENGLISH) else {}


def language_menu() -> None:
    """At the right of the header, in each language's own name; none where there is one language."""
    names, visitor = languages(), session()
    if len(names) < 2:
        return
    look: dict[str, Any] = {"label_visibility": "collapsed", "filter_mode": None, "format_func": names.__getitem__}
    look |= {"key": KEY, "index": list(names).index(visitor.language), "on_change": _choose}
    with st.container(key="language_menu"):
        st.selectbox(SAYS["label"], list(names), **look)
    if visitor.chosen_language:
        remember(COOKIE, visitor.chosen_language)


def _choose() -> None:
    chosen: str = st.session_state[KEY]
    session().language = session().chosen_language = chosen
    st.query_params[LANGUAGE] = chosen
    set_language(chosen)
