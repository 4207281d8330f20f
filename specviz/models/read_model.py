"""Load a model and its tokenizer: bundled name, local folder or Hub id. Safetensors only, never remote code."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from specviz.core.errors import InputError
from specviz.core.free_memory import give_back
from specviz.core.trace import ModelInfo
from specviz.models import downloads
from specviz.models.bundled import read_bundled, read_tokens
from specviz.models.catalogue import MODELS_FOLDER, bundled_models, bundled_names, find_folder, weights_hash
from specviz.models.devices import choose_device
from specviz.models.forward import forced
from specviz.models.hub import Progress, fetch, find_cached, hub_id
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.models.memory import needed_bytes, shortage
from specviz.models.pairs import HUB_MODELS
from specviz.models.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is known about a model without its weights."""

    name: str
    tokens: Tokens
    parameters: int  # tied embeddings counted once
    context: int | None  # most tokens it can read, prompt and output together; None: no known limit
    rows: int  # of its embedding, padding included
    sliding_window: int | None


def inspect_model(name: str) -> Inspection:
    """Check one model."""
    for model in bundled_models():
        if model.name == name:
            return Inspection(name, read_tokens(name), model.parameters, model.context, model.vocabulary, None)
    from specviz.models.configuration import check_configuration  # imports transformers: seconds

    known = check_configuration(name)
    return Inspection(name, known.tokenizer, known.parameters, known.context, known.rows, known.sliding_window)


def read_model(name: str, dtype: Dtype = "float32", progress: Callable[[Progress], None] | None = None) -> LoadedModel:
    """Load a model in a given number format, "float32" or "bfloat16"; names and errors as `loading.load_model`."""
    if name in bundled_names() and not forced():
        return read_bundled(name, dtype)  # so small that it always fits
    from specviz.models.transformers_models import from_transformers, read_folder  # seconds and 120 MB

    if name in bundled_names():
        folder, parameters = MODELS_FOLDER / name, 0
    else:
        folder, parameters = prepare(name, dtype, progress)
        downloads.hold(name)
    device = choose_device(name, needed_bytes(parameters, dtype))
    model, tokenizer = read_folder(name, folder, dtype, device)
    info = ModelInfo(name, model.num_parameters(), dtype, _weights_hash(name, folder))
    made = from_transformers(model, tokenizer, name, info)
    give_back()
    return made


def prepare(name: str, dtype: str = "float32", progress: Callable[[Progress], None] | None = None) -> tuple[Path, int]:
    """Check a model that does not ship with the app, and download it if needed; returns its folder and parameters."""
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
    """Refuse models of the catalogue by the sizes that are known, before the network is used: memory, then disk.

    Other names are passed over. `reclaimable`: bytes of memory in models that would be released for these.
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
    """Download a Hub model that is not on this machine yet, and yield the progress; nothing for other names."""
    if name not in bundled_names() and not find_folder(name):
        yield from fetch(hub_id(name))


def _weights_hash(name: str, folder: Path) -> str:
    local = name in bundled_names() or find_folder(name)
    return weights_hash(folder) if local else folder.name[:16]
