"""Which number format is faster for a model on this machine: measured once, by T(1) + T(5)."""

from collections.abc import Callable, Iterable
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
        loaded = read_model(name, dtype)
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
