"""Which number format is faster for a model on this machine: measured once, by T(1) + T(5)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from specviz.models.devices import choose_device
from specviz.models.inspection import inspect_model
from specviz.models.loaded_model import Dtype
from specviz.models.memory import needed_bytes, shortage
from specviz.models.pairs import known_models
from specviz.models.pass_timing import pass_seconds
from specviz.models.read_model import read_model

CHOSEN_BY = (1, 5)  # the passes that decide between two dtypes: a plain step, and verifying four guesses
BOTH_DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16")


@dataclass(frozen=True, slots=True)
class DtypeChoice:
    """The number format that is faster for one model here, and why."""

    model: str
    dtype: Dtype
    seconds: dict[str, dict[int, float]]  # by dtype, then by tokens in one pass; empty if nothing was measured
    reason: str  # one sentence
    plain: str = ""  # one more sentence, if plain decoding with this target is faster in the other format


@cache
def choose_dtype(name: str) -> DtypeChoice:
    """Measure T(1) and T(5) in both dtypes, once for each model and process, and choose the faster one.

    If float32 does not fit into memory, nothing is measured.

    Raises:
        InputError: the model cannot be loaded.
    """
    known = known_models().get(name)
    needed = needed_bytes(known.parameters if known else inspect_model(name).parameters, "float32")
    if choose_device(name, needed) == "cpu" and shortage(name, needed):
        return DtypeChoice(
            name, "bfloat16", {}, f"{name} runs in bfloat16, because it does not fit into memory in float32."
        )
    return measure_dtypes(name, CHOSEN_BY)


def measure_dtypes(name: str, lengths: Iterable[int], repeats: int = 9) -> DtypeChoice:
    """Measure passes of these lengths, 1 and 5 among them, in both dtypes; loads the model twice, one after the other.

    Raises:
        InputError: the model cannot be loaded.
    """
    lengths = list(lengths)
    seconds: dict[str, dict[int, float]] = {}
    for dtype in BOTH_DTYPES:
        loaded = read_model(name, dtype)
        seconds[dtype] = pass_seconds(loaded, [k for k in lengths if k < loaded.context], repeats)
        del loaded
    return _chosen(name, seconds)


def _chosen(name: str, seconds: dict[str, dict[int, float]]) -> DtypeChoice:
    """The dtype with the smaller sum."""
    total = {dtype: sum(seconds[dtype].get(k, 0.0) for k in CHOSEN_BY) for dtype in BOTH_DTYPES}
    faster, slower = sorted(BOTH_DTYPES, key=lambda dtype: total[dtype])
    reason = (
        f"{name} is faster in {faster} here: a pass over one token and one over five take "
        f"{1000 * total[faster]:.2f} ms together, but {1000 * total[slower]:.2f} ms in {slower}."
    )
    alone, other = (seconds[dtype].get(1, 0.0) for dtype in (faster, slower))
    plain = (
        f"For one token {name} needs {1000 * other:.2f} ms in {slower} and {1000 * alone:.2f} ms in {faster}: compared "
        f"with plain decoding in {slower}, a speedup of 2 would be {2 * other / alone:.2f}."
    )
    return DtypeChoice(name, faster, seconds, reason, plain if other < alone else "")
