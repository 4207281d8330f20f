"""What decoding costs on this machine: one-token and k-token steps, timed in interleaved repeats, medians kept."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from statistics import median
from time import perf_counter

import torch

from specviz.models.devices import choose_device
from specviz.models.inspection import inspect_model
from specviz.models.loading import Dtype, LoadedModel, load_model
from specviz.models.memory import needed_bytes, shortage
from specviz.models.pairs import known_models
from specviz.settings import MAX_DRAFT_LENGTH, DecodeSettings

CONTEXT_TOKENS = 64  # read before timing: about where a short run is
CHOSEN_BY = (1, 5)  # the passes that decide between two dtypes: a plain step, and verifying four guesses
BOTH_DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16")
LONGEST_PASS = MAX_DRAFT_LENGTH + 1  # the target reads the last token and every guess


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs of one pair here, in units of one single-token target step."""

    target: str
    target_dtype: str
    draft: str | None  # None: prompt lookup, which costs next to nothing
    draft_dtype: str | None
    threads: int
    step_seconds: float  # that unit
    cost_ratio: float  # c: one draft step, choosing its token included
    verification: dict[int, float]  # v(k): k tokens at once
    overhead: float  # o: what a round takes beyond drafting and verifying


class Stopped(Exception):
    """Calibration was asked to stop before it had an answer."""


def calibrate(
    target: LoadedModel,
    draft: LoadedModel | None,
    should_stop: Callable[[], bool] = lambda: False,
    repeats: int = 9,
) -> Calibration:
    """Measure a pair: c, v(k) for k from 1 to 17, and the loop's overhead.

    Args:
        target: the target model.
        draft: the draft model; None for prompt lookup.
        should_stop: asked between measurements; True raises `Stopped`.
        repeats: interleaved repeats behind each median.
    """
    lengths = range(1, min(LONGEST_PASS, target.context - 1) + 1)
    target_seconds = pass_seconds(target, lengths, repeats, should_stop)
    step = target_seconds[1]
    draft_seconds, overhead_seconds = _round_seconds(target, draft, should_stop)
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


def pass_seconds(
    loaded: LoadedModel, lengths: Iterable[int], repeats: int, should_stop: Callable[[], bool] = lambda: False
) -> dict[int, float]:
    """Median seconds of one forward pass over k new tokens, for each k, after up to `CONTEXT_TOKENS` in the cache."""
    from specviz.decoding.cached_model import CachedModel

    lengths = list(lengths)
    vocabulary = int(loaded.model.config.get_text_config().vocab_size)
    generator = torch.Generator().manual_seed(0)
    read = min(CONTEXT_TOKENS, loaded.context - max(lengths))
    tokens: list[int] = torch.randint(vocabulary, (read + max(lengths),), generator=generator).tolist()
    model = CachedModel(loaded, vocabulary)
    model.prefill(tokens[:read])
    taken: dict[int, list[float]] = {k: [] for k in lengths}
    for repeat in range(repeats + 2):
        for k in lengths:
            if should_stop():
                raise Stopped
            began = perf_counter()
            model.read(tokens[read : read + k])
            seconds = perf_counter() - began
            model.crop(read)
            if repeat >= 2:  # the first two warm up
                taken[k].append(seconds)
    return {k: median(seconds) for k, seconds in taken.items()}


def _round_seconds(
    target: LoadedModel, draft: LoadedModel | None, should_stop: Callable[[], bool]
) -> tuple[float, float]:
    """Median seconds of one draft step and of a round's overhead, from a short greedy run."""
    from specviz.decoding import iter_speculative_decode, make_drafter

    prompt = target.tokenizer("The cat and the dog. The cat and the dog. The cat and the")["input_ids"]
    window = min(loaded.context for loaded in (target, draft) if loaded)
    settings = DecodeSettings(max_new_tokens=min(48, window // 2), draft_length=4, stop_at_eos=False)
    prompt = list(prompt)[: window - settings.max_new_tokens]
    drafter = make_drafter(target, draft, settings)
    rounds = []
    for round in iter_speculative_decode(target, drafter, prompt, settings, record=False):
        if should_stop():
            raise Stopped
        rounds.append(round)
    steps = [round.draft_seconds / len(round.drafted) for round in rounds if round.drafted]
    return median(steps) if steps else 0.0, median(round.overhead_seconds for round in rounds)


@dataclass(frozen=True, slots=True)
class DtypeChoice:
    """The number format that is quicker for one model here, and why."""

    model: str
    dtype: Dtype
    seconds: dict[str, dict[int, float]]  # by dtype, then by tokens in one pass; empty where nothing was measured
    reason: str  # one sentence
    plain: str = ""  # one more, of a target whose plain decoding would rather have the other format


def quicker_dtype(name: str) -> Dtype:
    """The dtype with the smaller T(1) + T(5) on this machine, measured once for each model and process."""
    return choose_dtype(name).dtype


@cache
def choose_dtype(name: str) -> DtypeChoice:
    """Measure T(1) and T(5) in both dtypes, once for each model and process, and take the quicker one.

    Where float32 does not fit into memory there is nothing to measure.

    Raises:
        InputError: the model cannot be loaded.
    """
    known = known_models().get(name)
    needed = needed_bytes(known.parameters if known else inspect_model(name).parameters, "float32")
    if choose_device(name, needed) == "cpu" and shortage(name, needed):
        return DtypeChoice(name, "bfloat16", {}, f"{name} runs in bfloat16: in float32 it does not fit into memory.")
    return measure_dtypes(name, CHOSEN_BY)


def measure_dtypes(
    name: str, lengths: Iterable[int], repeats: int = 9, should_stop: Callable[[], bool] = lambda: False
) -> DtypeChoice:
    """Measure passes of these lengths, 1 and 5 among them, in both dtypes; loads the model twice, one after the other.

    Raises:
        InputError: the model cannot be loaded.
    """
    lengths = list(lengths)
    seconds: dict[str, dict[int, float]] = {}
    for dtype in BOTH_DTYPES:
        loaded = load_model(name, dtype)
        seconds[dtype] = pass_seconds(loaded, [k for k in lengths if k < loaded.context], repeats, should_stop)
        del loaded
    return _chosen(name, seconds)


def _chosen(name: str, seconds: dict[str, dict[int, float]]) -> DtypeChoice:
    """The dtype with the smaller sum."""
    total = {dtype: sum(seconds[dtype].get(k, 0.0) for k in CHOSEN_BY) for dtype in BOTH_DTYPES}
    quicker, slower = sorted(BOTH_DTYPES, key=lambda dtype: total[dtype])
    reason = (
        f"{name} is quicker in {quicker} here: a pass over one token and one over five take "
        f"{1000 * total[quicker]:.2f} ms together, in {slower} {1000 * total[slower]:.2f} ms."
    )
    alone, other = (seconds[dtype].get(1, 0.0) for dtype in (quicker, slower))
    plain = (
        f"One token alone takes {name} {1000 * other:.2f} ms in {slower}, {1000 * alone:.2f} ms in {quicker}: over "
        f"plain decoding in {slower}, a speedup of 2 would be one of {2 * other / alone:.2f}."
    )
    return DtypeChoice(name, quicker, seconds, reason, plain if other < alone else "")
