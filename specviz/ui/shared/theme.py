"""The app's own look; the ways from page to page."""

from importlib.util import find_spec
from pathlib import Path

import streamlit as st

from specviz.core.files import APP_FOLDER, BROWSER
from specviz.core.languages import current_language, locale
from specviz.data.links.page_names import FORMER
from specviz.ui.session import session
from specviz.ui.shared.address import whole_query
from specviz.ui.shared.below_streamlit import page_runs_alone
from specviz.ui.shared.components import STATIC, component, publish

PROJECT = "specviz"
FILE_NAME = "plotly.min.js"


def publish_plotly(static: Path) -> Path | None:
    """Copy plotly.js into `static`; None where that cannot be done: the page then says that its figures cannot load."""
    spec = find_spec("plotly")  # without importing it: the web server starts faster
    packaged = Path(str(spec and spec.origin)).parent / "package_data" / FILE_NAME
    if not packaged.is_file():
        return None
    return publish(static / FILE_NAME, packaged.read_bytes, packaged.stat().st_size)


def inside_app() -> None:
    """Rerun through app.py where Streamlit runs a page's file alone.

    It does so when the first page opened on a fresh server is not the app's first page.
    """
    if not st.session_state.get("inside_app") and page_runs_alone():
        st.rerun()


# what all pages share; nothing is seen of it, and assets/browser/styles/app.css draws a phone's menu handle
_FRAME = component("specviz_frame", '<div class="frame" hidden></div>', (), "components/frame")


def apply_look() -> None:
    st.session_state.inside_app = True
    publish_plotly(STATIC)
    for name in ("app.css", "explained.css", "print.css"):
        st.html(BROWSER / "styles" / name)  # Streamlit wraps a .css file in a style tag
    code = current_language()
    _FRAME(key="frame", data={"lang": code, "dir": locale(code).text_direction})


def open_wanted_page(page: str) -> None:
    """Go to the page that a button asked for, unless that is this one."""
    visit = session()
    if page in FORMER:  # here, where the middleware was not yet in place for the server's first visitor
        st.switch_page(page_file(FORMER[page]), query_params=whole_query())
    if visit.wanted_page not in ("", page):
        st.switch_page(page_file(visit.wanted_page))
    visit.wanted_page = ""


def page_file(name: str) -> Path:
    return APP_FOLDER / f"pages/{name}.py"
