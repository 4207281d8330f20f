"""The app: one look, one page after another. No logic."""

import streamlit as st

from specviz.core.assets import APP_FOLDER
from specviz.ui.lesson.notes import show_notes
from specviz.ui.lesson.walk import walk_lesson
from specviz.ui.shared.engine import start_engine_soon, visitor
from specviz.ui.shared.hiding import hide_menu
from specviz.ui.shared.menu import one_entry_a_page, phone_menu
from specviz.ui.shared.pages import PAGES, PROJECT
from specviz.ui.shared.theme import apply_look

first, *others = PAGES
page = st.navigation(
    [
        st.Page(APP_FOLDER / first.file, title=first.title, default=True),
        *(st.Page(APP_FOLDER / other.file, title=other.title, url_path=other.name) for other in others),
    ],
    position="top",
)
st.set_page_config(page_title=f"{page.title} · {PROJECT}", page_icon="🐦", layout="wide")
apply_look()
phone_menu()
one_entry_a_page()
if not show_notes():
    walk_lesson(page.url_path or first.name)
    hide_menu()
    page.run()
visitor()  # known to the engine from the first page on, and missed when the connection ends
start_engine_soon()
