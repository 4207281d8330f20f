"""Load a model and its tokenizer: bundled name, local folder or Hub id. Safetensors only, never remote code."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from huggingface_hub import HfApi, try_to_load_from_cache
from huggingface_hub.errors import HFValidationError
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from specviz.errors import InputError
from specviz.models.catalogue import MODELS_FOLDER, bundled_names, weights_hash
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
        return int(getattr(self.model.config.get_text_config(), "max_position_embeddings", 2**31))

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
    with _one_sentence(name), _no_progress_bars():
        options: dict[str, Any] = {"local_files_only": offline, "trust_remote_code": False}
        tokenizer = AutoTokenizer.from_pretrained(place, **options)
        model = AutoModelForCausalLM.from_pretrained(place, dtype=DTYPES[dtype], use_safetensors=True, **options)
    model.eval()  # type: ignore[no-untyped-call]
    model.requires_grad_(False)
    info = ModelInfo(name, model.num_parameters(), dtype, _weights_hash(model, place))
    return LoadedModel(model, tokenizer, name, info)


def _locate(name: str) -> tuple[str, bool]:
    """Where to load from, and whether the network is out of bounds."""
    if name in bundled_names():
        return str(MODELS_FOLDER / name), True
    folder = Path(name).expanduser()
    if folder.is_dir():
        _check_folder(folder)
        return str(folder), True
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name) or ".." in name:
        known = ", ".join(bundled_names())
        raise InputError(f"There is no model named {name[:100]!r}: use {known}, a folder, or a Hub id (owner/name).")
    return name, not _reachable(name)


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
        if (Path(name)).is_dir() or name in bundled_names():
            raise InputError(f"{name} cannot be loaded: {_first_line(error)}") from error
        raise InputError(f"{name} was not found on the Hub, or the Hub cannot be reached from here.") from error
    except (ValueError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise InputError(f"{name} is not a causal language model that can be loaded: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    shown = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _weights_hash(model: PreTrainedModel, place: str) -> str:
    """The hash of the weight files; of a Hub model, its commit."""
    if Path(place).is_dir():
        return weights_hash(Path(place))
    return str(getattr(model.config, "_commit_hash", None) or "unknown")[:16]
