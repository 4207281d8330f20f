"""Compare and sweep: both decoders on the same prompt, in turns. What the command line and the pages both call."""

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import torch

from specviz.decoding import Drafter, autoregressive_decode, speculative_decode
from specviz.decoding.cached_model import CachedModel
from specviz.errors import InputError
from specviz.metrics import Counts, count, first_difference
from specviz.models.calibration import Calibration, calibrate
from specviz.models.loading import LoadedModel
from specviz.models.pairing import shared_vocabulary
from specviz.settings import DecodeSettings
from specviz.theory import verification_steps
from specviz.trace import Trace
from specviz.verdict import Terms, Verdict, student_t, verdict_of_ratios
from specviz.workloads import Preset, Workload

Progress = Callable[[str], None]


def run_both(target: LoadedModel, drafter: Drafter, prompt: str | Sequence[int], settings: DecodeSettings) -> Trace:
    """One speculative run and the plain run it is compared with, in one trace; a short warm-up goes before."""
    warm_up(target, drafter, prompt, settings)
    trace = speculative_decode(target, drafter, prompt, settings)
    plain = autoregressive_decode(target, prompt, settings)
    return replace(trace, autoregressive=plain.autoregressive)


def warm_up(target: LoadedModel, drafter: Drafter, prompt: str | Sequence[int], settings: DecodeSettings) -> None:
    """A few untimed rounds and steps: the first passes of a process are slow, and belong to no one's figure."""
    few = replace(settings, max_new_tokens=min(settings.max_new_tokens, 2 * settings.draft_length + 2))
    speculative_decode(target, drafter, prompt, few)
    autoregressive_decode(target, prompt, few)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Interleaved repeats of both decoders on one prompt."""

    speculative: Trace  # of the first repeat; ids are the same in all
    plain: Trace
    speculative_seconds: list[float]  # decoding only, a repeat each
    plain_seconds: list[float]
    calibration: Calibration
    threads: int
    quality: dict[str, Any]

    @property
    def counts(self) -> Counts:
        """What became of the drafted tokens."""
        return count(self.speculative.rounds)

    @property
    def ratios(self) -> list[float]:
        """Speedup of each repeat: seconds a token, plain over speculative (sampled texts may differ in length)."""
        longer = len(self.speculative.output.token_ids) / len(self.plain.output.token_ids)
        pairs = zip(self.plain_seconds, self.speculative_seconds, strict=True)
        return [plain / speculative * longer for plain, speculative in pairs]

    @property
    def speedup(self) -> float:
        """Median plain seconds over median speculative seconds, for as many tokens: measured."""
        longer = len(self.speculative.output.token_ids) / len(self.plain.output.token_ids)
        return median(self.plain_seconds) / median(self.speculative_seconds) * longer

    @property
    def terms(self) -> Terms | None:
        """This run's acceptance with the calibrated costs; None when nothing was judged."""
        alpha, costs = self.counts.per_judgement_rate, self.calibration
        if alpha is None:
            return None
        length = self.speculative.settings.draft_length
        verification = verification_steps(costs.verification, length + 1)
        return Terms(alpha, length, costs.cost_ratio, verification, costs.overhead)

    @property
    def predicted_speedup(self) -> float | None:
        """E / (gamma c + v + o) from the calibration and this run's per-judgement rate: modelled."""
        terms = self.terms
        return terms.speedup if terms else None

    @property
    def identical(self) -> bool | None:
        """Greedy: whether both wrote the same ids. None when sampling: two draws are neither same nor different."""
        if not self.speculative.settings.greedy:
            return None
        return self.speculative.output.token_ids == self.plain.output.token_ids

    @property
    def verdict(self) -> Verdict:
        """On the interval of the paired ratios."""
        verdict = verdict_of_ratios(self.ratios, self.terms)
        assert verdict is not None  # there is at least one repeat
        return verdict


def compare(
    target: LoadedModel,
    drafter: Drafter,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    repeats: int = 5,
    progress: Progress = lambda line: None,
) -> Comparison:
    """Measure both decoders in turns, after a warm-up of both.

    Raises:
        InputError: as `speculative_decode`; or repeats below 1.
    """
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, not {repeats}.")
    progress("warming up")
    warm_up(target, drafter, prompt, settings)
    speculative: list[Trace] = []
    plain: list[Trace] = []
    for repeat in range(repeats):
        progress(f"repeat {repeat + 1} of {repeats}")
        speculative.append(speculative_decode(target, drafter, prompt, settings, record=False))
        plain.append(autoregressive_decode(target, prompt, settings))
    progress("calibrating")
    return Comparison(
        speculative=speculative[0],
        plain=plain[0],
        speculative_seconds=[sum(round.seconds for round in trace.rounds) for trace in speculative],
        plain_seconds=[sum(trace.autoregressive.seconds_per_token) for trace in plain if trace.autoregressive],
        calibration=calibrate(target, drafter.loaded),
        threads=torch.get_num_threads(),
        quality=quality(target, speculative[0], plain[0]),
    )


def quality(target: LoadedModel, speculative: Trace, plain: Trace) -> dict[str, Any]:
    """What can honestly be said of the two outputs.

    Greedy: where they first differ (None: nowhere) and how close the target's two likeliest tokens were there.
    Sampling: the target's mean log-probability a token of each text, at temperature 1, with its 95 % interval.
    """
    prompt, ours, theirs = plain.prompt.token_ids, speculative.output.token_ids, plain.output.token_ids
    if plain.settings.greedy:
        at = first_difference(ours, theirs)
        tie = None if at is None or at >= len(theirs) else top2_gap(target, [*prompt, *theirs[:at]])
        return {"kind": "greedy", "first_difference": at, "top2_gap": tie}
    return {
        "kind": "sampling",
        "speculative": mean_log_probability(target, prompt, ours),
        "autoregressive": mean_log_probability(target, prompt, theirs),
    }


def top2_gap(target: LoadedModel, text: Sequence[int]) -> float:
    """Difference of the two highest next-token logits after `text`: near 0, rounding can decide between them."""
    best, second = _logits(target, text)[-1].topk(2).values.tolist()
    return float(best - second)


def mean_log_probability(target: LoadedModel, prompt: Sequence[int], output: Sequence[int]) -> dict[str, float | None]:
    """Mean over the output's tokens of log p(token), in nats, with the 95 % t-interval of that mean."""
    text = [*prompt, *output]
    rows = _logits(target, text)[len(prompt) - 1 : -1].log_softmax(-1)
    each: list[float] = rows[torch.arange(len(output)), torch.tensor(list(output))].tolist()
    if len(each) < 2:
        return {"mean": each[0], "low": None, "high": None}
    mean, half = fmean(each), student_t(len(each) - 1) * stdev(each) / math.sqrt(len(each))
    return {"mean": mean, "low": mean - half, "high": mean + half}


def _logits(target: LoadedModel, text: Sequence[int]) -> torch.Tensor:
    return CachedModel(target, shared_vocabulary(target)).read(text)


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One prompt at one draft length, measured once: a pair of runs, neighbours in time."""

    target: str
    target_dtype: str
    draft: str
    draft_dtype: str | None
    threads: int
    workload: str
    preset: str
    draft_length: int
    temperature: float
    top_k: int | None
    top_p: float | None
    seed: int
    max_new_tokens: int
    stop_at_eos: bool
    new_tokens: int
    rounds: int
    drafted: int
    accepted: int
    rejected: int
    discarded: int
    acceptance_rate: float | None
    per_judgement_rate: float | None
    tokens_per_target_call: float | None
    autoregressive_seconds: float
    speculative_seconds: float
    speedup: float
    identical: bool | None


def sweep(
    target: LoadedModel,
    drafter: Drafter,
    workloads: Sequence[Workload],
    draft_lengths: Sequence[int],
    settings: DecodeSettings,
    done: frozenset[tuple[str, ...]] = frozenset(),
    prompts: int | None = None,
    progress: Progress = lambda line: None,
) -> Iterator[SweepRow]:
    """Measure every workload's prompts at every draft length; yields rows as they come, skipping keys in `done`."""
    every = [(workload, preset) for workload in workloads for preset in workload.prompts[:prompts]]
    for number, (workload, preset) in enumerate(every, start=1):
        progress(f"{preset.name}, prompt {number} of {len(every)}")
        wanted = [replace(settings, draft_length=length) for length in draft_lengths]
        left = [one for one in wanted if sweep_key(target, drafter, preset, one) not in done]
        if left:
            warm_up(target, drafter, preset.text, left[0])
        for one in left:
            plain = autoregressive_decode(target, preset.text, one)
            speculative = speculative_decode(target, drafter, preset.text, one, record=False)
            yield _sweep_row(workload, preset, speculative, plain)


def sweep_key(target: LoadedModel, drafter: Drafter, preset: Preset, settings: DecodeSettings) -> tuple[str, ...]:
    """What tells this measurement's row from others, as text so that it matches a row read from CSV."""
    made_by = (target.name, target.info.dtype, drafter.info.name, drafter.info.dtype, torch.get_num_threads())
    values = (*made_by, preset.name, *(getattr(settings, field.name) for field in fields(DecodeSettings)))
    return tuple("" if value is None else str(value) for value in values)


_KEY = (
    "target",
    "target_dtype",
    "draft",
    "draft_dtype",
    "threads",
    "preset",
    *(f.name for f in fields(DecodeSettings)),
)


def _sweep_row(workload: Workload, preset: Preset, speculative: Trace, plain: Trace) -> SweepRow:
    counts, settings = count(speculative.rounds), speculative.settings
    assert plain.autoregressive is not None
    assert speculative.drafter is not None
    plain_seconds = sum(plain.autoregressive.seconds_per_token)
    seconds = sum(round.seconds for round in speculative.rounds)
    longer = len(speculative.output.token_ids) / len(plain.output.token_ids)
    return SweepRow(
        target=speculative.target.name,
        target_dtype=speculative.target.dtype,
        draft=speculative.drafter.name,
        draft_dtype=speculative.drafter.dtype,
        threads=speculative.recorded_on.threads,
        workload=workload.name,
        preset=preset.name,
        **asdict(settings),
        new_tokens=counts.emitted,
        rounds=counts.rounds,
        drafted=counts.drafted,
        accepted=counts.accepted,
        rejected=counts.rejected,
        discarded=counts.discarded,
        acceptance_rate=counts.acceptance_rate,
        per_judgement_rate=counts.per_judgement_rate,
        tokens_per_target_call=counts.tokens_per_target_call,
        autoregressive_seconds=plain_seconds,
        speculative_seconds=seconds,
        speedup=plain_seconds / seconds * longer,
        identical=speculative.output.token_ids == plain.output.token_ids if settings.greedy else None,
    )


class SweepFile:
    """A CSV that grows row by row, so that a sweep cut short goes on where it stopped.

    Raises:
        InputError: the file is there and is no sweep of this version, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns = [field.name for field in fields(SweepRow)]
        try:
            content = self._whole_rows()
            path.write_text(content, encoding="utf-8", newline="")
            rows = csv.DictReader(content.splitlines())
            self.done = frozenset(tuple(row[name] for name in _KEY) for row in rows)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{path} cannot be used for the sweep: {error}.") from error

    def add(self, row: SweepRow) -> None:
        """Append one row."""
        with self._path.open("a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, self._columns).writerow(asdict(row))

    def _whole_rows(self) -> str:
        """What the file holds, but for the half a row that a sweep leaves when it is killed; at least the header."""
        header = ",".join(self._columns)
        content = self._path.read_bytes().decode() if self._path.exists() else ""
        if content and content.splitlines()[0] != header:
            raise InputError(f"{self._path} is not a sweep of this version: its columns are others.")
        return content[: content.rfind("\n") + 1] or header + "\n"
