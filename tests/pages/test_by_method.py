"""By method: the panel by AppTest, with a small comparison made by hand. No engine."""

from dataclasses import replace

import pytest

from specviz.data.measured_methods import MeasuredMethods
from tests.support.app_pages import alone, texts
from tests.support.hostile import figures_of
from tests.support.measured_methods import NAMES, measured


def panel() -> None:
    from specviz.ui.helps.by_method import show_by_method

    show_by_method()


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> MeasuredMethods:
    found = measured(1.5, 1.4, 0.8, 1.02, 0.5, 0.9, 1.3, 1.35)
    monkeypatch.setattr("specviz.ui.helps.by_method.stored_methods", lambda: found)
    return found


@pytest.mark.usefixtures("stored")
def test_it_says_where_the_figures_are_from_and_what_they_say_at_each_temperature_and_kind_of_text() -> None:
    page = alone(panel)
    said = texts(page)
    for part in (
        "**Recorded** on a machine, 2026",
        "Highest: wren-nano, 1.50× \\[1.40 to 1.60\\]",
        "Medusa beside EAGLE",
        "wren-medusa: 0.40 target steps",
        "Nothing in this part was measured by specviz",
        *("arxiv.org/abs/2404.16710", "arxiv.org/abs/2406.16858", "Spec-Bench"),
    ):
        assert part in said
    assert "short trial" not in said
    assert "wren-medusa" in said.split("What would change on a GPU")[1], "it does not pay here"
    assert "wren-eagle" not in said.split("What would change on a GPU")[1]
    table = page.dataframe[0].value
    assert list(table["no."]) == [1, 2, 3, 4, 5, 6]
    assert list(table["method"])[-1] == "wren-nano (tree)"
    assert len(figures_of(page)) == 3
    page.button_group(key="methods_temperature").set_value("1").run()
    assert len(page.dataframe[0].value) == len(NAMES)
    assert "wren-nano (block verification)" in list(page.dataframe[0].value["method"])
    page.button_group(key="methods_kind").set_value("story").run()
    assert len(figures_of(page)) == 3


@pytest.mark.parametrize(
    ("found", "said"),
    [(None, "python -m benchmarks.methods CORPUS"), (replace(measured(), prompts=2), "short trial")],
)
def test_no_stored_comparison_and_a_short_trial_are_said(
    monkeypatch: pytest.MonkeyPatch, found: MeasuredMethods | None, said: str
) -> None:
    monkeypatch.setattr("specviz.ui.helps.by_method.stored_methods", lambda: found)
    assert said in texts(alone(panel))
