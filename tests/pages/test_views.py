"""How much Watch shows: simple for a newcomer, everything by choice or by a link; and the tour. Nothing runs live."""

import pytest
from streamlit.testing.v1 import AppTest

from specviz.ui.watch.watch_state import WatchState
from tests.support.app_pages import opened, visit
from tests.support.watch_page import stage_of


def view_of(page: AppTest) -> str:
    return str(stage_of(page)["view"])


@pytest.mark.parametrize(
    ("link", "view", "said"),
    [
        ({"view": "simple", "gamma": "2"}, "simple", []),
        ({"gamma": "2", "run": "first"}, "full", []),  # links of before say nothing of a view
        ({"view": "projector"}, "projector", []),
        ({"view": "stage", "run": "first"}, "stage", []),
        ({"view": "huge"}, "full", ["one of simple, full, projector and stage: using full."]),
    ],
)
def test_a_link_decides_what_is_shown(link: dict[str, str], view: str, said: list[str]) -> None:
    page = opened(**link)
    assert view_of(page) == view
    assert [line.value.partition(" is not ")[2] for line in page.warning] == said
    assert ("tour" in [button.key for button in page.button]) == (view == "simple"), "no other view offers it"


def test_a_setting_that_the_short_view_hides_is_kept() -> None:
    page = opened()
    page.button(key="change_view").click().run()
    page.slider(key="temperature").set_value(0.7).run()
    for _ in range(2):  # both ways, with one more drawing of the short view
        page.button(key="change_view").click().run()
        page.run()
        assert visit(page).of(WatchState).form.current.settings.temperature == 0.7
    assert page.slider(key="temperature").value == 0.7


# ---- the tour of a first visit
