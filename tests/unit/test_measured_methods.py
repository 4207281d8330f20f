"""The measurements that are stored: methods, batches, rounding; what is computed from them and shown. No model."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.decoding import best_length, reported
from benchmarks.methods import METHODS, Runs, chosen_settings, costs, described, ways_of
from scripts.record_story import choose, median_run
from specviz.core.errors import InputError
from specviz.core.metrics import count, speedup
from specviz.core.rounding import LARGEST_MEASURED, LIMITS, MEASURED_ON, SAFETY, judge_difference
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Trace
from specviz.data.lessons.recorded_runs import story_trace
from specviz.data.measured.batches import recorded_batches
from specviz.data.measured.measured_methods import ALL, FILE, KINDS, MethodSetting, read_methods, stored_methods
from specviz.data.published import GPU_ROUNDS
from specviz.measure.worksheet.starts import batch_starts
from specviz.models.catalogue import bundled_names
from specviz.ui.when_it_helps import by_method
from specviz.ui.when_it_helps.by_method import costs_figure, speedups_figure
from tests.support.fake_batches import COUNTS, fake_study
from tests.support.figures import by_name, layout_of, parts_of
from tests.support.known import known
from tests.support.measured_methods import measured, on_kind
from tests.support.tree_rounds import tree_round

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


def test_a_table_that_changes_is_cited_at_one_commit() -> None:
    tables = {each.url for each in GPU_ROUNDS}
    assert len(tables) == 1
    assert re.search(r"/blob/[0-9a-f]{40}/", tables.pop())


def test_the_reading_tells_outcomes_by_intervals() -> None:
    said = by_method.reading(measured(1.5, 1.4, 0.8, 1.02, 0.5, 1.3).temperatures[0], ALL)
    assert said.startswith("Highest: wren-nano, 1.50× [1.40 to 1.60]. Too close to it to call: wren-eagle, ")
    assert "Three methods help on these prompts." in said
    assert "No method helps here." in by_method.reading(measured(0.5, 0.6, 0.7).temperatures[0], ALL)


def test_rates_and_points_have_their_numbers() -> None:
    at = on_kind(1.5, 0.1).settings[0]
    assert at.by_position == [0.75, 0.5, 0.25, 0.0]
    figure = costs_figure(SAMPLED.methods, ALL)
    numbers = {name: part["text"] for name, part in by_name(figure).items()}
    shown = {"small models": ["1"], "heads on the target": ["2", "3"], "no model": ["5"]}
    assert shown.items() <= numbers.items()  # prompt lookup's cost is not known here
    assert len({(part["marker"]["color"], part["marker"]["symbol"]) for part in parts_of(figure)}) == len(numbers)


def test_bars_are_told_apart_without_colour() -> None:
    part = measured(1.5, 0.8, 1.05, 1.3, 0.7, 1.2).temperatures[0]
    figure = speedups_figure(part.methods, ALL)
    order = layout_of(figure)["yaxis"]["categoryarray"]
    assert [label.split(" ", 1)[0] for label in order] == ["5", "2", "3", "6", "4", "1"]
    bars = parts_of(figure)
    assert sorted(label for bar in bars for label in bar["y"]) == sorted(order)
    assert bars[0]["error_x"]["array"] == pytest.approx([0.1] * len(bars[0]["y"]))
    assert any("pattern" in bar["marker"] for bar in bars)


def ran(*ratios: float, number: int = 0) -> list[Runs]:
    """One prompt at as many settings, each with a round of a tree with three nodes."""
    rounds = [tree_round("r-1 a-1 a1", "bonus", draft=0.2)]
    return [Runs(rounds, rounds, [ratio], [0.5 + number]) for ratio in ratios]


def test_the_best_setting_is_chosen_on_other_prompts() -> None:
    prompts = [ran(9.0, 1.0), ran(1.0, 2.0), ran(1.0, 2.0)]
    assert chosen_settings(prompts) == [1, 0, 0], "the first one does not decide for itself"
    found = costs([ran(1.0)[0]])
    assert (found.tokens_per_target_call, found.guesses) == (3.0, 3.0)
    assert (found.draft_step, found.draft, found.verify, found.overhead) == (0.2, 0.4, 2.0, 0.0)  # two depths
    prompts = [{2: 3.2, 4: 1.1}, {2: 1.0, 4: 1.3}]  # the first was lucky at 2
    assert best_length(prompts) == 2
    found = reported(prompts)
    assert (found["prompts"], found["chosen"]) == (2, [4, 2])
    assert found["speedup"] == pytest.approx((1.1 * 1.0) ** 0.5, abs=0.001)
    assert found["low"] < found["speedup"] < found["high"]
    assert found["by_draft_length"] == {2: 2.1, 4: 1.2}
    assert reported(prompts[:1]) == {"prompts": 1, "by_draft_length": {2: 3.2, 4: 1.1}}


def test_every_setting_of_every_method_is_valid_and_kept_by_kind() -> None:
    for name in METHODS:
        assert len(ways_of(name)) > 1
        for way in ways_of(name):
            assert DecodeSettings(**asdict(way)).draft_length == way.draft_length
    assert ways_of("wren-nano block")[0] == MethodSetting(2, verification="block")
    assert ways_of("wren-nano argmax")[0] == MethodSetting(2, draft_sampling="argmax")
    found = described("wren-nano tree", {"story": [ran(1.0, 2.0, 1.0, 1.0)] * 2, "code": [ran(3.0, 1.0, 1.0, 1.0)] * 2})
    ways = ways_of("wren-nano tree")
    assert found.kinds[ALL].best.ways == [ways[1], ways[1], ways[0], ways[0]]
    assert found.kinds[ALL].best.speedup == pytest.approx(6**0.5, abs=0.001)
    assert found.kinds["story"].at(2) is None, "a tree is no chain"


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
        names = by_method.reading(part, ALL).partition("Too close to it to call: ")[2].split(". ")[0]
        listed = re.split(", | and ", names)
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


def test_the_sentence_of_a_limit_names_it_and_is_not_for_models_it_was_not_measured_on() -> None:
    assert judge_difference(3.0, "bfloat16", "wren-base").sentence == (
        "FAILS: this difference is larger than rounding explains: 3 logits, above the limit of 0.75 for bfloat16"
    )
    assert judge_difference(0.06, "bfloat16", "wren-base").sentence == (
        "a near-tie, and rounding decides: 0.06 logits, within the limit of 0.75 for bfloat16"
    )
    found = judge_difference(3.0, "bfloat16", "a-large-model")
    assert found.state == "unknown"
    assert "of the bundled models; no limit is known for a-large-model" in found.sentence
    assert judge_difference(0.1, "bfloat16", "a-large-model").state == "rounding"


def slower(trace: Trace, factor: float) -> Trace:
    rounds = [replace(one, verify_seconds=one.verify_seconds * factor) for one in trace.rounds]
    return replace(trace, rounds=rounds)


def test_a_run_of_the_story_is_chosen_by_its_counts_and_saved_at_its_median_timing() -> None:
    pays, other = story_trace("pays"), story_trace("round")
    assert (count(pays.rounds).tokens_per_target_call or 0) > (count(other.rounds).tokens_per_target_call or 0)
    lucky = slower(other, 0.1)
    assert (speedup(lucky) or 0) > (speedup(pays) or 0)
    assert choose("pays", iter([lucky, pays])) is pays
    timings = [slower(pays, factor) for factor in (1.0, 3.0, 1.2, 0.5, 1.1)]
    assert median_run(timings) is timings[4]
