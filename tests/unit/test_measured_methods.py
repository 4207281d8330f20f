"""The measurements that are stored: methods, batches, rounding; what is computed from them and shown. No model."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.rounding import LARGEST_MEASURED, LIMITS, MEASURED_ON, SAFETY, judge_difference
from specviz.data.measured.measured_methods import ALL, stored_methods
from specviz.models.catalogue import bundled_names
from specviz.ui.when_it_helps.by_method import costs_figure, reading, speedups_figure, where
from tests.support.figures import lines_of
from tests.support.measured_methods import measured, on_kind

MEASURED = json.loads(Path("benchmarks/results/rounding.json").read_text())["formats"]


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{", b'{"schema": 2}'])
def test_a_file_is_read_as_it_was_written_and_another_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, content: bytes | None
) -> None:
    file = tmp_path / "methods.json"
    file.write_text(json.dumps(asdict(measured())), encoding="utf-8")
    monkeypatch.setattr("specviz.data.measured.measured_methods.FILE", file)
    assert stored_methods.__wrapped__() == measured()
    assert on_kind(1.5, 0.1).settings[0].by_position == [0.75, 0.5, 0.25, 0.0], "rates have their numbers"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    assert stored_methods.__wrapped__() is None, "the page has no comparison then"
    [said] = caplog.messages
    assert re.search(r"methods\.json, the comparison of methods, cannot be read: \w+\.$", said)


def test_what_a_comparison_of_methods_says_and_draws(snapshot: SnapshotAssertion) -> None:
    """No cost of a step of prompt lookup is known."""
    parts = measured(1.5, 1.42, 0.8, 1.02, 0.5, 0.9, 1.3, 1.35).temperatures
    said = [reading(part, ALL) for part in (*parts, *measured(0.9, 0.5, 0.8, 0.7, 0.6, 0.85, 0.4, 0.3).temperatures)]
    figures = [lines_of(draw(parts[1].methods, ALL)) for draw in (costs_figure, speedups_figure)]
    assert "\n".join([where(measured()), *said, *figures]) == snapshot


@pytest.mark.parametrize("number_format", ["float32", "bfloat16"])
def test_the_limit_is_what_was_measured_times_the_safety(number_format: str) -> None:
    found = [one for model in MEASURED[number_format].values() for one in model.values()]
    largest = max(one["any_rival_change"]["max"] for one in found)
    assert pytest.approx(largest, rel=0.02) == LARGEST_MEASURED[number_format]
    assert pytest.approx(SAFETY * largest, rel=0.02) == LIMITS[number_format]
    assert max(one["largest_lead_flipped"] for one in found) <= largest
    assert sum(one["n"] for one in found) == pytest.approx(20_650, abs=50)
    assert sorted(MEASURED_ON) == sorted(bundled_names()) == sorted(MEASURED[number_format])


def test_a_difference_is_judged_by_its_number_format() -> None:
    judged = {(2e-5, "float32"): "rounding", (1e-3, "float32"): "fails"}
    judged |= {(0.25, "bfloat16"): "rounding", (-3.0, "bfloat16"): "fails"}
    judged |= dict.fromkeys([(1e-9, "float16"), (1e-9, None), (None, "float32")], "unknown")
    assert {its: judge_difference(*its, "wren-base").state for its in judged} == judged
