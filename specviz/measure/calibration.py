"""The costs of decoding on this machine: one-token and k-token steps, medians of interleaved repeats."""

from dataclasses import dataclass
from statistics import median

import torch

from specviz.core.metrics import Costs
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.steps import Steps, result_of
from specviz.decoding import iter_speculative_decode, make_drafter
from specviz.models.loaded_model import LoadedModel
from specviz.models.pass_timing import pass_steps

LONGEST_PASS = MAX_DRAFT_LENGTH + 1  # the target reads the last token and every guess


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs of one pair on this machine, in units of one single-token target step."""

    target: str
    target_dtype: str
    draft: str | None  # None: prompt lookup, which costs almost nothing
    draft_dtype: str | None
    threads: int
    step_seconds: float  # that unit
    cost_ratio: float  # c: one draft step, with the choice of its token
    verification: dict[int, float]  # v(k): k tokens at once
    overhead: float  # o: the time of a round that is neither drafting nor verifying

    @property
    def costs(self) -> Costs:
        """The same without names, as formulas take them."""
        return Costs(self.step_seconds, self.cost_ratio, self.verification, self.overhead)


def calibrate(target: LoadedModel, draft: LoadedModel | None, repeats: int = 9) -> Calibration:
    """Measure a pair: c, v(k) for k from 1 to 17, and the loop's overhead.

    Args:
        target: the target model.
        draft: the draft model; None for prompt lookup.
        repeats: interleaved repeats behind each median.
    """
    return result_of(calibration_steps(target, draft, repeats))


def calibration_steps(target: LoadedModel, draft: LoadedModel | None, repeats: int = 9) -> Steps[Calibration]:
    """The same in steps: it may be paused between two passes or rounds, each of which is timed by itself."""
    lengths = range(1, min(LONGEST_PASS, target.context - 1) + 1)
    target_seconds = yield from pass_steps(target, lengths, repeats)
    step = target_seconds[1]
    draft_seconds, overhead_seconds = yield from _round_seconds(target, draft)
    return Calibration(
        target=target.name,
        target_dtype=target.info.dtype,
        draft=draft.name if draft else None,
        draft_dtype=draft.info.dtype if draft else None,
        threads=torch.get_num_threads(),
        step_seconds=step,
        cost_ratio=draft_seconds / step,
        verification={k: seconds / step for k, seconds in target_seconds.items()},
        overhead=overhead_seconds / step,
    )


def _round_seconds(target: LoadedModel, draft: LoadedModel | None) -> Steps[tuple[float, float]]:
    """Median seconds of one draft step and of a round's overhead, from a short greedy run."""
    prompt = target.tokens("The cat and the dog. The cat and the dog. The cat and the")["input_ids"]
    window = min(loaded.context for loaded in (target, draft) if loaded)
    settings = DecodeSettings(max_new_tokens=min(48, window // 2), draft_length=4, stop_at_eos=False)
    prompt = list(prompt)[: window - settings.max_new_tokens]
    drafter = make_drafter(target, draft, settings)
    rounds = []
    for round in iter_speculative_decode(target, drafter, prompt, settings, record=False):
        rounds.append(round)
        yield
    steps = [round.draft_seconds / len(round.drafted) for round in rounds if round.drafted]
    return median(steps) if steps else 0.0, median(round.overhead_seconds for round in rounds)
