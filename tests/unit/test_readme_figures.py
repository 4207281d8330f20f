"""The README's speedups are those of the stored measurements, at one draft length that nobody chose by them."""

import json
from pathlib import Path
from statistics import median
from typing import Any

from specviz.core.settings import DecodeSettings

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


def test_the_apps_stories() -> None:
    found = stored("decoding")["greedy_speedup_decode"]
    bf16, f32 = (found[f"target {dtype}, draft float32"]["story"] for dtype in ("bfloat16", "float32"))
    expected = [times(one["by_draft_length"][LENGTH]) for one in (bf16, f32)]
    assert (
        row("greedy speedup on 2 of the app's stories") == f"{expected[0]} (bf16 target), {expected[1]} (all float32)"
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
