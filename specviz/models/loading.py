"""Load a model and its tokenizer: bundled name, local folder, GGUF file or Hub id. Never remote code.

A bundled model is loaded from its own files, without transformers: importing it takes seconds and 150 MB. `load_model`
measures the number format for "auto".
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import load_file
from tokenizers import Tokenizer

from specviz.core.errors import InputError
from specviz.core.free_memory import give_back
from specviz.core.texts import Sentences
from specviz.core.trace import ModelInfo
from specviz.models import downloads
from specviz.models.catalogue import (
    HUB_MODELS,
    MODELS_FOLDER,
    ModelEntry,
    bundled_models,
    bundled_names,
    count_parameters,
    find_folder,
    find_gguf,
    find_local,
    known_models,
    weight_bytes,
    weights_hash,
)
from specviz.models.devices import check_memory, choose_device, needed_bytes
from specviz.models.downloads import Progress, broken
from specviz.models.gguf_folder import SMOLLM2, SMOLLM2_PARAMETERS, is_missing
from specviz.models.gguf_model import inspect_gguf, load_gguf
from specviz.models.hub import fetch, find_cached, hub_id
from specviz.models.llama_weights import build, store_fast
from specviz.models.loaded_model import DTYPES, Dtype, LoadedModel, forced, light_model
from specviz.models.packaged import fetch_smollm2
from specviz.models.pass_timing import pass_seconds
from specviz.models.tokens import LightTokens, Tokens

say = Sentences("models")

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

CHOSEN_BY = (1, 5)  # the passes that decide between two dtypes: a plain step, and verifying four guesses
BOTH_DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16")


def load_model(name: str, dtype: Dtype = "float32", progress: Callable[[Progress], None] | None = None) -> LoadedModel:
    """Load a model by bundled name, local folder, GGUF file or Hub id.

    Args:
        name: bundled names win over what is on the disk, that over Hub ids; a bundled name never touches the network.
        dtype: "float32" is exact; "auto" is the one with the smaller T(1) + T(5) on this machine.
        progress: called with the progress of a Hub download.

    Raises InputError: there is no such model, it cannot be downloaded or used, or it does not fit into memory.
    """
    if dtype not in (*DTYPES, "auto"):
        raise InputError(say("wrong_dtype", dtype=dtype))
    if dtype == "auto":
        if name not in bundled_names() and not find_gguf(name):
            prepare(name, "auto", progress)  # downloaded with progress, before anything is measured
        dtype = choose_dtype(name).dtype
    return read_model(name, dtype, progress)


def inspect_model(name: str) -> tuple[ModelEntry, Tokens]:
    """What is known of a model without its weights.

    Raises InputError: it cannot be loaded or used here; one sentence with what is wrong and what would work.
    """
    for model in bundled_models():
        if model.name == name:
            return model, read_tokens(name)
    if file := find_gguf(name):
        return inspect_gguf(name, file)
    from specviz.models.transformers_models import inspect_configuration  # imports transformers: seconds

    return inspect_configuration(name)


def read_model(name: str, dtype: Dtype = "float32", progress: Callable[[Progress], None] | None = None) -> LoadedModel:
    """Load a model in a given number format, "float32" or "bfloat16"; names and errors as `load_model`."""
    if name in bundled_names():
        made = read_bundled(name, dtype)  # so small that it always fits
    elif file := find_gguf(name):
        made = load_gguf(name, file, dtype)
    else:
        return _read_folder(name, dtype, progress)
    if not forced():
        return made
    from specviz.models.transformers_models import from_transformers  # seconds and 120 MB

    other = from_transformers(made.model.to(made.device), made.tokenizer, name, made.info)
    return replace(other, tokens=made.tokens, ends=made.ends)


def _read_folder(name: str, dtype: Dtype, progress: Callable[[Progress], None] | None) -> LoadedModel:
    from specviz.models.transformers_models import from_transformers, read_folder  # seconds and 120 MB

    folder, parameters = prepare(name, dtype, progress)
    downloads.acquire(name)
    device = choose_device(name, needed_bytes(parameters, dtype))
    model, tokenizer = read_folder(name, folder, dtype, device)
    digest = weights_hash(folder) if find_folder(name) else folder.name[:16]  # of a Hub model: its commit
    made = from_transformers(model, tokenizer, name, ModelInfo(name, model.num_parameters(), dtype, digest))
    if made.is_packed:  # the model's own matrices would be in memory beside the packed ones
        made = replace(made, make_model=cache(lambda: read_folder(name, folder, dtype, device)[0]))
    del model
    give_back()
    return made


def read_bundled(name: str, dtype: str) -> LoadedModel:
    """A bundled model with the light forward pass; tests show that it gives transformers' own logits."""
    folder, config = MODELS_FOLDER / name, _config(name)
    parameters = count_parameters(folder / "model.safetensors")
    device = choose_device(name, needed_bytes(parameters, dtype))
    stored = load_file(folder / "model.safetensors")
    llama = build(config, {key: stored.pop(key).to(device, DTYPES[dtype]) for key in [*stored]})
    info, ends = ModelInfo(name, parameters, dtype, weights_hash(folder)), frozenset([config["eos_token_id"]])
    make_model, make_tokenizer = partial(_transformers, name, dtype), partial(_tokenizer, name)
    return light_model(llama, read_tokens(name), info, config, ends, make_model, make_tokenizer)


@cache
def read_tokens(name: str) -> LightTokens:
    file = MODELS_FOLDER / name / "tokenizer.json"
    return LightTokens(Tokenizer.from_file(str(file)), _config(name)["eos_token_id"])


def _config(name: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((MODELS_FOLDER / name / "config.json").read_text(encoding="utf-8"))
    return config


@cache
def _transformers(name: str, dtype: str) -> "PreTrainedModel":
    """The same weights in transformers' class, for who asks for it: the decoders here do not."""
    from specviz.models.transformers_models import read_folder

    model = read_folder(name, MODELS_FOLDER / name, dtype)[0]
    store_fast(model)
    return model


@cache
def _tokenizer(name: str) -> "PreTrainedTokenizerBase":
    from transformers import PreTrainedTokenizerFast

    made: PreTrainedTokenizerBase = PreTrainedTokenizerFast.from_pretrained(MODELS_FOLDER / name, local_files_only=True)
    return made


def prepare(name: str, dtype: str = "float32", progress: Callable[[Progress], None] | None = None) -> tuple[Path, int]:
    """Check a model that does not ship with the app, and download it if needed; returns its folder and parameters."""
    least = "bfloat16" if dtype == "auto" else dtype
    check_known([name], least)
    parameters = inspect_model(name)[0].parameters
    check_memory([(name, needed_bytes(parameters, least))])
    if folder := find_folder(name):
        return folder, parameters
    for step in download(name):
        if progress:
            progress(step)
    folder = find_cached(name)
    if folder is None:
        raise broken(name, "safetensors")
    return folder, parameters


def check_known(names: Sequence[str], dtype: str, reclaimable: int = 0) -> None:
    """Refuse models of the catalogue by the sizes that are known, before the network is used: memory, then disk.

    Other names are passed over. `reclaimable`: bytes of memory in models that would be released for these.
    """
    known = [model for model in HUB_MODELS if model.name in names]
    sizes = [(model.name, model.parameters) for model in known]
    sizes += [(name, SMOLLM2_PARAMETERS) for name in names if is_missing(name)]
    check_memory([(name, needed_bytes(parameters, dtype)) for name, parameters in sizes], reclaimable)
    for model in known:
        if not find_cached(model.name):
            downloads.check_room(model.name, weight_bytes(model.parameters, "bfloat16"))  # its files take at least that


def download(name: str) -> Iterator[Progress]:
    """Download a model that is not on this machine yet, and yield the progress; nothing for one that is."""
    if name not in bundled_names() and not find_local(name):
        yield from fetch_smollm2() if name == SMOLLM2 else fetch(hub_id(name))


@dataclass(frozen=True, slots=True)
class DtypeChoice:
    model: str
    dtype: Dtype
    # by dtype, then by tokens in one pass; empty if nothing was measured, as float32 does not fit into memory ...
    seconds: dict[str, dict[int, float]]

    @property
    def other(self) -> Dtype:
        return next(dtype for dtype in BOTH_DTYPES if dtype != self.dtype)

    @property
    def reason(self) -> str:
        """One sentence."""
        if not self.seconds:
            return say("half", name=self.model)
        ms, other_ms = (1000 * both_passes(self.seconds[dtype]) for dtype in (self.dtype, self.other))
        return say("faster_dtype", name=self.model, dtype=self.dtype, ms=ms, other=self.other, other_ms=other_ms)

    @property
    def plain(self) -> str:
        """One more sentence, if plain decoding with this target is faster in the other format."""
        ms, other_ms = (1000 * self.seconds.get(dtype, {}).get(1, 0.0) for dtype in (self.dtype, self.other))
        if other_ms >= ms:
            return ""
        return say("plain_slower", other=self.other, speedup=2 * other_ms / ms)


def both_passes(seconds: Mapping[int, float]) -> float:
    return sum(seconds.get(k, 0.0) for k in CHOSEN_BY)


@cache
def choose_dtype(name: str) -> DtypeChoice:
    """Measure T(1) and T(5) in both dtypes, once for each model and process, and choose the faster one.

    If float32 does not fit into memory, nothing is measured.
    """
    known = known_models().get(name)
    needed = needed_bytes((known or inspect_model(name)[0]).parameters, "float32")
    try:
        check_memory([(name, needed)])
    except InputError:
        return DtypeChoice(name, "bfloat16", {})
    return measure_dtypes(name, CHOSEN_BY)


def measure_dtypes(name: str, lengths: Iterable[int]) -> DtypeChoice:
    """Measure passes of these lengths, 1 and 5 among them, in both dtypes; loads the model once for each."""
    lengths = list(lengths)
    seconds: dict[str, dict[int, float]] = {}
    for dtype in BOTH_DTYPES:
        loaded = read_model(name, dtype)
        seconds[dtype] = pass_seconds(loaded, [k for k in lengths if k < loaded.context])
        del loaded
    return DtypeChoice(name, min(BOTH_DTYPES, key=lambda dtype: both_passes(seconds[dtype])), seconds)
