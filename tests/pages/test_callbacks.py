"""A callback runs to its end, however soon the visitor does the next thing."""

from streamlit.testing.v1 import AppTest

from specviz.ui.shared.callbacks import keep_callbacks_whole


def two_things_at_once() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    def clicked() -> None:
        context = get_script_run_ctx()
        assert context
        assert context.script_requests
        context.script_requests.request_rerun(RerunData())  # what the stage reports comes in this moment
        st.session_state.begun = st.session_state.get("begun", 0) + 1
        st.query_params["tour"] = "3"
        st.session_state.ended = st.session_state.get("ended", 0) + 1

    st.session_state.runs = st.session_state.get("runs", 0) + 1
    st.button("Save", on_click=clicked)


def test_a_click_is_not_lost_where_something_else_is_reported_while_it_is_handled() -> None:
    """Found in the browser: a file was uploaded right after "Last step". Its name stood there, and nothing came."""
    keep_callbacks_whole()
    page = AppTest.from_function(two_things_at_once).run()
    page.button[0].click().run()
    assert not page.exception
    assert (page.session_state["begun"], page.session_state["ended"]) == (1, 1)
    assert page.session_state["runs"] == 2, "the other request is not lost either: the script ran once for both"
