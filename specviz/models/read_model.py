"""Load a model and its tokenizer: bundled name, local folder or Hub id. Safetensors only, never remote code."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

from specviz.core.errors import InputError
from specviz.core.trace import ModelInfo
from specviz.models import downloads
from specviz.models.catalogue import MODELS_FOLDER, bundled_names, weights_hash
from specviz.models.devices import choose_device
from specviz.models.folders import find_folder
from specviz.models.hub import Progress, fetch, find_cached
from specviz.models.inspection import inspect_model
from specviz.models.layout import store_columns_first
from specviz.models.loaded_model import DTYPES, Dtype, LoadedModel
from specviz.models.memory import give_back, is_out_of_memory, needed_bytes, shortage
from specviz.models.pairs import HUB_MODELS
from specviz.models.places import hub_id
from specviz.models.quiet import in_short, quiet


def read_model(name: str, dtype: Dtype = "float32", progress: Callable[[Progress], None] | None = None) -> LoadedModel:
    """Load a model by bundled name, local folder or Hub id, in a given number format.

    Args:
        name: bundled names win over folders, folders over Hub ids; a bundled name never touches the network.
        dtype: "float32" or "bfloat16"; `loading.load_model` also takes "auto".
        progress: called with the progress of a Hub download.

    Raises:
        InputError: there is no such model, it cannot be downloaded or used, or it does not fit into memory; one
            sentence.
    """
    if name in bundled_names():
        folder, parameters = MODELS_FOLDER / name, 0  # so small that it always fits
    else:
        folder, parameters = prepare(name, dtype, progress)
        downloads.hold(name)
    device = choose_device(name, needed_bytes(parameters, dtype))
    with _one_sentence(name), quiet():
        model, tokenizer = _read(name, folder, dtype)
        model.to(device)
    model.eval()
    model.requires_grad_(False)
    store_columns_first(model)
    give_back()
    info = ModelInfo(name, model.num_parameters(), dtype, _weights_hash(name, folder))
    return LoadedModel(model, tokenizer, name, info)


def prepare(name: str, dtype: str = "float32", progress: Callable[[Progress], None] | None = None) -> tuple[Path, int]:
    """Check a model that does not ship with the app, and download it if needed; returns its folder and parameters.

    Raises:
        InputError: see `read_model`; nothing was loaded.
    """
    check_known([name], "bfloat16" if dtype == "auto" else dtype)
    parameters = inspect_model(name).parameters
    least = "bfloat16" if dtype == "auto" else dtype
    needed = needed_bytes(parameters, least)
    if choose_device(name, needed) == "cpu" and (short := shortage(name, needed)):
        raise InputError(short)
    if folder := find_folder(name):
        return folder, parameters
    for step in download(name):
        if progress:
            progress(step)
    folder = find_cached(name)
    if folder is None:
        raise InputError(f"{name} was downloaded but is not complete: remove it from the Hub's cache and try again.")
    return folder, parameters


def check_known(names: Sequence[str], dtype: str, reclaimable: int = 0) -> None:
    """Check models of the catalogue by the sizes that are known, before the network is used.

    Args:
        names: those of a pair; others than the catalogue's are passed over.
        dtype: float32 or bfloat16.
        reclaimable: bytes of memory in models that would be released for these.

    Raises:
        InputError: they do not fit into memory, or one that is not here yet does not fit on the disk.
    """
    known = [model for model in HUB_MODELS if model.name in names]
    sizes = {model.name: needed_bytes(model.parameters, dtype) for model in known}
    on_cpu = sum(size for name, size in sizes.items() if choose_device(name, size) == "cpu")
    if known and (short := shortage(" and ".join(sizes), on_cpu - reclaimable)):
        raise InputError(short)
    for model in known:
        if not find_cached(model.name):
            downloads.check_room(model.name, model.bfloat16_bytes)  # its files take at least that


def download(name: str) -> Iterator[Progress]:
    """Download a Hub model that is not on this machine yet, and yield the progress; nothing for other names.

    Raises:
        InputError: see `fetch`.
    """
    if name not in bundled_names() and not find_folder(name):
        yield from fetch(hub_id(name))


def _read(name: str, folder: Path, dtype: str) -> tuple[Any, PreTrainedTokenizerBase]:
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(folder, **options)
    options |= {"dtype": DTYPES[dtype], "use_safetensors": True, "output_loading_info": True}
    both: Any = AutoModelForCausalLM.from_pretrained(folder, **options)
    model, report = both
    if missing := sorted(report["missing_keys"]):  # transformers would fill them with random numbers
        raise InputError(f"{name} is incomplete: its config.json asks for {missing[0]}, which is not in its weights.")
    return model, tokenizer


@contextmanager
def _one_sentence(name: str) -> Iterator[None]:
    """Turn errors of loading into one sentence about the model."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # a broken file can cause errors of every kind in four libraries
        if is_out_of_memory(error):
            raise MemoryError from error
        if "ignore_mismatched_sizes" in str(error):
            raise InputError(f"{name} cannot be loaded: its config.json and its weights differ in size.") from error
        raise InputError(f"{name} is not a causal language model that can be loaded: {in_short(error)}") from error


def _weights_hash(name: str, folder: Path) -> str:
    """The hash of the weight files; for a Hub model, its commit."""
    local = name in bundled_names() or find_folder(name)
    return weights_hash(folder) if local else folder.name[:16]
