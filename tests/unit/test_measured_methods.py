"""The measurements that are stored: methods, batches, rounding; what is computed from them and shown. No model."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.methods import METHODS
from specviz.core.errors import InputError
from specviz.core.rounding import LARGEST_MEASURED, LIMITS, MEASURED_ON, SAFETY, judge_difference
from specviz.data.measured.measured_methods import ALL, FILE, KINDS, read_methods, stored_methods
from specviz.models.catalogue import bundled_names
from specviz.ui.when_it_helps.by_method import costs_figure
from tests.support.figures import by_name, parts_of
from tests.support.measured_methods import measured, on_kind

PLAIN, SAMPLED = measured().temperatures
MEASURED = json.loads(Path("benchmarks/results/rounding.json").read_text())["formats"]


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{", b'{"schema": 2}'])
def test_a_file_is_read_as_it_was_written_and_another_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    file = tmp_path / "methods.json"
    file.write_text(json.dumps(asdict(measured())), encoding="utf-8")
    assert read_methods(file) == measured()
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=r"^methods\.json, the comparison of methods, cannot be read: \w+\.$"):
        read_methods(file)
    monkeypatch.setattr("specviz.data.measured.measured_methods.FILE", file)
    assert stored_methods.__wrapped__() is None, "the page has no comparison then"


def test_rates_and_points_have_their_numbers() -> None:
    at = on_kind(1.5, 0.1).settings[0]
    assert at.by_position == [0.75, 0.5, 0.25, 0.0]
    figure = costs_figure(SAMPLED.methods, ALL)
    assert [name.partition(" ")[0] for name in by_name(figure)] == ["1", "2", "3", "5", "6", "7", "8"], (
        "no cost of lookup is known"
    )
    assert len({(part["marker"]["color"], part["marker"]["symbol"]) for part in parts_of(figure)}) == 7


def test_the_stored_file_has_all_methods_on_all_kinds_of_text_at_both_temperatures() -> None:
    found = read_methods(FILE)
    assert [part.temperature for part in found.temperatures] == [0.0, 1.0]
    for part in found.temperatures:
        assert part.kinds() == [ALL, *KINDS]
        assert {method.name for method in part.methods} >= set(METHODS)
    assert {"wren-nano argmax", "wren-nano block"} <= {each.name for each in found.temperatures[1].methods}


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
    for lead, dtype, state in (
        (2e-5, "float32", "rounding"),
        (1e-3, "float32", "fails"),
        (0.25, "bfloat16", "rounding"),
        (-3.0, "bfloat16", "fails"),
        (1e-9, "float16", "unknown"),
        (1e-9, None, "unknown"),
        (None, "float32", "unknown"),
    ):
        assert judge_difference(lead, dtype, "wren-base").state == state
