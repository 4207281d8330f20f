"""The first heading of a page."""

import streamlit as st


def heading(words: str, *, html: bool = False) -> None:
    """The project's name, and one sentence that says what the page is for.

    Args:
        words: Markdown.
        html: whether it holds explained words, which are HTML; see `glossary.explained`.
    """
    st.markdown(f"# :primary[spec]viz&emsp;{words}", unsafe_allow_html=html)
