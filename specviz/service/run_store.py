"""Finished runs, so that a class that opens one link sees one run, today and after the engine was started again.

A run is found by what was asked for (`latest`) or by its own id (`get`). Its file's name says both, and between them
the time (names of before have none): where one run is asked for, one file is read. A newer run of the same request
replaces the older one for `latest` only: a link to the older one still opens it, until there are three newer ones, or
the store is full and the oldest runs go.

The files are in a folder, or at a path of an object store through fsspec. Several servers may share them: each finds
what the others stored. A run that a server has in its own memory it does not look for there. A file appears whole or
not at all, under its own name; what a server still writes has a name that no reader asks for.
"""

import errno
import hashlib
import logging
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import itemgetter
from pathlib import Path
from threading import Lock
from time import time
from uuid import uuid4

from fsspec.core import url_to_fs  # type: ignore[import-untyped]
from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]
from pydantic import TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.files import write_whole
from specviz.core.operator_settings import operator_setting
from specviz.core.request import RunRequest
from specviz.core.trace import drop_candidates
from specviz.core.verdict import verdict_of_run
from specviz.service.job import RunResult, tokens_in

LARGEST_FILE = 32_000_000  # bytes; a larger one is not ours
ABANDONED = 3_600  # seconds after which a server that began such a file has surely ended
AHEAD = 3_600  # seconds by which another clock may be ahead; a time beyond that says nothing, and counts as the oldest
FULL = (errno.ENOSPC, errno.EDQUOT)
PREFIX = "new-"  # of files that are not complete
STORED = re.compile(r"-(\d+\.\d{6})-")  # in a name: when, in seconds since 1970
IN_MEMORY = 64  # runs
TOKENS_IN_MEMORY = 24_000  # drafted and emitted ones of all these runs, 1 to 2 kB each; one run may have more
ON_DISK = 500  # files
OF_ONE_REQUEST = 3  # files
DISK_BYTES = 200_000_000
BUSY_FOR = timedelta(minutes=5)
TRIAL = "trial"  # a file that is written and removed at start
ID = re.compile(r"[0-9a-f]{16}")

_log = logging.getLogger(__name__)


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

    def read(self, name: str) -> bytes:
        """The file's content; nothing where it is too large to be ours."""
        path = f"{self._path}/{name}"
        with _raise_os_errors():
            return b"" if self._files.size(path) > LARGEST_FILE else bytes(self._files.cat_file(path))

    def write(self, name: str, content: bytes) -> None:
        """Write a whole file. In a folder, only the server's user can read it: prompts are the visitors' own.

        Elsewhere it is written under a name that nobody reads, then moved: a single write may not be whole.
        """
        if isinstance(self._where, Path):
            self._where.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._where / name, content)
            return
        new = f"{self._path}/{PREFIX}{time():.6f}-{uuid4().hex}"
        with _raise_os_errors():
            self._files.makedirs(self._path, exist_ok=True)
            try:
                self._files.pipe_file(new, content)
                self._files.mv(new, f"{self._path}/{name}")
            except BaseException:
                with suppress(Exception):
                    self._files.rm_file(new)
                raise

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError), _raise_os_errors():  # another server may have been first
            self._files.rm_file(f"{self._path}/{name}")

    def used(self, name: str) -> None:
        """Note that the file was read, so that others are removed before it. An object's time cannot be changed."""
        if isinstance(self._where, Path):
            os.utime(self._where / name)

    def write_with_room(self, name: str, content: bytes) -> None:
        """Write a whole file. On a full disk the oldest runs go, as many as take its bytes, and no more for one run."""
        try:
            self.write(name, content)
        except OSError as error:
            if error.errno not in FULL:
                raise
            runs = self._runs()
            self.remove_oldest(len(runs), sum(size for _, _, size in runs) - len(content), name)
            self.write(name, content)

    def remove_oldest(self, most: int, most_bytes: int, newest: str) -> None:
        """Remove the oldest files where there are more, or where they take more, and what ended servers began.

        `newest` was written just now, and stays whatever the clocks say. Of its request two older ones stay.
        """
        total, runs = 0, sorted(self._runs(), key=lambda run: run[0] != newest)
        same = [name for name, _, _ in runs if name[:17] == newest[:17] and name != newest]  # the request is the start
        too_many = sorted(same, key=_time_in, reverse=True)[OF_ONE_REQUEST - 1 :]
        for place, (name, _, size) in enumerate(runs, start=1):
            total += size
            if place > most or total > most_bytes or name in too_many:
                self.remove(name)
        for name, written, _ in self.listed(PREFIX):
            if 0 < written < time() - ABANDONED:
                self.remove(name)

    def _runs(self) -> list[tuple[str, float, int]]:
        return [each for each in self.listed("", ".json") if "-" in each[0]]

    def listed(self, begin: str, end: str = "") -> list[tuple[str, float, int]]:
        """Names that begin and end so, when each was written or used (seconds since 1970), its bytes; newest first.

        No patterns: Python remembers each of the last 32,768, and each link of a visitor would be another one.
        """
        found: list[tuple[str, float, int]] = []
        with _raise_os_errors(), suppress(FileNotFoundError):  # nothing was ever written
            for details in self._files.ls(self._path, detail=True):
                name = str(details["name"]).rsplit("/", 1)[-1]
                if name.startswith(begin) and name.endswith(end):
                    written = details.get("mtime")  # of a folder: when it was used
                    written = written if isinstance(written, float) else _time_in(name)
                    known = written <= time() + AHEAD
                    found.append((name, written if known else 0.0, int(details.get("size") or 0)))
        return sorted(found, key=itemgetter(1), reverse=True)


def _time_in(name: str) -> float:
    """When a file was stored, as its name says it; 0 for a name of before."""
    found = STORED.search(name)
    return float(found[1]) if found else 0.0


@contextmanager
def _raise_os_errors() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(_first_sentence(error)) from error


def _first_sentence(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A finished run. `result.id` is its id; `result.trace` says when and where it was measured."""

    key: str  # see `service.sharing_key`
    request: RunRequest
    result: RunResult


_STORED: TypeAdapter[StoredRun] = TypeAdapter(StoredRun)


def answers(result: RunResult, now: datetime) -> bool:
    """Whether a stored run answers who asks for its settings now.

    One that was timed on a busy machine answers for a few minutes: if everybody measured again, it would stay busy.
    """
    verdict = verdict_of_run(result.trace)
    return not verdict or verdict.trusted or result.trace.created > (now - BUSY_FOR).isoformat(timespec="seconds")


def store_wanted() -> "RunStore":
    """The store that the operator asks for with SPECVIZ_RUNS: `memory`, a folder, or a URL for fsspec.

    What is named is tried now, not when the first run is over. Otherwise it is a folder in the user's cache.
    """
    named = operator_setting("SPECVIZ_RUNS")
    if named == "memory":
        return RunStore(None)
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    store = RunStore(named if "://" in named else Path(named or f"{cache}/specviz/runs").expanduser())
    if named and store.files:
        try:
            store.files.write(TRIAL, b"")
            store.files.remove(TRIAL)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"SPECVIZ_RUNS: runs cannot be stored in {store.files} ({reason}).") from None
    return store


class RunStore:
    """Bounded, in memory and on disk; a disk that fails is said in the log, and memory goes on. Safe between threads.

    `folder` is of the files, or a URL for fsspec; None stores in memory only. What was not written or opened for the
    longest time goes first.
    """

    def __init__(self, folder: Path | str | None) -> None:
        self.files = RunFiles(folder) if folder is not None else None
        self._runs: OrderedDict[str, StoredRun] = OrderedDict()  # by id; the most recently used at the end
        self._latest: dict[str, str] = {}  # ids in memory by key
        self._lock, self._reading = Lock(), Lock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="run-store")  # nobody waits for the disk

    def latest(self, key: str) -> StoredRun | None:
        with self._lock:
            known = self._latest.get(key)
        return (self.get(known) if known else None) or self._find(f"{_short(key)}-", ".json", key)

    def get(self, run_id: str) -> StoredRun | None:
        if not ID.fullmatch(run_id):
            return None
        with self._lock:
            if run := self._runs.get(run_id):
                self._runs.move_to_end(run_id)
                return run
        return self._find("", f"-{run_id}.json")

    def _find(self, begin: str, end: str, key: str | None = None) -> StoredRun | None:
        """The newest run whose file's name begins and ends so; where names have no time, the one that was used last."""
        for name in sorted(self._sizes(begin, end), key=_time_in, reverse=True):
            run = self._load(name)
            if run and self.files and key in (None, run.key):
                with suppress(OSError):  # a folder that cannot be written still gives its runs
                    self.files.used(name)  # others go first
                self._remember(run, newest=key is not None)
                return run
        return None

    def each(self, ids: Iterable[str], most_bytes: int) -> Iterator[StoredRun | None]:
        """These runs, one after the other; None for one that is gone. It ends before it reads more than so many bytes.

        What is read is slim, and not remembered: a list names more runs than there is memory for.
        """
        sizes = self._sizes("", ".json")
        names = {name[-21:-5]: name for name in sizes}  # a run's id is the end
        for run_id in ids:
            with self._lock:
                run = self._runs.get(run_id)
            if run is None and (name := names.get(run_id)):
                most_bytes -= sizes[name]
                if most_bytes < 0:
                    return
                run = self._load(name, slim=True)
            yield run

    def save(self, key: str, request: RunRequest, result: RunResult) -> RunResult:
        # what differs between two runs of the same request: their times
        times = f"{key} {result.trace.created} {[round.seconds for round in result.trace.rounds]}"
        named = replace(result, id=_short(times))
        run = StoredRun(key, request, named)
        self._remember(run, newest=True)
        if self.files:
            self._writer.submit(self._write, self.files, run)
        return named

    def close(self) -> None:
        self._writer.shutdown()

    def _remember(self, run: StoredRun, *, newest: bool) -> None:
        with self._lock:
            self._runs[run.result.id] = run
            if newest:
                self._latest[run.key] = run.result.id
            tokens = sum(tokens_in(one.result.trace) for one in self._runs.values())
            while len(self._runs) > IN_MEMORY or (len(self._runs) > 1 and tokens > TOKENS_IN_MEMORY):
                old_id, old = self._runs.popitem(last=False)
                tokens -= tokens_in(old.result.trace)
                if self._latest.get(old.key) == old_id:
                    del self._latest[old.key]

    def _sizes(self, begin: str, end: str) -> dict[str, int]:
        """The files whose names begin and end so, those that were used last first, and their bytes."""
        try:
            return {name: size for name, _, size in self.files.listed(begin, end)} if self.files else {}
        except OSError as error:
            _log.warning("Stored runs cannot be looked for in %s: %s", self.files, error)
            return {}

    def _load(self, name: str, *, slim: bool = False) -> StoredRun | None:
        """The run in this file; None for a file that is damaged or of another version.

        A run takes ten times its file: one at a time is whole before it is `slim`, whoever asks for them.
        """
        assert self.files
        with suppress(OSError, ValidationError):
            content = self.files.read(name)
            with self._reading:
                run = _STORED.validate_json(content)
                if slim:  # what the run's figures need, a tenth of it
                    run = replace(run, result=RunResult(drop_candidates(run.result.trace), id=run.result.id))
                if run.result.id in name:
                    return run
        return None

    def _write(self, files: RunFiles, run: StoredRun) -> None:
        name = f"{_short(run.key)}-{time():.6f}-{run.result.id}.json"
        try:
            files.write_with_room(name, _STORED.dump_json(run))
            files.remove_oldest(ON_DISK, DISK_BYTES, name)
        except OSError as error:
            _log.warning("A run cannot be stored in %s: %s", files, error)
        except Exception:  # the executor would hide it
            _log.exception("A run cannot be stored in %s.", files)


def _short(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:16]
