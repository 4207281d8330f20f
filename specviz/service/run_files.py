"""Where the files of finished runs are: a folder, or a path of an object store through fsspec.

Several servers may share them. A file appears whole or not at all, under its own name; what a server still writes has a
name that no reader asks for.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from fnmatch import fnmatch
from operator import itemgetter
from pathlib import Path
from time import time
from typing import Any
from uuid import uuid4

from fsspec.core import url_to_fs  # type: ignore[import-untyped]
from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]

from specviz.core.errors import InputError
from specviz.core.files import write_whole

LARGEST_FILE = 32_000_000  # bytes; a larger one is not ours
ABANDONED = 3_600  # seconds after which a server that began such a file has surely ended
PREFIX = "new-"  # of files that are not complete
# What file systems call the time of a file's last change, in the order in which they are asked.
TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")


class RunFiles:
    """The files in a folder, or at a URL for fsspec. A folder is made when it is first needed.

    Every method raises OSError where the store does not answer.
    """

    def __init__(self, where: Path | str) -> None:
        self._where = where
        try:
            options = {"use_listings_cache": False}
            self._files, path = (LocalFileSystem(), where) if isinstance(where, Path) else url_to_fs(where, **options)
        except (ImportError, ValueError) as error:
            raise InputError(f"Runs cannot be stored at {str(where)[:80]!r}: {_first_sentence(error)}") from None
        self._path = str(path).rstrip("/")

    def __str__(self) -> str:
        return str(self._where)

    def read(self, name: str) -> bytes | None:
        """The file's content; None where it is too large to be ours."""
        path = f"{self._path}/{name}"
        with _as_os_errors():
            return None if self._files.size(path) > LARGEST_FILE else bytes(self._files.cat_file(path))

    def write(self, name: str, content: bytes) -> None:
        """Write a whole file. In a folder, only the server's user can read it: prompts are the visitors' own.

        Elsewhere it is written under a name that nobody reads, then moved: a single write may not be whole.
        """
        if isinstance(self._where, Path):
            self._where.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._where / name, content)
            return
        new = f"{self._path}/{PREFIX}{uuid4().hex}"
        with _as_os_errors():
            self._files.makedirs(self._path, exist_ok=True)
            try:
                self._files.pipe_file(new, content)
                self._files.mv(new, f"{self._path}/{name}")
            except BaseException:
                with suppress(Exception):
                    self._files.rm_file(new)
                raise

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError), _as_os_errors():  # another server may have been first
            self._files.rm_file(f"{self._path}/{name}")

    def used(self, name: str) -> None:
        """Note that the file was read, so that others are removed before it. An object's time cannot be changed."""
        if isinstance(self._where, Path):
            os.utime(self._where / name)

    def remove_oldest(self, most: int, most_bytes: int) -> None:
        """Remove the oldest files where there are more, or where they take more, and what ended servers began."""
        total = 0
        for place, (name, _, size) in enumerate(self.listed("*-*.json"), start=1):
            total += size
            if place > most or total > most_bytes:
                self.remove(name)
        for name, written, _ in self.listed(f"{PREFIX}*"):
            if time() - written > ABANDONED:
                self.remove(name)

    def listed(self, pattern: str) -> list[tuple[str, float, int]]:
        """Names that fit (`*` is any text), when each was written (seconds since 1970) and its bytes; newest first."""
        found: list[tuple[str, float, int]] = []
        if isinstance(self._where, Path):
            for file in self._where.glob(pattern):
                with suppress(OSError):  # another server may have removed it
                    status = file.stat()
                    found.append((file.name, status.st_mtime, status.st_size))
        else:
            with _as_os_errors(), suppress(FileNotFoundError):  # nothing was ever written
                for details in self._files.ls(self._path, detail=True):
                    name = str(details["name"]).rsplit("/", 1)[-1]
                    if fnmatch(name, pattern):
                        found.append((name, _time_of(details), int(details.get("size") or 0)))
        return sorted(found, key=itemgetter(1), reverse=True)


@contextmanager
def _as_os_errors() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(_first_sentence(error)) from error


def _first_sentence(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _time_of(details: dict[str, Any]) -> float:
    """When the file was written, in seconds since 1970; 0 where the store does not say."""
    value = next((details[key] for key in TIMES if details.get(key)), 0.0)
    with suppress(ValueError):
        value = datetime.fromisoformat(value) if isinstance(value, str) else value
    return value.timestamp() if isinstance(value, datetime) else float(value) if isinstance(value, int | float) else 0.0
