"""The README's speedups are those of the stored measurements, at one draft length that nobody chose by them."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from scripts.write_methods_table import methods_section, with_table
from specviz.core.settings import DecodeSettings
from specviz.data.measured_methods import FILE, read_methods
from tests.support.measured_methods import measured

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LENGTH = str(DecodeSettings().draft_length)


def stored(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8"))
    return found


def row(beginning: str) -> str:
    """The figure of the README's row that begins like this."""
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {beginning}")]
    return line.split(" | ")[1]


def times(value: float) -> str:
    return f"{value + 1e-9:.2f}×"


def family(draft: str, dtype: str, target: str = "wren-base") -> dict[str, Any]:
    wanted = {"target": target, "draft": draft, "target_dtype": dtype}
    (pair,) = [pair for pair in stored("family")["pairs"] if wanted.items() <= pair.items()]
    kinds: dict[str, Any] = pair["kinds"]
    return kinds


def test_the_text_says_which_draft_length_and_that_it_was_not_chosen() -> None:
    assert f"at γ = {LENGTH}, the app's default, which was not chosen by these figures" in README


def test_both_loops_against_transformers() -> None:
    found = stored("decoding")
    assisted = found["assisted_seconds_over_speculative_loop"]
    lengths = [each["median"] for each in assisted["by_draft_length"].values()]
    assert row("plain loop") == f"{times(found['generate_seconds_over_plain_loop']['median'])} its speed"
    assert row("speculative loop") == (
        f"{times(assisted['median'])} its speed ({min(lengths):.2f} to {times(max(lengths))})"
    )


def test_the_costs_of_the_loop_and_of_recording() -> None:
    found = stored("decoding")
    overhead = found["decode_overhead_over_model_calls"]["median"]
    recorded = found["recorded_seconds_over_unrecorded"]["median"] - 1
    assert row("time in the loop") == f"{100 * overhead:.1f} % of the model calls"
    assert row("recording probabilities") == f"{100 * recorded:.1f} %"


def test_the_apps_stories() -> None:
    found = stored("decoding")["greedy_speedup_decode"]
    bf16, f32 = (found[f"target {dtype}, draft float32"]["story"] for dtype in ("bfloat16", "float32"))
    expected = [times(one["by_draft_length"][LENGTH]) for one in (bf16, f32)]
    assert (
        row("greedy speedup on 10 of the app's stories") == f"{expected[0]} (bf16 target), {expected[1]} (all float32)"
    )


def test_the_family() -> None:
    for beginning, draft in (("the same over 8 prompts", "wren-nano"), ("wren-mini → wren-base", "wren-mini")):
        said = [
            ", ".join(
                times(family(draft, dtype)[kind]["greedy"]["speedup_by_gamma"][LENGTH])
                for kind in ("story", "structured")
            )
            for dtype in ("bfloat16", "float32")
        ]
        assert row(beginning) == f"{said[0]} (bf16 target), {said[1]} (all float32)"


def test_the_pair_that_does_not_pay() -> None:
    said = [
        times(
            median(
                way["speedup_by_gamma"][LENGTH]
                for kind in family("wren-nano", dtype, "wren-mini").values()
                for way in kind.values()
            )
        )
        for dtype in ("bfloat16", "float32")
    ]
    assert row("wren-nano → wren-mini") == f"{said[0]} (bf16 target), {said[1]} (all float32)"


def test_the_faster_format() -> None:
    wanted = {"layers": 12, "dtype": "bfloat16", "draft": "wren-mini", "gamma": int(LENGTH)}
    rows = [found for found in stored("baselines")["speedups"] if wanted.items() <= found.items()]
    quickest, own = (", ".join(times(found[name]) for found in rows) for name in ("quickest", "own"))
    assert row("so wren-mini → wren-base") == f"{quickest} (over bf16: {own})"


def test_texts_that_the_target_has_read_are_not_called_unseen() -> None:
    assert "held-out texts" not in README
    assert "The first stage of wren-base's training read most of them" in " ".join(README.split())


@pytest.mark.skipif(not FILE.is_file(), reason="no comparison of methods is stored yet")
def test_the_table_of_methods_is_that_of_the_stored_comparison() -> None:
    assert with_table(README, read_methods(FILE)) == README, "python -m scripts.write_methods_table"


def test_the_table_of_methods_has_every_method_with_its_interval() -> None:
    section = methods_section(measured())
    greedy, sampled = section.split("Temperature 1:")
    assert "| wren-nano (tree) | 2.00 | 0.10 | 1.50 | 1.00× [0.90–1.10] | 1.00× [0.90–1.10] | – | – | – |" in greedy
    assert "| prompt lookup | 2.00 | – | 1.50 |" in greedy
    assert "argmax" not in greedy
    assert "most probable drafts" in sampled
    assert "medusa" not in sampled


def test_a_text_without_a_place_for_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no place"):
        with_table("no comments", measured())


def test_a_short_trial_gives_no_table() -> None:
    trial = replace(measured(), tokens=8)
    assert "×" not in methods_section(trial)
    assert "short trial" in methods_section(trial)
