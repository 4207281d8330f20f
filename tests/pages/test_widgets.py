"""Widgets of every page, by AppTest: a slider shows what a key press changes; what the page's state holds is shown."""

import pytest

from tests.support.app_pages import alone, opened, opened_in_app


@pytest.mark.parametrize("name", ["watch", "race", "helps", "worksheet", "proof", "play"])
def test_a_key_press_changes_the_number_that_is_shown(name: str) -> None:
    page = opened(view="full") if name == "watch" else opened_in_app(name)
    for slider in page.slider:
        its = slider.proto
        assert shown(its.format, its.min) != shown(its.format, its.min + its.step), slider.label


def shown(number_format: str, value: float) -> str:
    """As the browser writes it; "percent" has two decimals at most."""
    return f"{value:.2%}" if number_format == "percent" else number_format % value


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
    assert (page.slider[0].value, page.selectbox[0].value, page.multiselect[0].value) == (3, "b", ["a"])
