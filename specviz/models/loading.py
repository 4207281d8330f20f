"""Load a model by name: `load_model`, with the number format measured for "auto"."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from specviz.core.errors import InputError
from specviz.models.catalogue import bundled_names
from specviz.models.devices import choose_device
from specviz.models.hub import Progress
from specviz.models.loaded_model import DTYPES, Dtype, LoadedModel
from specviz.models.memory import needed_bytes, shortage
from specviz.models.pairs import known_models
from specviz.models.pass_timing import pass_seconds
from specviz.models.read_model import inspect_model, prepare, read_model

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
    """
    known = known_models().get(name)
    needed = needed_bytes(known.parameters if known else inspect_model(name).parameters, "float32")
    if choose_device(name, needed) == "cpu" and shortage(name, needed):
        return DtypeChoice(
            name, "bfloat16", {}, f"{name} runs in bfloat16, because it does not fit into memory in float32."
        )
    return measure_dtypes(name, CHOSEN_BY)


def measure_dtypes(name: str, lengths: Iterable[int]) -> DtypeChoice:
    """Measure passes of these lengths, 1 and 5 among them, in both dtypes; loads the model twice, one after the other."""
    lengths = list(lengths)
    seconds: dict[str, dict[int, float]] = {}
    for dtype in BOTH_DTYPES:
        loaded = read_model(name, dtype)
        seconds[dtype] = pass_seconds(loaded, [k for k in lengths if k < loaded.context])
        del loaded
    return _chosen(name, seconds)


def _chosen(name: str, seconds: dict[str, dict[int, float]]) -> DtypeChoice:
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


def load_model(name: str, dtype: Dtype = "float32", progress: Callable[[Progress], None] | None = None) -> LoadedModel:
    """Load a model by bundled name, local folder or Hub id.

    Args:
        name: bundled names win over folders, folders over Hub ids; a bundled name never touches the network.
        dtype: "float32" is exact; "auto" is the one with the smaller T(1) + T(5) on this machine.
        progress: called with the progress of a Hub download.

    Raises:
        InputError: there is no such model, it cannot be downloaded or used, or it does not fit into memory; one
            sentence.
    """
    if dtype not in (*DTYPES, "auto"):
        raise InputError(f"dtype must be float32, bfloat16 or auto, not {dtype}.")
    if dtype == "auto":
        if name not in bundled_names():
            prepare(name, "auto", progress)  # downloaded with progress, before anything is measured
        dtype = choose_dtype(name).dtype
    return read_model(name, dtype, progress)
