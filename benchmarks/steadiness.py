"""Whether a run says the same each time on a busy machine: one decoder after the other, against both in turns.

    python -m benchmarks.steadiness [--tokens 64] [--times 10] [--repeats 7] [--burners 1] [--out FILE]

1. The label (helps, neutral, hurts). Each setting is measured several times while other processes keep cores busy.
   "before" is one run after the other, judged by size alone, as Watch did. "after" is both in turns, judged as Watch
   does: by the interval of the run, with the pair's costs calibrated first, under the same load. A run that says
   that the machine is busy gives no label; it counts as "busy". Changes are runs that do not say what most say.
2. The speedup. Race's way (a pair of whole runs, nothing recorded) against turns, alternately, with nothing else
   started here: median and range of each.

One torch thread, float32, greedy, always to the full length. The load average says what else the machine did.
"""

import argparse
import os
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import torch

from benchmarks.timing import report
from specviz import DecodeSettings, autoregressive_decode, load_model, speculative_decode
from specviz.core.errors import DisturbedError
from specviz.core.metrics import Costs, speedup, speedup_at
from specviz.core.trace import Trace
from specviz.core.verdict import verdict_of_run
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun, alternate, fit_drafter
from specviz.measure.calibration import calibrate
from specviz.measure.compare import PairedRuns
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class Case:
    """One run to repeat."""

    preset: str
    target: str
    draft: str
    draft_length: int


CASES = (  # that helps clearly, is about even, and hurts clearly, on a quiet machine
    Case("story-1", "wren-base", "wren-nano", 4),
    Case("structured-1", "wren-base", "wren-nano", 6),
    Case("story-1", "wren-mini", "wren-small", 4),
)
PROMPTS = (
    Case("story-1", "wren-base", "wren-nano", 4),
    Case("code-1", "wren-base", "wren-nano", 4),
    Case("prose-1", "wren-base", "wren-nano", 8),
    Case("copy-1", "wren-base", "wren-nano", 4),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--times", type=int, default=10, help="runs of each setting, each way, on a busy machine")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each prompt, each way, for the speedup")
    parser.add_argument("--burners", type=int, default=1, help="processes that keep a core busy in part 1")
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    before = os.getloadavg()
    speedups = [agreement(Bench(case, options.tokens), options.repeats) for case in PROMPTS]
    with burning(options.burners):
        labels = [steadiness(Bench(case, options.tokens), options.times) for case in CASES]
    result = {
        "machine": describe_machine().machine,
        "cores": os.cpu_count(),
        "load_average_before": before,
        "load_average_after": os.getloadavg(),
        "tokens": options.tokens,
        "burners": options.burners,
        "labels": labels,
        "speedups": speedups,
    }
    report(result, options.out)


class Bench:
    """One case with its models."""

    def __init__(self, case: Case, tokens: int) -> None:
        self.case = case
        self.target: LoadedModel = load_model(case.target)
        self.draft: LoadedModel = load_model(case.draft)
        self.settings = DecodeSettings(tokens, case.draft_length, stop_at_eos=False)
        self.drafter: Drafter = fit_drafter(self.target, self.draft, self.settings)
        self.prompt = next(p.text for workload in WORKLOADS for p in workload.prompts if p.name == case.preset)
        PairedRuns(self.target, self.drafter, self.prompt, self.settings).warm_up()

    def one_after_the_other(self) -> Trace:
        """As Watch ran before: the whole text by one decoder, then by the other."""
        trace = speculative_decode(self.target, self.drafter, self.prompt, self.settings)
        plain = autoregressive_decode(self.target, self.prompt, self.settings)
        return replace(trace, autoregressive=plain.autoregressive)

    def in_turns(self) -> Trace:
        """As Watch runs now."""
        speculative = SpeculativeRun(self.target, self.drafter, self.prompt, self.settings)
        plain = AutoregressiveRun(self.target, self.prompt, self.settings)
        deque(alternate(speculative, plain), maxlen=0)
        steps = plain.trace().autoregressive
        assert steps
        return replace(speculative.trace(), autoregressive=replace(steps, alternating=True))

    def costs(self) -> Costs | None:
        """Of the pair, on this machine, now; None where the machine is too busy for them."""
        try:
            return calibrate(self.target, self.draft).costs
        except DisturbedError:
            return None


def steadiness(bench: Bench, times: int) -> dict[str, Any]:
    """How often the same settings get another label, both ways alternately."""
    costs = bench.costs()
    before, after = list[Trace](), list[Trace]()
    for _ in range(times):
        before.append(bench.one_after_the_other())
        after.append(bench.in_turns())
    return {
        **asdict(bench.case),
        "load_average": os.getloadavg()[0],
        "before": said(before, None),
        "after": said(after, costs),
        "speedup_at_calibrated_costs": round(speedup_at(after[0].rounds, costs) or 0.0, 3) if costs else None,
    }


def said(traces: Sequence[Trace], costs: Costs | None) -> dict[str, Any]:
    """Each run's label, and how many do not say what most say."""
    verdicts = [verdict for trace in traces if (verdict := verdict_of_run(trace, costs))]
    labels = [verdict.label if verdict.trusted else "busy" for verdict in verdicts]
    return {
        "labels": labels,
        "changes": len(labels) - Counter(labels).most_common(1)[0][1],
        "changes_of_label": _changes([label for label in labels if label != "busy"]),
        "speedups": [round(verdict.speedup, 3) for verdict in verdicts],
        "steps_over_calibrated": [
            round(median(trace.autoregressive.seconds_per_token) / costs.step_seconds, 2)
            for trace in traces
            if costs and trace.autoregressive
        ],
        "intervals": [[round(end, 3) for end in verdict.interval] for verdict in verdicts if verdict.interval],
    }


def _changes(labels: Sequence[str]) -> int:
    return len(labels) - Counter(labels).most_common(1)[0][1] if labels else 0


def agreement(bench: Bench, repeats: int) -> dict[str, Any]:
    """The speedup measured both ways, alternately."""
    race = PairedRuns(bench.target, bench.drafter, bench.prompt, bench.settings)
    turns = list[float]()
    for _ in range(repeats):
        race.repeat()
        turns.append(speedup(bench.in_turns()) or 0.0)
    ratios = [a / b for a, b in zip(race.measured.plain.seconds, race.measured.speculative.seconds, strict=True)]
    spread = (max(ratios) - min(ratios)) / median(ratios), (max(turns) - min(turns)) / median(turns)
    return {
        **asdict(bench.case),
        "load_average": os.getloadavg()[0],
        "race": _summary(ratios),
        "turns": _summary(turns),
        "turns_over_race": round(median(turns) / median(ratios), 3),
        "spread_of_race_over_turns": round(spread[0] / spread[1], 2),
    }


def _summary(ratios: Sequence[float]) -> dict[str, float]:
    return {"median": round(median(ratios), 3), "low": round(min(ratios), 3), "high": round(max(ratios), 3)}


@contextmanager
def burning(burners: int) -> Iterator[None]:
    """Other processes that keep this many cores busy."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(burners)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
