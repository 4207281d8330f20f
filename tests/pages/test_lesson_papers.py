"""The files of a plan that Learn offers to teachers. Chromium opens them in tests/browser/test_lesson_files.py."""

import pytest
from streamlit.testing.v1 import AppTest

from specviz.ui.lesson import papers

FILES = ("lesson_sheet", "lesson_key", "lesson_lesson")


def drawn() -> AppTest:
    def page() -> None:
        from specviz.data.lessons.plans import find_plan
        from specviz.ui.lesson.papers import offer_papers

        plan = find_plan("ten-minutes")
        assert plan
        offer_papers(plan)

    return AppTest.from_function(page).run()


def test_a_plan_has_three_files() -> None:
    page = drawn()
    assert not page.exception
    for key in FILES:
        assert page.get_by_key(key).proto.label.startswith("Save the")


def test_an_address_of_this_computer_alone_gives_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "only_here", lambda: True)
    [warning] = drawn().warning
    assert "no link and no QR code" in warning.value
