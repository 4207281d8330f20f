"""The app: one look, one page after another. No logic."""

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.short_log import keep_log_short
from specviz.data.links.page_names import FORMER, IN_MENU, PAGES, TITLES
from specviz.ui.lesson.lesson_page import show_notes, walk_lesson
from specviz.ui.shared.address import draw_header
from specviz.ui.shared.engine import engine, start_engine_soon, visitor
from specviz.ui.shared.guard import guard_the_doors, refuse_to_start, show_refusal
from specviz.ui.shared.language import apply_language
from specviz.ui.shared.leftovers import look_after_leftovers
from specviz.ui.shared.theme import PROJECT, apply_look, open_wanted_page, page_file

keep_log_short()
try:  # both read the operator's settings
    guard_the_doors()
    engine()
except InputError as error:
    refuse_to_start(error)
apply_language()
page = st.navigation(
    [
        st.Page(
            page_file(name),
            title=TITLES[name],
            url_path=address,
            default=address == PAGES[0],
            visibility="visible" if address in IN_MENU else "hidden",
        )
        for address, name in [*zip(PAGES, PAGES, strict=True), *FORMER.items()]
    ],
    position="top",
)
st.set_page_config(page_title=f"{page.title} · {PROJECT}", page_icon="🐦", layout="wide")
open_wanted_page(page.url_path or PAGES[0])
apply_look()
show_refusal()
if not show_notes():
    walk_lesson(page.url_path or PAGES[0])
    draw_header()
    page.run()
visitor()  # known to the engine from the first page on, and missed when the connection ends
start_engine_soon()
look_after_leftovers()
