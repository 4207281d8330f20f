"""Load a model by name: `load_model`, with the number format measured for "auto"."""

from collections.abc import Callable

from specviz.core.errors import InputError
from specviz.models.catalogue import bundled_names
from specviz.models.dtype_choice import choose_dtype
from specviz.models.hub import Progress
from specviz.models.loaded_model import DTYPES, Dtype, LoadedModel
from specviz.models.read_model import prepare, read_model


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
