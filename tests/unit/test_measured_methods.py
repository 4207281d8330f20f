"""The measurements that are stored: methods, batches, rounding; what is computed from them and shown. No model."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.methods import METHODS
from specviz.core.errors import InputError
from specviz.core.rounding import LARGEST_MEASURED, LIMITS, MEASURED_ON, SAFETY, judge_difference
from specviz.data.measured.batches import recorded_batches
from specviz.data.measured.measured_methods import ALL, FILE, KINDS, read_methods, stored_methods
from specviz.measure.worksheet.starts import batch_starts
from specviz.models.catalogue import bundled_names
from specviz.ui.when_it_helps import by_method
from specviz.ui.when_it_helps.by_method import costs_figure
from tests.support.fake_batches import COUNTS, fake_study
from tests.support.figures import by_name, parts_of
from tests.support.known import known
from tests.support.measured_methods import measured, on_kind

PLAIN, SAMPLED = measured().temperatures
STUDY = fake_study(1.5, 1.2, 0.9)
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


def test_the_recorded_study_has_every_point() -> None:
    study = recorded_batches()
    assert len(study.speedups) == len(study.batches) * len(study.draft_lengths) > 0
    for each in study.speedups:
        assert each.speedup.low < each.speedup.value < each.speedup.high
        assert each.counts.emitted == len(study.prompts) * study.new_tokens


def test_all_methods_that_are_not_told_apart_from_the_highest_are_named() -> None:
    stored = known(stored_methods())
    for part in stored.temperatures:
        named = by_method.rivals(part.methods, ALL)
        listed = by_method.reading(part, ALL).partition("Too close to it to call: ")[2].split(". ")[0].split(", ")
        assert {each.title for each in named} == set(listed)
        first = max(part.methods, key=lambda each: each.kinds[ALL].best.speedup)
        inside = [each for each in part.methods if each.kinds[ALL].best.high >= first.kinds[ALL].best.speedup]
        assert all(each in named for each in inside if each is not first)  # their intervals contain the highest
    greedy = known(stored.greedy)
    assert "Too close to it to call: wren-mini, " in by_method.reading(greedy, ALL)
    assert known(greedy.find("early-exit:2")) not in by_method.rivals(greedy.methods, ALL)


def test_the_worksheet_can_start_from_a_batch() -> None:
    two, four = batch_starts(STUDY)
    assert (two.label, four.label) == ("measured in batches of 2: nano → base", "measured in batches of 4: nano → base")
    assert four.named_costs.contain_load
    assert "recorded on a machine" in four.source
    assert (four.drafted, four.accepted) == (COUNTS.drafted, COUNTS.accepted)
    assert four.model.batch == 1  # its costs contain the other texts
    found = (four.model.alpha, four.model.verification, four.verification_at(1))
    assert found == pytest.approx((200 / 280, 1.8, 1.1))


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
