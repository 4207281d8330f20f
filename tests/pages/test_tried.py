"""What a visitor tried: the run before beside each new one, and the list, from the first view. By AppTest."""

import pytest
from streamlit.testing.v1 import AppTest

from specviz.ui.watch.tried import restore_list
from specviz.ui.watch.watch_state import WatchState
from tests.support.app_pages import opened, texts, visit
from tests.support.payloads import payload_of
from tests.support.watch_page import release_slider, stage_of, until_done


@pytest.fixture
def page() -> AppTest:
    return opened()


def choose_try(page: AppTest, number: int, button: str) -> None:
    """Open the list, choose a run and press a button; the list then closes."""
    page.button(key="list").click().run()
    page.selectbox(key="tried_run").select_index(number).run()
    page.button(key=button).click().run()
    assert not [box for box in page.selectbox if box.key == "tried_run"]


def tried_names(page: AppTest) -> list[str]:
    page.button(key="list").click().run()
    return list(page.selectbox(key="tried_run").options)


def test_a_setting_that_was_measured_before_is_shown_again_and_says_so_and_can_be_measured_anew(page: AppTest) -> None:
    for length in (6, 7):
        release_slider(page, length)
        assert until_done(page)["notice"] is None
    assert (stage_of(page)["before"]["name"], stage_of(page)["differs"]) == ("wren-nano, 6", "")
    release_slider(page, 6)
    assert until_done(page)["notice"] == "From before. “Run again” times it again."
    names = [name.partition(" ·")[0] for name in tried_names(page)]
    assert names == ["0, recorded: wren-nano, 4", "1: wren-nano, 6", "2: wren-nano, 7"]
    assert "Run 0 was recorded on a" in texts(page), "another machine has another speedup"
    # The list was a widget that loads a megabyte first, and empty for a second and a half.
    [table] = [box.proto.body for box in page.get("html") if 'class="tried"' in box.proto.body]
    assert (table.count("<tr>"), table.count("wren-nano → wren-base")) == (4, 3)
    assert not page.dataframe
    visit(page).of(WatchState).listed = False
    page.button(key="again").click().run()
    assert until_done(page)["notice"] is None
    assert len(tried_names(page)) == 4


def test_a_run_is_shown_again_with_its_controls_and_one_can_be_pinned(page: AppTest) -> None:
    page.selectbox(key="draft").set_value("wren-small").run()
    small = until_done(page)
    assert (small["before"]["name"], small["name"], small["before"]["pinned"]) == (
        "wren-nano, 4",
        "wren-small, 4",
        False,
    )
    assert len(small["before"]["lengths"]) == small["longest_draft"]
    held = payload_of(page.run().get_by_key("kept-tried"))
    assert (held["name"], held["text"]) == ("specviz-tried", small["link"]["run"])
    choose_try(page, 0, "tried_show")
    data = stage_of(page)
    assert (data["run_id"], data["before"]["name"]) == ("first", "wren-small, 4")
    assert page.selectbox(key="draft").value == "wren-nano"
    assert not visit(page).of(WatchState).run.busy, "a run that is shown again is not run again"
    choose_try(page, 0, "tried_pin")
    for length in (6, 7):
        release_slider(page, length)
        data = until_done(page)
        assert (data["before"]["name"], data["before"]["pinned"]) == ("wren-nano, 4", True)
    reloaded = opened()
    assert payload_of(reloaded.get_by_key("kept-tried"))["text"] is None, "it asks for what the tab has"
    restore_list(visit(reloaded).of(WatchState), held["text"])
    for each in (page, reloaded):
        choose_try(each, 1, "tried_show")
        data = stage_of(each)
        assert (data["run"]["trace"], data["name"]) == (
            small["run"]["trace"],
            "wren-small, 4",
        )  # its costs may have come since
        assert each.selectbox(key="draft").value == "wren-small"
    choose_try(page, 0, "tried_unpin")
    assert (stage_of(page)["before"]["name"], stage_of(page)["before"]["pinned"]) == ("wren-nano, 7", False)
