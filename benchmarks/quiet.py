"""Figures that are stored are measured on a quiet machine: this refuses the others, and says what it found.

Load changes ratios, not only times.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from statistics import median
from time import perf_counter, process_time
from typing import Any

import psutil
import torch

from specviz import DecodeSettings, autoregressive_decode, load_model
from specviz.core.errors import DisturbedError
from specviz.core.metrics import Costs
from specviz.core.rounds import known_seconds
from specviz.core.trace import Trace
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun, alternate
from specviz.measure.calibration import PROMPT, calibrate
from specviz.models.devices import instructions
from specviz.models.loaded_model import Dtype, LoadedModel

SLOWER = 1.2  # times the calibrated step: a long prompt explains so much, another program more
OTHERS = 0.1  # of one core, over the whole measurement
RUNS, TOKENS = 5, 64  # of a calibrated step: plain runs and their length
TRIES = 4  # of one calibration


@dataclass(slots=True)
class QuietMachine:
    """A plain step of the target, calibrated before the measurement, and what the measurement found beside it."""

    step: float  # seconds
    measured: list[float] = field(default_factory=list)  # seconds of the measurement's own plain steps
    servers: float = 0.0  # processor seconds of servers that the measurement itself asked
    others: float = 0.0  # the share of one core that other programs took

    def add_steps(self, seconds: Iterable[float | None]) -> None:
        """Plain steps of the measurement, which must not be slower than the calibrated one."""
        self.measured += map(known_seconds, seconds)

    def said(self) -> dict[str, Any]:
        """What is stored beside the figures."""
        return {
            "instructions": instructions(),
            "calibrated_step_ms": round(1000 * self.step, 3),
            "others_share_of_a_core": round(self.others, 3),
        }


@contextmanager
def quiet_machine(target: str = "wren-base", dtype: Dtype = "float32") -> Iterator[QuietMachine]:
    """Calibrate, let measure, calibrate again.

    Raises:
        SystemExit: other programs used the processor, or a plain step took longer than the calibrated one.
    """
    torch.set_num_threads(1)
    loaded = load_model(target, dtype)
    began, own, busy = perf_counter(), process_time(), _busy_seconds()
    quiet = QuietMachine(calibrated_step(loaded))
    yield quiet
    quiet.add_steps([calibrated_step(loaded)])
    ours = process_time() - own + quiet.servers  # seconds of all cores; the rest of the busy ones are of others
    quiet.others = max(0.0, _busy_seconds() - busy - ours) / (perf_counter() - began)
    step, again = median(quiet.measured), "Measure again when the machine does nothing else."
    if quiet.others > OTHERS:
        raise SystemExit(f"Not stored: other programs took {quiet.others:.0%} of a core. {again}")
    if step > SLOWER * quiet.step:
        took = f"a step of the target took {1000 * step:.2f} ms, and {1000 * quiet.step:.2f} ms when it was calibrated"
        raise SystemExit(f"Not stored: {took}. {again}")


def calibrated_step(target: LoadedModel) -> float:
    """Seconds of a plain step: the fastest run's median, as others can only slow a run."""
    settings = DecodeSettings(max_new_tokens=TOKENS, stop_at_eos=False)
    runs = [autoregressive_decode(target, PROMPT, settings).autoregressive for _ in range(RUNS)]
    return min(median(map(known_seconds, run.seconds_per_token)) for run in runs if run)


def steady_calibration(target: LoadedModel, drafter: Drafter) -> Costs:
    """Those whose repeats agree: the machine may be disturbed for a moment. DisturbedError: it stays so."""
    for _ in range(TRIES - 1):
        with suppress(DisturbedError):
            return calibrate(target, drafter.loaded, drafter=drafter).costs
    return calibrate(target, drafter.loaded, drafter=drafter).costs


def in_turns(target: LoadedModel, drafter: Drafter, prompt: str, settings: DecodeSettings) -> Trace:
    """A run of both decoders in turns, so that a busy moment slows both."""
    speculative, plain = SpeculativeRun(target, drafter, prompt, settings), AutoregressiveRun(target, prompt, settings)
    for _ in alternate(speculative, plain):
        pass
    return replace(speculative.trace(), autoregressive=plain.trace().autoregressive)


def _busy_seconds() -> float:
    """Processor seconds that all programs took since the machine started, with what its host took away."""
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    inside = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # counted in user and nice already
    return float(sum(times) - idle - inside)
