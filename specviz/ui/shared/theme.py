"""The pages of the app, in the order of the menu; the app's own look; the ways from page to page."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import streamlit as st

from specviz.core.files import APP_FOLDER, BROWSER
from specviz.core.languages import current_language, locale
from specviz.data.links.page_names import FORMER, TITLES
from specviz.data.links.page_names import PAGES as NAMES
from specviz.data.texts import page_texts
from specviz.ui.session import session
from specviz.ui.shared.address import whole_query
from specviz.ui.shared.below_streamlit import page_runs_alone
from specviz.ui.shared.components import STATIC, component, publish

PROJECT = "specviz"


@dataclass(frozen=True, slots=True)
class Page:
    name: str  # of its file in pages/, and its path; the first page is also at "/"

    @property
    def title(self) -> str:
        return TITLES[self.name]

    @property
    def description(self) -> str:
        """One or two sentences for someone who has not opened it."""
        return _ABOUT[self.name]

    @property
    def in_menu(self) -> bool:
        return self.name not in HIDDEN

    @property
    def file(self) -> str:
        return f"pages/{self.name}.py"


HIDDEN = {"class"}  # reached from other pages and by its address
_ABOUT = page_texts("descriptions")
PAGES = tuple(map(Page, NAMES))
_OF_TODAY = {page.name: page for page in PAGES}
ADDRESSES = _OF_TODAY | {name: _OF_TODAY[today] for name, today in FORMER.items()}  # also those of before


def page_at(path: str) -> Page | None:
    """The page with this path; None for a file or an address of Streamlit's own."""
    return ADDRESSES.get(path.strip("/") or PAGES[0].name)


FILE_NAME = "plotly.min.js"


def publish_plotly(static: Path) -> Path | None:
    """Copy plotly.js into `static`; None where it cannot be had: the page then says that its figures cannot load."""
    spec = find_spec("plotly")  # without importing it: the web server starts faster
    packaged = Path(spec.origin).parent / "package_data" / FILE_NAME if spec and spec.origin else None
    return publish(static / FILE_NAME, packaged) if packaged and packaged.exists() else None


def inside_app() -> None:
    """Rerun through app.py where Streamlit runs a page's file alone.

    It does so when the first page opened on a fresh server is not the app's first page.
    """
    if not st.session_state.get("inside_app") and page_runs_alone():
        st.rerun()


def apply_look() -> None:
    st.session_state.inside_app = True
    publish_plotly(STATIC)
    for name in ("app.css", "explained.css", "print.css"):
        st.html(BROWSER / "styles" / name)  # Streamlit wraps a .css file in a style tag


def open_wanted_page(page: str) -> None:
    """Go to the page that a button asked for, unless that is this one."""
    visit = session()
    if page in FORMER:  # here, where the middleware was not yet in place for the server's first visitor
        st.switch_page(APP_FOLDER / f"pages/{FORMER[page]}.py", query_params=whole_query())
    if visit.wanted_page not in ("", page):
        st.switch_page(APP_FOLDER / f"pages/{visit.wanted_page}.py")
    visit.wanted_page = ""


_FRAME = component("specviz_frame", '<div class="frame" hidden></div>', (), "components/frame")


def frame_script() -> None:
    """Mount what all pages share. Nothing is seen of it; assets/browser/styles/app.css draws a phone's menu handle."""
    code = current_language()
    _FRAME(key="frame", data={"lang": code, "dir": locale(code).text_direction})
