"""Load a model and its tokenizer: bundled name, local folder or Hub id. Safetensors only, never remote code."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any, Literal

import torch
from huggingface_hub import HfApi, try_to_load_from_cache
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils._validators import validate_repo_id
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from specviz.errors import InputError
from specviz.models.catalogue import MODELS_FOLDER, bundled_names, weights_hash
from specviz.models.layout import store_columns_first
from specviz.trace import ModelInfo

Dtype = Literal["float32", "bfloat16", "auto"]
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A causal language model ready to decode, with its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    info: ModelInfo

    @property
    def context(self) -> int:
        """Most tokens it can read, prompt and output together."""
        # transformers maps other names for it (n_positions, ...) to this one
        limit = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return int(limit) if limit and limit > 0 else 2**31  # some have none, and say so with -1

    @property
    def bytes(self) -> int:
        """Memory its weights take."""
        return sum(weight.numel() * weight.element_size() for weight in self.model.parameters())

    @property
    def end_ids(self) -> frozenset[int]:
        """Token ids that end the text."""
        ends = self.model.generation_config.eos_token_id if self.model.generation_config else None
        ends = self.tokenizer.eos_token_id if ends is None else ends
        return frozenset([ends] if isinstance(ends, int) else ends or [])


def load_model(name: str, dtype: Dtype = "float32") -> LoadedModel:
    """Load a model by bundled name, local folder or Hub id.

    Args:
        name: bundled names win over folders, folders over Hub ids; a bundled name never touches the network.
        dtype: "float32" is exact; "auto" is whichever has the smaller T(1) + T(5) on this machine.

    Raises:
        InputError: there is no such model, or it is not a usable one; one sentence.
    """
    if dtype == "auto":
        from specviz.models.calibration import quicker_dtype  # calibration loads models itself

        dtype = quicker_dtype(name)
    if dtype not in DTYPES:
        raise InputError(f"dtype must be float32, bfloat16 or auto, not {dtype}.")
    place, offline = _locate(name)
    with _one_sentence(name), _quiet():
        options: dict[str, Any] = {"local_files_only": offline, "trust_remote_code": False}
        tokenizer = AutoTokenizer.from_pretrained(place, **options)
        options |= {"dtype": DTYPES[dtype], "use_safetensors": True, "output_loading_info": True}
        both: Any = AutoModelForCausalLM.from_pretrained(place, **options)
        model, report = both
        if missing := sorted(report["missing_keys"]):  # they would be filled with random numbers
            raise InputError(f"{name} is incomplete: its config.json asks for {missing[0]}, and no weights have it.")
    model.eval()
    model.requires_grad_(False)
    store_columns_first(model)
    info = ModelInfo(name, model.num_parameters(), dtype, _weights_hash(model, place))
    return LoadedModel(model, tokenizer, name, info)


def _locate(name: str) -> tuple[str, bool]:
    """Where to load from, and whether the network is out of bounds."""
    if name in bundled_names():
        return str(MODELS_FOLDER / name), True
    if folder := _folder(name):
        _check_folder(folder)
        return str(folder), True
    if not _is_hub_id(name):
        known = ", ".join(bundled_names())
        raise InputError(f"There is no model named {name[:100]!r}: use {known}, a folder, or a Hub id (owner/name).")
    return name, not _reachable(name)


def _folder(name: str) -> Path | None:
    try:
        folder = Path(name).expanduser()
        return folder if name and folder.is_dir() else None
    except (OSError, RuntimeError):  # a name too long for a file, a home that is not there
        return None


def _is_hub_id(name: str) -> bool:
    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return re.fullmatch(r"[\w.-]+/[\w.-]+", name) is not None


def _reachable(name: str) -> bool:
    """Whether the Hub has the model and answers; asked once, before the libraries retry for a minute."""
    try:
        HfApi().model_info(name, timeout=10)
        return True
    except Exception as error:  # of every kind a network has
        if isinstance(try_to_load_from_cache(name, "config.json"), str):
            return False  # what was downloaded before still loads
        raise InputError(f"{name} was not found on the Hub, or the Hub cannot be reached from here.") from error


def _check_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder} is no model: it has no config.json.")
    if not any(folder.glob("*.safetensors")):
        raise InputError(f"{folder} has no weights in safetensors, the only format that is loaded.")


@contextmanager
def _one_sentence(name: str) -> Iterator[None]:
    """Turn what loading raises into a sentence about the model (the libraries' own texts run to paragraphs)."""
    try:
        yield
    except InputError:
        raise
    except (OSError, HFValidationError) as error:
        if _folder(name) or name in bundled_names():
            raise InputError(f"{name} cannot be loaded: {_in_short(error)}") from error
        raise InputError(f"{name} was not found on the Hub, or the Hub cannot be reached from here.") from error
    except MemoryError:
        raise
    except Exception as error:  # of every kind that a broken file can provoke in four libraries
        if "ignore_mismatched_sizes" in str(error):
            raise InputError(f"{name} cannot be loaded: its config.json and its weights differ in size.") from error
        raise InputError(f"{name} is not a causal language model that can be loaded: {_in_short(error)}") from error


def _in_short(error: Exception) -> str:
    return shorten(str(error) or type(error).__name__, 200, placeholder=" …")


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars, and no report on the standard error: what is wrong with a model is told in one sentence."""
    bars, verbosity = transformers_logging.is_progress_bar_enabled(), transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _weights_hash(model: PreTrainedModel, place: str) -> str:
    """The hash of the weight files; of a Hub model, its commit."""
    if Path(place).is_dir():
        return weights_hash(Path(place))
    return str(getattr(model.config, "_commit_hash", None) or "unknown")[:16]
