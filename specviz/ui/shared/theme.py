"""The app's own style: less air than Streamlit's default, so that the stage fits a projector without scrolling."""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from specviz.core.assets import APP_FOLDER, ASSETS
from specviz.ui.shared.plotly_static import publish_plotly


def inside_app() -> None:
    """Rerun through app.py where Streamlit runs a page's file alone.

    It does so when the first page opened on a fresh server is not the app's first page: a folder named pages/ is its
    old way to make an app of several pages, and it uses it until `st.navigation` was called.
    """
    if PagesManager.uses_pages_directory and not st.session_state.get("inside_app"):
        PagesManager.uses_pages_directory = False
        st.rerun()


def apply_look() -> None:
    """Apply the style sheets, and put plotly.js where the stage can load it."""
    st.session_state.inside_app = True
    publish_plotly(APP_FOLDER / "static")
    for name in ("app.css", "explained.css", "print.css"):
        st.html(ASSETS / name)  # Streamlit wraps a .css file in a style tag
