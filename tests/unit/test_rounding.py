"""The one limit that says whether rounding explains a greedy difference, and where it is from."""

import json
from pathlib import Path

import pytest

from specviz.core.rounding import LARGEST_MEASURED, LIMITS, MEASURED_ON, SAFETY, judge_difference
from specviz.models.catalogue import bundled_names

MEASURED = json.loads(Path("benchmarks/results/rounding.json").read_text())["formats"]


@pytest.mark.parametrize("number_format", ["float32", "bfloat16"])
def test_the_limit_is_what_was_measured_times_the_safety(number_format: str) -> None:
    found = [one for model in MEASURED[number_format].values() for one in model.values()]
    largest = max(one["any_rival_change"]["max"] for one in found)
    assert pytest.approx(largest, rel=0.02) == LARGEST_MEASURED[number_format]
    assert pytest.approx(SAFETY * largest, rel=0.02) == LIMITS[number_format]
    assert max(one["largest_lead_flipped"] for one in found) <= largest
    assert sum(one["n"] for one in found) == pytest.approx(20_650, abs=50)


def test_it_was_measured_on_every_bundled_model() -> None:
    assert sorted(MEASURED_ON) == sorted(bundled_names()) == sorted(MEASURED["float32"]) == sorted(MEASURED["bfloat16"])


@pytest.mark.parametrize(
    ("lead", "dtype", "state"),
    [
        (0.0, "float32", "rounding"),
        (2e-5, "float32", "rounding"),
        (-2e-5, "float32", "rounding"),
        (1e-3, "float32", "fails"),
        (0.25, "bfloat16", "rounding"),
        (3.0, "bfloat16", "fails"),
        (-3.0, "bfloat16", "fails"),
        (1e-9, "float16", "unknown"),
        (1e-9, None, "unknown"),
        (None, "float32", "unknown"),
    ],
)
def test_a_difference_is_judged_by_its_number_format(lead: float | None, dtype: str | None, state: str) -> None:
    assert judge_difference(lead, dtype, "wren-base").state == state


def test_the_sentence_names_the_limit() -> None:
    assert judge_difference(3.0, "bfloat16", "wren-base").sentence == (
        "FAILS: this difference is larger than rounding explains: 3 logits, above the limit of 0.75 for bfloat16"
    )
    assert judge_difference(0.06, "bfloat16", "wren-base").sentence == (
        "a near-tie, and rounding decides: 0.06 logits, within the limit of 0.75 for bfloat16"
    )


def test_no_other_model_is_called_wrong_by_a_limit_that_was_not_measured_on_it() -> None:
    found = judge_difference(3.0, "bfloat16", "a-large-model")
    assert found.state == "unknown"
    assert "measured on the models that come with the app" in found.sentence
    assert "no limit is known for a-large-model" in found.sentence
    assert judge_difference(0.1, "bfloat16", "a-large-model").state == "rounding"
