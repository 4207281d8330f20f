"""Widgets and timers of every page, by AppTest: what a key press changes, what comes through, what a look draws."""

from typing import Any

import pytest
from streamlit.proto.Common_pb2 import StringArray
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest

from specviz.ui.shared.guard import guard_the_doors
from tests.support.app_pages import SECONDS, alone, opened_in_app, visit


def form_script() -> None:
    import streamlit as st

    from specviz.data.links.permalink import RunLink
    from specviz.ui.shared.form import Form

    form = Form("toy", RunLink())
    form.open()
    form.controls.draw("draft_length")
    if st.session_state.get("forgotten"):
        del st.session_state["toy_gamma"]
    form.read()


def test_what_was_chosen_stays_where_a_part_reads_widgets_that_streamlit_forgot() -> None:
    page = alone(form_script)
    page.slider(key="toy_gamma").set_value(7).run()
    page.session_state["forgotten"] = True
    assert (visit(page.run()).asked["toy"].gamma, page.query_params["gamma"]) == (7, "7")


LONG = "Once upon a time. " * 2_000


@pytest.mark.parametrize(
    ("name", "key"), [("race", "race_own"), ("watch", "prompt")]
)  # the second key is new each time
def test_a_long_text_does_not_go_back_to_the_browser_that_sent_it(name: str, key: str) -> None:
    """Before: a text of a megabyte was sent back each time that the page was drawn."""
    page = opened_in_app(name)

    def field() -> Any:
        return next(each for each in page.text_area if each.key.partition("-")[0] == key)

    def sent() -> list[str]:
        return [field().proto.default, field().proto.value]

    field().set_value("Once.").run()
    assert sent()[0] == "Once.", "a short one is the default, also for a slow browser"
    field().set_value(LONG).run()
    page.run()
    assert sent() == ["", ""]
    page.switch_page("pages/class.py").run()
    page.switch_page(f"pages/{name}.py").run()
    assert sent() == ["", LONG], "where the page is opened again the browser needs it, once"
    page.run()
    assert (sent(), page.session_state[key]) == (["", ""], LONG)


def two_things_at_once() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    state, requests = st.session_state, get_script_run_ctx().script_requests

    def clicked() -> None:
        requests.request_rerun(RerunData())  # what the stage reports comes in this moment
        state.done = [*state.get("done", []), "begun"]
        st.query_params["tour"] = "3"
        state.done = [*state.done, "ended"]

    state.runs = state.get("runs", 0) + 1
    st.button("Save", on_click=clicked)


def test_a_click_is_not_lost_where_something_else_is_reported_while_it_is_handled() -> None:
    """Found in the browser: a file was uploaded right after "Last step". Its name stood there, and nothing came."""
    guard_the_doors()
    page = alone(two_things_at_once)
    page.button[0].click().run()
    assert page.session_state["done"] == ["begun", "ended"]
    assert page.session_state["runs"] == 2, "the other request is not lost either: the script ran once for both"


def page_with_a_job() -> None:
    import streamlit as st

    from specviz.ui.shared.job_slot import while_busy

    st.session_state.runs = st.session_state.get("runs", 0) + 1
    looks = iter(st.session_state.pop("looks", [False, False]))
    while_busy(lambda: next(looks), lambda: st.caption("under way") and None, lambda: False)
    st.markdown("the page")


@pytest.mark.parametrize(
    ("looks", "runs"),
    [
        ([False], 1),  # without a job nothing polls
        ([True, True], 1),  # while one is under way, only its progress is drawn
        ([True, False], 2),  # when it is over, the page is drawn once more
    ],
)
def test_a_page_is_drawn_again_only_when_its_job_is_over(looks: list[bool], runs: int) -> None:
    page = AppTest.from_function(page_with_a_job, default_timeout=SECONDS)
    page.session_state["looks"] = looks
    assert (len(page.run().markdown), page.session_state["runs"]) == (1, runs)


def page_with_menus() -> None:
    import streamlit as st

    from specviz.ui.shared.persistent_widgets import draw, restore_widgets

    names, called = ["small", "large"], st.session_state.get("called", "yesterday")
    look: Any = {"format_func": lambda name: f"{name}, {called}", "on_change": lambda: st.session_state.update(acted=1)}
    restore_widgets(dict.fromkeys(["selectbox", "typed", "radio"], "large") | {"multiselect": ["large"], "number": 3})
    st.text(f"{st.session_state.number}, {st.session_state.multiselect}")
    if st.session_state.get("elsewhere"):
        return
    draw("slider", "Number", "number", 0, 9)
    options = list(dict.fromkeys([*names, st.session_state.typed]))
    draw("selectbox", "typed", "typed", options, accept_new_options=True, **look)
    for kind in ("selectbox", "radio", "multiselect"):
        draw(kind, kind, kind, names, **look)


def sends(page: AppTest, key: str, text: str) -> list[str]:
    """The browser sends only this, for a menu. What the server then makes the menu show; empty where it takes it."""
    value: Any = {"string_array_value": StringArray(data=[text])} if key == "multiselect" else {"string_value": text}
    page._run(WidgetStates(widgets=[WidgetState(id=page.get_by_key(key).proto.id, **value)]))
    menu = page.get_by_key(key).proto
    said = menu.raw_values if key == "multiselect" else [menu.raw_value]
    return list(said) if menu.set_value else []


def test_what_was_chosen_is_there_while_another_page_is_shown_and_after_it() -> None:
    """Found by the soak: a proof's part was drawn again in the moment in which its visitor opened another page."""
    page = alone(page_with_menus)
    page.slider[0].set_value(7)
    page.multiselect[0].set_value(["small"]).run()
    for elsewhere in (True, True, False, True, False):
        page.session_state["elsewhere"] = elsewhere
        assert page.run().text[0].value == "7, ['small']"
    assert (page.slider[0].value, page.multiselect[0].value) == (7, ["small"])


@pytest.mark.parametrize("key", ["selectbox", "typed", "radio", "multiselect"])
def test_what_a_menu_calls_an_option_is_never_its_value(key: str) -> None:
    """Found: "There is no model named 'SmolLM2-135M · 93 MB, once · chat' here", once that model was there."""
    guard_the_doors()
    page, several = alone(page_with_menus), key == "multiselect"
    held, chosen = (["large"], ["small"]) if several else ("large", "small")
    sends(page, key, "large, yesterday")
    page.session_state["called"] = "today"
    for _ in range(2):  # also where a browser on a slow line says it once more
        assert sends(page, key, "large, yesterday") == ["large, today"]
        assert page.session_state[key] == held
    assert "acted" not in page.session_state, "the visitor chose nothing"
    assert (sends(page, key, "large, today"), page.session_state[key]) == ([], held)
    sends(page, key, "small, yesterday")
    assert page.session_state[key] == chosen, "chosen before the answer came"
    assert page.session_state["acted"]


def set_anew() -> None:
    from specviz.ui.shared.persistent_widgets import draw, set_widgets

    set_widgets({"own": "a visitor's own text"})
    draw("text_area", "Own", "own", fresh=True)


def test_a_widget_of_a_new_key_each_time_leaves_none_of_its_values() -> None:
    """Found: each time the program set a text, one more copy of it stayed in the session."""
    page = alone(set_anew)
    for _ in range(4):
        page.run()
    assert [key for key in page.session_state._state.filtered_state if key.startswith("own-")] == ["own-5"]
