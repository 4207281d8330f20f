"""Widgets whose values the page's state holds, by AppTest."""

from tests.support.app_pages import alone


def script() -> None:
    import streamlit as st

    from specviz.ui.shared.persistent_widgets import restore_widgets, with_default, with_index, with_value

    restore_widgets({"number": 3, "one": "b", "several": ["a"]})
    for key in ("number", "one", "several"):
        del st.session_state[key]
    st.slider("Number", 0, 9, **with_value("number"))
    st.selectbox("One", ["a", "b"], **with_index("one", ["a", "b"]))
    st.multiselect("Several", ["a", "b"], **with_default("several"))


def test_a_part_drawn_after_streamlit_forgot_its_widgets_shows_what_was_set_last() -> None:
    """Found by the soak: a proof's part was drawn again in the moment in which its visitor opened another page."""
    page = alone(script)
    assert not page.exception
    assert (page.slider[0].value, page.selectbox[0].value, page.multiselect[0].value) == (3, "b", ["a"])
