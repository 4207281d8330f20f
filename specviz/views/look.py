"""The app's own style: less air than Streamlit's default, so that the stage fits a projector without scrolling."""

from pathlib import Path

import streamlit as st

from specviz.views.plotly_static import publish_plotly

ROOT = Path(__file__).resolve().parents[2]


def apply_look() -> None:
    """Apply the style sheet, and put plotly.js where the stage can load it."""
    publish_plotly(ROOT / "static")
    st.html(ROOT / "assets" / "app.css")  # Streamlit wraps a .css file in a style tag
