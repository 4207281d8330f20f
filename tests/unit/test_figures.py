"""The figures that change with a run: what they plot, by hand-worked numbers. No model, no Streamlit."""

import pytest

from specviz.core.metrics import Costs
from specviz.ui.watch.figures import Dot, speedup_figure, verification_figure
from tests.support.figures import by_name, parts_of

COSTS = Costs(step_seconds=0.005, cost_ratio=0.1, verification={1: 1.0, 2: 1.1, 5: 1.3, 17: 1.9}, overhead=0.05)


def dot(**changes: object) -> Dot:
    values: dict[str, object] = {
        "draft_length": 4,
        "speedup": 1.5,
        "label": "nano → base",
        "current": False,
        "same_pair": True,
        "recorded": False,
    }
    return Dot(**{**values, **changes})  # type: ignore[arg-type]


def test_each_run_is_a_dot_of_its_kind_and_nothing_is_drawn_for_kinds_that_are_missing() -> None:
    dots = [dot(current=True), dot(draft_length=7, speedup=0.9), dot(same_pair=False), dot(recorded=True)]
    found = by_name(speedup_figure(dots, None, None))
    assert set(found) == {"this run", "measured, this pair", "measured, another pair", "recorded run"}
    assert found["measured, this pair"]["x"] == [7]
    assert found["measured, this pair"]["y"] == [0.9]
    assert set(by_name(speedup_figure([dot(current=True)], None, None))) == {"this run"}


def test_the_curve_is_the_formula_with_the_measured_costs() -> None:
    (curve,) = parts_of(speedup_figure([], 0.8, COSTS))
    # gamma = 4: (1 - .8^5) / (1 - .8) / (4 * .1 + 1.3 + .05)
    assert curve["y"][3] == pytest.approx(3.3616 / 1.75)
    assert len(curve["x"]) == 16
    assert "0.80" in curve["name"]


def test_v_of_k_is_shown_beside_free_and_one_by_one() -> None:
    found = by_name(verification_figure(COSTS))
    assert found["measured here"]["y"] == [1.0, 1.1, 1.3, 1.9]
    assert found["one by one"]["y"] == [1, 2, 5, 17]
