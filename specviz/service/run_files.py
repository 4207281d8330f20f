"""Where the files of finished runs are: a folder, or a path of an object store through fsspec.

Several servers may share them. A file appears whole or not at all, under its own name; what a server still writes has a
name that no reader asks for.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from time import time
from typing import Any
from uuid import uuid4

from fsspec.core import url_to_fs  # type: ignore[import-untyped]

from specviz.core.errors import InputError
from specviz.core.files import write_whole

LARGEST_FILE = 32_000_000  # bytes; a larger one is not ours
ABANDONED = 3_600  # seconds after which a server that began such a file has surely ended
PREFIX = "new-"  # of files that are not complete
# What file systems call the time of a file's last change, in the order in which they are asked.
TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")


class FolderFiles:
    """A folder of this machine, or one that several machines share. It is made when it is first needed.

    Every method raises OSError where the store does not answer; `ObjectFiles` has the same methods.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    def names(self, pattern: str) -> list[str]:
        """The files whose names fit the pattern (`*` is any text), the newest first."""
        return [file.name for file in sorted(self._folder.glob(pattern), key=_modified, reverse=True)]

    def read(self, name: str) -> bytes | None:
        """The file's content; None where it is too large to be ours."""
        file = self._folder / name
        return None if file.stat().st_size > LARGEST_FILE else file.read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Write a whole file that only the server's user can read: prompts are the visitors' own."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(self._folder / name, content)

    def remove(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)

    def used(self, name: str) -> None:
        """Note that the file was read, so that others are removed before it."""
        os.utime(self._folder / name)

    def remove_oldest(self, most: int, most_bytes: int) -> None:
        """Remove the oldest files where there are more, or where they take more."""
        total = 0
        for place, name in enumerate(self.names("*-*.json"), start=1):
            with suppress(OSError):  # another server may share the folder
                total += (self._folder / name).stat().st_size
                if place > most or total > most_bytes:
                    (self._folder / name).unlink()


class ObjectFiles:
    """Files of any store that fsspec knows, such as s3://bucket/runs or gs://bucket/runs.

    Raises:
        InputError: the kind of store is not known here, or the package for it is not installed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._files, path = url_to_fs(url, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise InputError(f"Runs cannot be stored at {url[:80]!r}: {_first_sentence(error)}") from None
        self._path = str(path).rstrip("/")

    def __str__(self) -> str:
        return self._url

    def names(self, pattern: str) -> list[str]:
        return [name for name, _ in self._listed(pattern)]

    def read(self, name: str) -> bytes | None:
        with _as_os_errors():
            path = f"{self._path}/{name}"
            return None if self._files.size(path) > LARGEST_FILE else bytes(self._files.cat_file(path))

    def write(self, name: str, content: bytes) -> None:
        """Write under a name that nobody reads, then move. Stores differ in whether a single write is whole."""
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
        """Nothing: an object's time is the time when it was written."""

    def remove_oldest(self, most: int, most_bytes: int) -> None:
        """See `RunFiles`. What servers began that have ended goes too."""
        total = 0
        for place, (name, details) in enumerate(self._listed("*-*.json"), start=1):
            total += int(details.get("size") or 0)
            if place > most or total > most_bytes:
                self.remove(name)
        for name, details in self._listed(f"{PREFIX}*"):
            if time() - _time_of(details) > ABANDONED:
                self.remove(name)

    def _listed(self, pattern: str) -> list[tuple[str, dict[str, Any]]]:
        """Names that fit and what the store says of them, the newest first."""
        with _as_os_errors():
            try:
                found = self._files.ls(self._path, detail=True)
            except FileNotFoundError:  # nothing was ever written
                return []
        named = [(str(details["name"]).rsplit("/", 1)[-1], details) for details in found]
        fitting = [(name, details) for name, details in named if fnmatch(name, pattern)]
        return sorted(fitting, key=lambda pair: _time_of(pair[1]), reverse=True)


RunFiles = FolderFiles | ObjectFiles


def run_files(where: Path | str) -> RunFiles:
    """The files in this folder, or at this URL, such as s3://bucket/runs.

    Raises:
        InputError: the URL names a kind of store that is not known here.
    """
    return FolderFiles(where) if isinstance(where, Path) else ObjectFiles(where)


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


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _time_of(details: dict[str, Any]) -> float:
    """When the file was written, in seconds since 1970; 0 where the store does not say."""
    value = next((details[key] for key in TIMES if details.get(key)), 0.0)
    with suppress(ValueError):
        value = datetime.fromisoformat(value) if isinstance(value, str) else value
    return value.timestamp() if isinstance(value, datetime) else float(value) if isinstance(value, int | float) else 0.0
