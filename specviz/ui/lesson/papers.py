"""What a teacher takes along of a plan: the students' sheet, the key, and the lesson as a page that plays offline."""

from collections.abc import Callable

import streamlit as st

from specviz.core.errors import InputError
from specviz.data.lessons.plan import Plan
from specviz.player.html_file import page_that_says
from specviz.player.offline_lesson import lesson_page
from specviz.player.sheet import key_html, lesson_address, sheet_html
from specviz.ui.classes.links import only_here, page_address

HERE = (
    "You opened this page at an address that only this computer understands. So the sheet has no link and no QR code. "
    "Open the page at the address that your students use, then save the sheet."
)


def offer_papers(plan: Plan) -> None:
    """Three files, each made when it is asked for. The key is never part of the students' files."""
    address = page_address("") if st.context.url and not only_here() else None
    with st.container(key="lesson_papers", horizontal=True):
        link = lesson_address(address, plan) if address else None
        _offer("Save the students’ sheet", plan, "sheet", lambda: sheet_html(plan, link), "description")
        _offer("Save the key and the notes", plan, "key", lambda: key_html(plan), "key")
        _offer(
            "Save the lesson as a page that plays offline", plan, "lesson", lambda: _offline(plan, address), "download"
        )
    st.caption(
        "Each is one HTML file to open in a browser. The sheet and the key print on A4 and on Letter. The page that "
        "plays offline has the recorded runs of the plan, and no answers."
    )
    if address is None:
        st.warning(HERE, icon=":material/link_off:")


def _offer(label: str, plan: Plan, kind: str, made: Callable[[], str], icon: str) -> None:
    st.download_button(
        label,
        made,
        file_name=f"specviz-{plan.name}-{kind}.html",
        mime="text/html",
        key=f"lesson_{kind}",
        icon=f":material/{icon}:",
        on_click="ignore",
    )


def _offline(plan: Plan, address: str | None) -> str:
    """The page; a sentence where it would be too large."""
    try:
        return lesson_page(plan, address)
    except InputError as error:
        return page_that_says(str(error))
