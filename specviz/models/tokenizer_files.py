"""Where the tokenizers of models lie on this machine. Never imports the Hub's client: the web server asks."""

import os
from pathlib import Path

from specviz.models.allowed import is_allowed, offered_names
from specviz.models.catalogue import MODELS_FOLDER, bundled_names
from specviz.models.folders import find_folder

FILE = "tokenizer.json"


def with_tokenizer() -> list[str]:
    """The models of the menus whose tokenizer is on this machine."""
    return [name for name in offered_names() if tokenizer_file(name)]


def tokenizer_file(name: str) -> Path | None:
    """The tokenizer.json of a model that a visitor may name; None where it is not here. Nothing is downloaded."""
    if name in bundled_names():
        return MODELS_FOLDER / name / FILE
    if not is_allowed(name):
        return None
    folder = find_folder(name)
    found = [folder / FILE] if folder else _downloaded(name)
    return next((file for file in found if file.is_file()), None)


def _downloaded(name: str) -> list[Path]:
    """In the Hub's cache, ours first; the newest version first."""
    stored = f"models--{name.replace('/', '--')}/snapshots/*/{FILE}"
    caches = (hub_cache() / "specviz", hub_cache())
    return [file for cache in caches for file in sorted(cache.glob(stored), key=os.path.getmtime, reverse=True)]


def hub_cache() -> Path:
    """The folder that huggingface_hub calls HF_HUB_CACHE, from the same variables."""
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{caches}/huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or f"{home}/hub").expanduser()
