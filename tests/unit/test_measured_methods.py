"""The comparison of methods: the stored file, what is computed from it, and its figures. No model."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.methods import METHODS, Runs, chosen_settings, costs, described, ways_of
from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.data.measured_methods import ALL, FILE, KINDS, Way, read_methods, stored_methods
from specviz.data.published_methods import ON_A_GPU, PUBLISHED_METHODS
from specviz.ui.helps.by_method import heads_sentence, reading
from specviz.ui.helps.by_method_figures import GROUPS, costs_figure, positions_figure, speedups_figure
from tests.support.figures import by_name, layout_of, parts_of
from tests.support.measured_methods import NAMES, measured, method, on_kind
from tests.support.tree_rounds import tree_round

PLAIN, SAMPLED = measured().temperatures


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "methods.json"
    file.write_text(json.dumps(asdict(measured())), encoding="utf-8")
    assert read_methods(file) == measured()


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"schema": 2}'])
def test_another_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "methods.json"
    with pytest.raises(InputError, match=r"^methods\.json, the comparison of methods, cannot be read: \w+\.$"):
        read_methods(file)
    file.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        read_methods(file)


def test_a_damaged_file_leaves_the_page_without_a_comparison(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("specviz.data.measured_methods.FILE", tmp_path / "none.json")
    stored_methods.cache_clear()
    try:
        assert stored_methods() is None
    finally:
        stored_methods.cache_clear()


def test_each_name_has_its_family_and_its_title() -> None:
    found = {name: (method(name).family, method(name).title) for name in NAMES}
    assert found == {
        "wren-nano": ("small model", "wren-nano"),
        "wren-eagle": ("eagle", "wren-eagle"),
        "wren-medusa": ("medusa", "wren-medusa"),
        "prompt-lookup": ("prompt lookup", "prompt lookup"),
        "early-exit:4": ("early exit", "early exit (4 layers)"),
        "wren-nano tree": ("tree", "wren-nano (tree)"),
        "wren-nano argmax": ("argmax", "wren-nano (most probable drafts)"),
        "wren-nano block": ("block", "wren-nano (block verification)"),
    }


def test_every_family_is_drawn_in_one_group_and_what_a_gpu_changes_has_a_source() -> None:
    families = [family for those, *_ in GROUPS.values() for family in those]
    assert sorted(families) == sorted({method(name).family for name in NAMES})
    assert PUBLISHED_METHODS.keys() == ON_A_GPU.keys()
    for reports in PUBLISHED_METHODS.values():
        assert reports
        assert all(each.url.startswith("https://") and each.source and "×" in each.says + "×" for each in reports)


def test_an_outcome_is_told_only_by_an_interval_without_one() -> None:
    assert [on_kind(speedup, 0.1).best.outcome for speedup in (1.2, 1.05, 0.95, 0.8)] == [
        "pays", "unclear", "unclear", "loses",
    ]  # fmt: skip


def test_the_reading_names_every_method_once_by_its_outcome() -> None:
    said = reading(measured(1.5, 1.4, 0.8, 1.02, 0.5, 1.3).temperatures[0], ALL)
    assert said.startswith("Highest: wren-nano, 1.50× [1.40 to 1.60]. Three methods are faster than the target alone")
    assert "Slower: wren-medusa, early exit (4 layers)." in said
    assert "Not told apart from 1×: prompt lookup." in said
    assert "No method pays here." in reading(measured(0.5, 0.6, 0.7).temperatures[0], ALL)


def test_rates_by_position_have_wilsons_intervals() -> None:
    at = on_kind(1.5, 0.1).settings[0]
    assert at.by_position == [0.75, 0.5, 0.25, 0.0]
    first, *_, last = at.intervals
    assert first == pytest.approx((0.598, 0.858), abs=0.001)  # 30 of 40
    assert last == pytest.approx((0.0, 0.278), abs=0.001)  # 0 of 10
    assert replace(at, judged=[0], accepted=[0]).intervals == [None]


def test_a_point_has_the_number_of_its_method_and_none_where_a_step_costs_nothing_known() -> None:
    figure = costs_figure(SAMPLED.methods, ALL)
    numbers = {name: part["text"] for name, part in by_name(figure).items()}
    assert numbers["small models"] == ["1"]
    assert numbers["heads on the target"] == ["2", "3"]
    assert numbers["no model"] == ["5"]  # prompt lookup's cost is not known here
    assert len({(part["marker"]["color"], part["marker"]["symbol"]) for part in parts_of(figure)}) == len(numbers)


def test_bars_stand_by_speed_with_their_intervals_and_are_told_apart_without_colour() -> None:
    part = measured(1.5, 0.8, 1.05, 1.3, 0.7, 1.2).temperatures[0]
    figure = speedups_figure(part.methods, ALL)
    order = layout_of(figure)["yaxis"]["categoryarray"]
    assert [label.split(" ", 1)[0] for label in order] == ["5", "2", "3", "6", "4", "1"]
    bars = parts_of(figure)
    assert sorted(label for bar in bars for label in bar["y"]) == sorted(order)
    assert bars[0]["error_x"]["array"] == pytest.approx([0.1] * len(bars[0]["y"]))
    assert any("pattern" in bar["marker"] for bar in bars)


def test_acceptance_by_position_is_a_line_for_each_method() -> None:
    found = [method("wren-eagle"), method("wren-medusa")]
    lines = parts_of(positions_figure(found, "story"))
    assert [line["y"] for line in lines] == [[0.75, 0.5, 0.25, 0.0]] * 2
    assert len({line["line"]["dash"] for line in lines}) == 2
    assert "wren-medusa: 0.40 target steps; acceptance 75% at the first guess, 0% at the last." in heads_sentence(
        found, "story"
    )


def ran(*ratios: float, number: int = 0) -> list[Runs]:
    """One prompt at as many settings, each with a round of a tree with three nodes."""
    rounds = [tree_round("r-1 a-1 a1", "bonus", draft=0.2)]
    return [Runs(rounds, rounds, [ratio], [0.5 + number]) for ratio in ratios]


def test_a_prompt_counts_at_the_setting_that_did_best_on_the_others() -> None:
    prompts = [ran(9.0, 1.0), ran(1.0, 2.0), ran(1.0, 2.0)]
    assert chosen_settings(prompts) == [
        1,
        0,
        0,
    ]  # the first one does not decide for itself


def test_costs_are_in_steps_of_the_same_turn() -> None:
    found = costs([ran(1.0)[0]])
    assert (found.tokens_per_target_call, found.guesses) == (3.0, 3.0)
    assert (found.draft_step, found.draft, found.verify, found.overhead) == (0.2, 0.4, 2.0, 0.0)  # two depths


def test_all_kinds_together_keep_what_each_kind_chose() -> None:
    found = described("wren-nano tree", {"story": [ran(1.0, 2.0, 1.0, 1.0)] * 2, "code": [ran(3.0, 1.0, 1.0, 1.0)] * 2})
    ways = ways_of("wren-nano tree")
    assert found.kinds[ALL].best.ways == [ways[1], ways[1], ways[0], ways[0]]
    assert found.kinds[ALL].best.speedup == pytest.approx(6**0.5, abs=0.001)
    assert found.kinds["story"].at(2) is None, "a tree is no chain"


def test_every_setting_of_every_method_is_a_valid_one() -> None:
    for name in METHODS:
        assert len(ways_of(name)) > 1
        for way in ways_of(name):
            assert DecodeSettings(**asdict(way)).draft_length == way.draft_length
    assert ways_of("wren-nano block")[0] == Way(2, verification="block")
    assert ways_of("wren-nano argmax")[0] == Way(2, draft_sampling="argmax")


@pytest.mark.skipif(not FILE.is_file(), reason="no comparison of methods is stored yet")
def test_the_stored_file_has_all_methods_on_all_kinds_of_text_at_both_temperatures() -> None:
    found = read_methods(FILE)
    assert [part.temperature for part in found.temperatures] == [0.0, 1.0]
    for part in found.temperatures:
        assert part.kinds() == [ALL, *KINDS]
        assert {method.name for method in part.methods} >= set(METHODS)
    assert {"wren-nano argmax", "wren-nano block"} <= {each.name for each in found.temperatures[1].methods}
