"""How much Watch shows: simple for a newcomer, everything by choice or by a link. By AppTest; nothing runs live."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.app_pages import opened, visit
from tests.support.watch_page import stage_of


def view_of(page: AppTest) -> str:
    return str(stage_of(page)["view"])


def test_a_newcomer_sees_the_tokens_and_one_result_and_can_show_everything() -> None:
    page = opened()
    assert (view_of(page), [*page.slider], [*page.get("file_uploader")]) == ("simple", [], [])
    assert [box.key for box in page.selectbox] == ["preset", "target", "draft"]
    assert page.selectbox(key="draft").options[-1] == "More models…", "the menu is short"
    assert "passes of the big model" in stage_of(page)["result"]["says"]
    page.button(key="change_view").click().run()
    assert (view_of(page), page.button(key="change_view").label) == ("full", "Show less")
    assert page.selectbox(key="target").value == "wren-base"
    page.button(key="change_view").click().run()
    assert view_of(page) == "simple"


@pytest.mark.parametrize(
    ("link", "view"),
    [
        ({"view": "simple", "gamma": "2"}, "simple"),
        ({"gamma": "2", "run": "first"}, "full"),  # links of before say nothing of a view
        ({"view": "projector"}, "projector"),
    ],
)
def test_a_link_decides_what_is_shown(link: dict[str, str], view: str) -> None:
    assert view_of(opened(**link)) == view


def test_a_frame_shows_the_player_alone_and_an_unknown_view_is_one_line() -> None:
    page = opened(view="stage", run="first")
    assert ([*page.button], [*page.selectbox], [*page.get("file_uploader")]) == ([], [], [])
    assert (view_of(page), stage_of(page)["link"]["run"]) == ("stage", "first")
    (line,) = opened(view="huge").warning
    assert line.value.endswith("is not one of simple, full, projector, stage: using full.")


def test_the_projector_shows_one_line_of_result_and_a_way_out_and_is_not_remembered() -> None:
    page = opened(view="full")
    page.button(key="present").click().run()
    assert (view_of(page), page.query_params["view"]) == ("projector", "projector")
    assert [button.label for button in page.button] == ["Leave the projector view"]
    assert ([*page.selectbox], [*page.text_area], [*page.expander]) == ([], [], [])
    assert "times as fast" in stage_of(page)["result"]["says"]
    assert visit(page).chosen_view is None
    page.button(key="leave").click().run()
    assert (view_of(page), "view" in page.query_params) == ("full", False)


def test_the_projector_keeps_what_was_set_after_a_first_look_without_menus_also_what_cannot_be_run() -> None:
    """A link opened the projector: what was set before the menus were drawn came back when they were hidden again."""
    page = opened(view="projector")
    page.button(key="leave").click().run()
    assert view_of(page) == "full"
    for prompt in ("A text of one's own", ""):
        visit(page).watch.form.came.acted = False
        page.selectbox(key="draft").set_value("wren-mini").run()
        page.text_area(key="prompt").set_value(prompt).run()
        page.button(key="present").click().run()
        page.run()  # here Streamlit has forgotten the menus
        page.button(key="leave").click().run()
        assert (page.selectbox(key="draft").value, page.text_area(key="prompt").value) == ("wren-mini", prompt)
        assert page.selectbox(key="preset").value == "own"


def test_a_setting_that_the_short_view_hides_is_kept() -> None:
    page = opened()
    page.button(key="change_view").click().run()
    page.slider(key="temperature").set_value(0.7).run()
    for _ in range(2):  # both ways, with one more drawing of the short view
        page.button(key="change_view").click().run()
        page.run()
        assert visit(page).watch.form.current[0].settings.temperature == 0.7
    assert page.slider(key="temperature").value == 0.7
