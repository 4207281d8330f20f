"""Several servers with speculative decoding, each measured against the same one without it. Pure."""

from collections.abc import Iterator, Sequence

from specviz.core.texts import Sentences
from specviz.measure.endpoints.report import Cell, results
from specviz.measure.endpoints.result import BenchResult
from specviz.measure.endpoints.sentences import loads_in_words

say = Sentences("bench")
COLUMNS = ("speedup", "low", "high", "verdict", "acceptance_rate", "tokens_per_target_call")


def compare_servers(benches: Sequence[BenchResult]) -> list[dict[str, Cell]]:
    """A row for each server and load; its own bench says more."""
    return [
        {"server": _name(bench), "load": loads_in_words(bench, [_load(its)]), **{name: its[name] for name in COLUMNS}}
        for bench in benches
        for its in results(bench)
    ]


def best_in_words(benches: Sequence[BenchResult]) -> Iterator[str]:
    """At each load, which server is fastest: said only where its interval lies above that of each other one."""
    found = [(bench, {_load(its): its for its in results(bench)}) for bench in benches]
    for load in sorted({load for _, its in found for load in its}):
        known = [(bench, its[load]) for bench, its in found if load in its and its[load]["trusted"]]
        known = [(bench, its) for bench, its in known if its["low"] is not None]
        at = loads_in_words(benches[0], [load])
        best, its = max(known, key=lambda each: each[1]["low"], default=(None, None))
        others = [other for other in known if other[0] is not best]
        if best and its and len(known) == len(benches) and all(its["low"] > other["high"] for _, other in others):
            yield say("best_at", load=at, server=_name(best))
        else:
            yield say("no_best_at", load=at)


def _load(its: dict[str, float]) -> float:
    return its.get("rate") or its["concurrency"]


def _name(bench: BenchResult) -> str:
    return bench.with_.drafts or bench.with_.url
