"""The goals of the bundled models, compared with the measurements. Reads JSON, runs no model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

TARGET = "wren-base"
GREEDY, SAMPLED = "greedy", "temperature 1"
RATES = {"story": 0.80, "code": 0.72, "structured": 0.83}  # of the best draft, greedy
PROSE_BELOW_STORIES = 0.10
COST = 0.12
SPEEDUP = 2.0

Pair = Mapping[str, Any]  # one entry of the JSON's "pairs"


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal of the bundled models, and whether it is met."""

    what: str
    wanted: str
    found: str
    met: bool


def goals(pairs: Sequence[Pair]) -> Iterator[Goal]:
    """Each goal with its figure, met or missed. `pairs` is the JSON's list."""
    ours = [pair for pair in pairs if pair["target"] == TARGET]
    for kind, wanted in RATES.items():
        yield _rate(ours, kind, wanted)
    yield _prose_below_stories(ours)
    yield _cost(ours)
    for kind in ("story", "structured"):
        yield _speedup(ours, kind)
    yield _honest_failure(pairs)


def against_the_quickest(speedups: Sequence[Mapping[str, Any]], layers: int = 12) -> Iterator[Goal]:
    """The speedup goals over the faster of the target's two plain formats. `speedups` is the list of `baselines`."""
    for kind in ("story", "structured"):
        ours = [row for row in speedups if row["kind"] == kind and row["layers"] == layers]
        best = max(ours, key=lambda row: float(row["quickest"]))
        named = _named({"draft": best["draft"], "target": TARGET, "target_dtype": best["dtype"]})
        figure = f"{best['quickest']:.2f} × ({named}, γ = {best['gamma']})"
        what = f"{kind}: greedy speedup over plain decoding in the faster format"
        yield Goal(what, f"at least {SPEEDUP:.1f} ×", figure, best["quickest"] >= SPEEDUP)


def _rate(pairs: Sequence[Pair], kind: str, wanted: float) -> Goal:
    best = max(pairs, key=lambda pair: _found(pair, kind, GREEDY)["per_judgement_rate"])
    how = _found(best, kind, GREEDY)
    what = f"{kind}: drafted tokens accepted of those judged, greedy, γ = 4"
    rate = how["per_judgement_rate"]
    return Goal(what, f"at least {wanted:.2f}", f"{rate:.2f} ({_named(best)})", rate >= wanted)


def _prose_below_stories(pairs: Sequence[Pair]) -> Goal:
    best = max(pairs, key=lambda pair: _found(pair, "story", SAMPLED)["per_judgement_rate"])
    story, prose = (_found(best, kind, SAMPLED)["per_judgement_rate"] for kind in ("story", "prose"))
    below = round(story - prose, 3)
    figure = f"{below:.3f} ({_named(best)}: {story:.3f} and {prose:.3f})"
    what = "the same at temperature 1: prose below stories"
    return Goal(what, f"at least {PROSE_BELOW_STORIES:.2f}", figure, below >= PROSE_BELOW_STORIES)


def _cost(pairs: Sequence[Pair]) -> Goal:
    cheapest = min(pairs, key=lambda pair: pair["c"])
    figure = f"{cheapest['c']:.3f} ({_named(cheapest)})"
    return Goal(
        "c: a step of the cheapest draft, in target steps", f"at most {COST:.2f}", figure, cheapest["c"] <= COST
    )


def _speedup(pairs: Sequence[Pair], kind: str) -> Goal:
    best = max(pairs, key=lambda pair: _found(pair, kind, GREEDY)["speedup"])
    how = _found(best, kind, GREEDY)
    figure = f"{how['speedup']:.2f} × ({_named(best)}, γ = {how['best_gamma']})"
    what = f"{kind}: greedy speedup over plain decoding in the same format"
    return Goal(what, f"at least {SPEEDUP:.1f} ×", figure, how["speedup"] >= SPEEDUP)


def _honest_failure(pairs: Sequence[Pair]) -> Goal:
    def everywhere(pair: Pair) -> float:
        speedups: list[float] = [way["speedup"] for kind in pair["kinds"].values() for way in kind.values()]
        return median(speedups)

    worst = min(pairs, key=everywhere)
    same = [pair for pair in pairs if (pair["target"], pair["draft"]) == (worst["target"], worst["draft"])]
    others = [f"{everywhere(pair):.2f} × in {pair['target_dtype']}" for pair in same if pair is not worst]
    over = "; ".join([*others, "median over kinds of text and both temperatures"])
    figure = f"{everywhere(worst):.2f} × ({_named(worst)}; {over})"
    what = "a pair that does not pay, at the best of the draft lengths tried"
    return Goal(what, "below 1.0 ×", figure, everywhere(worst) < 1.0)


def _found(pair: Pair, kind: str, way: str) -> Mapping[str, Any]:
    figures: Mapping[str, Any] = pair["kinds"][kind][way]
    return figures


def _named(pair: Pair) -> str:
    return f"{pair['draft']} for {pair['target']} in {pair['target_dtype']}"
