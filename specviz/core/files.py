"""Where the app's own files are, how a file is replaced in one step, and how one that a person names is read."""

import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.once import cache_once

KIND = TypeVar("KIND")

_PREFIX = "new-"
_ABANDONED = 3_600  # seconds after which a process that began such a file has surely ended


def write_whole(target: Path, content: bytes | Iterable[bytes], mode: int = 0o600) -> None:
    """Write a file through a temporary one beside it, so that nobody reads half of it.

    Where that raises an OSError, because the disk is full for example, an older file stays as it was, and the temporary
    file is removed; those of processes that were killed go with the next write.
    """
    for other in target.parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > _ABANDONED:
                other.unlink()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_PREFIX)
    new = Path(name)
    try:
        with open(handle, "wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
        new.chmod(mode)
        os.replace(new, target)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def content_of(file: Path, most: int) -> bytes:
    """What is in a file; one byte more than `most` where it is larger, also where its size says nothing of it."""
    try:
        with file.open("rb") as opened:
            return opened.read(most + 1)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or type(error).__name__}.") from error


def text_of(file: Path, most: int) -> str:
    """The text in a file of at most so many bytes, with its own ends of lines."""
    content = content_of(file, most)
    if len(content) > most:
        raise InputError(f"{file} is larger than {most // 10**6} MB.")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8 text.") from None


PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = (PACKAGE / "assets").is_dir()

# Bundled models and recorded runs; beside them what runs in a browser, what people read, and stored figures.
ASSETS = (PACKAGE if _INSTALLED else PACKAGE.parent) / "assets"
BROWSER, TEXTS, MEASURED = ASSETS / "browser", ASSETS / "texts", ASSETS / "measured"
# What benchmarks measured, where a page shows it.
RESULTS = PACKAGE / "results" if _INSTALLED else PACKAGE.parent / "benchmarks" / "results"
# The loop that decodes several texts at once, as a page shows it; the app does not run it.
BATCH_CODE = (PACKAGE if _INSTALLED else PACKAGE.parent) / "benchmarks" / "batching" / "rounds.py"
# The folder that Streamlit runs: app.py, pages/, .streamlit/config.toml, and static/, which the app fills.
APP_FOLDER = PACKAGE / "webapp" if _INSTALLED else PACKAGE.parent


def read_once(missing: str, otherwise: Any = None) -> Callable[[Callable[[], KIND]], Callable[[], KIND]]:
    """Of a reader of a file of the app: reads once. Where that is missing or damaged, the log says `missing`."""

    def reads_once(read: Callable[[], KIND]) -> Callable[[], KIND]:
        @cache_once
        @wraps(read)
        def content() -> KIND:
            try:
                return read()
            except (OSError, ValueError, LookupError) as error:
                logging.getLogger(read.__module__).error("%s: %s", missing, error)
                found: KIND = otherwise
                return found

        return content

    return reads_once


def read_stored(path: Path, kind: type[KIND], what: str) -> KIND:
    """What the file holds; InputError if it is missing, damaged or no `kind`. `what` it is, as in "the sweep"."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes(), strict=True)
    except (OSError, ValidationError) as error:
        raise InputError(f"{path.name}, {what}, cannot be read: {type(error).__name__}.") from error
