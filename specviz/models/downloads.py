"""The folder of downloaded models: specviz's own, so that it may remove what was not used for the longest time.

It lies in the Hub's cache. Models that other programs store there are found and read too, and never removed.
"""

import errno
import logging
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import constants
from huggingface_hub.utils import WeakFileLock

from specviz.core.errors import InputError
from specviz.core.names import show_size
from specviz.core.operator_settings import operator_setting
from specviz.core.texts import Sentences

say = Sentences("models")

RESERVE_BYTES = 2 * 10**9  # of the disk, never used by a download: finished runs, logs and the system need room too
BRIEFLY = 0.05  # seconds to wait for a lock that its owner holds all the time
ALL = "all", 10.0  # the lock of the only process that takes or removes models, for a moment; seconds to wait for it

_log = logging.getLogger(__name__)
_held: dict[str, ExitStack] = {}  # the models that this process uses; each is locked, so that no process removes it


@dataclass(frozen=True, slots=True)
class Progress:
    model: str
    bytes_done: int
    bytes_total: int
    files_done: int
    files_total: int


def folder() -> Path:
    """Where downloads are stored, in the layout of the Hub's cache."""
    return Path(constants.HF_HUB_CACHE) / "specviz"


def limit_bytes() -> int:
    """What all downloads together may take: SPECVIZ_CACHE_GB."""
    return int(operator_setting("SPECVIZ_CACHE_GB")) * 10**9  # all models of the catalogue would take 18 in float32


def acquire(name: str) -> None:
    """Note that this process uses a downloaded model, until `release`: no process removes it, and it counts as used."""
    model = _model(name)
    if name not in _held and model.is_dir():
        with lock(*ALL), ExitStack() as held:
            held.enter_context(lock(f"{model.name}.{os.getpid()}"))
            _held[name] = held.pop_all()
    with suppress(OSError):
        os.utime(model)


def release(keep: Collection[str] = ()) -> None:
    for name in [name for name in _held if name not in keep]:
        _held.pop(name).close()


def broken(name: str, where: str) -> InputError:
    """Why a model is refused; `where`: the field, the tensor or the file that shows it."""
    return InputError(say("broken", name=name, where=repr(where[:120])[1:-1]))


def explain_storing(name: str, error: OSError | RuntimeError) -> InputError:
    """Why a download cannot be stored here. A RuntimeError is what `Path` raises where there is no home folder."""
    if isinstance(error, TimeoutError):
        return InputError(say("other_program", name=name))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InputError(say("disk_full", name=name))
    problem = error.strerror or type(error).__name__ if isinstance(error, OSError) else error
    return InputError(say("cannot_store", name=name, problem=problem))


def check_room(name: str, size: int) -> None:
    """Refuse a model of this size in bytes that would not fit even if all others were removed."""
    limit, stored = limit_bytes(), _bytes(_model(name))
    if size > limit:
        raise InputError(say("larger_than_store", name=name, size=show_size(size), most=show_size(limit)))
    check_free(name, size - stored, folder(), sum(_bytes(model) for model in _removable(name)))


def check_free(name: str, needed: int, place: Path, removable: int = 0) -> None:
    """Refuse what needs more bytes of the disk of this folder than are free, or can be, beside the reserve."""
    room = _free(place) - RESERVE_BYTES + removable
    if needed > room:
        free, reserve = show_size(max(0, room)), show_size(RESERVE_BYTES)
        raise InputError(say("disk_too_full", name=name, needed=show_size(needed), free=free, reserve=reserve))


def make_room(name: str, size: int) -> None:
    """Remove models, the least recently used first, until this one of so many bytes fits beside the others."""
    check_room(name, size)
    missing = size - _bytes(_model(name))
    with lock(*ALL):
        for half in folder().glob("removed-*"):  # a process ended while it removed it
            shutil.rmtree(half, ignore_errors=True)
        unused = _removable(name)
        stored = sum(_bytes(model) for model in folder().glob("models--*"))
        too_much = max(stored + missing - limit_bytes(), missing + RESERVE_BYTES - _free(folder()))
        if too_much > sum(_bytes(model) for model in unused):
            raise InputError(say("no_room", name=name))
        while too_much > 0:
            model = unused.pop(0)
            too_much -= _bytes(model)
            _log.info("%s is removed to make room.", model.name)
            shutil.rmtree(model.rename(model.with_name(f"removed-{model.name}")), ignore_errors=True)


@contextmanager
def lock(name: str, seconds: float = BRIEFLY) -> Iterator[None]:
    """Keep other processes from what this name stands for; the system opens the lock when a process ends.

    Raises TimeoutError: another process has it for longer than that.
    """
    file = folder() / ".locks" / f"{name}.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    with WeakFileLock(file, timeout=seconds):
        yield


def _model(name: str) -> Path:
    return folder() / f"models--{name.replace('/', '--')}"


def _removable(name: str) -> list[Path]:
    """The downloaded models, except this one, that no process uses; the least recently used first."""
    found = [model for model in folder().glob("models--*") if model != _model(name) and not _is_in_use(model)]
    return sorted(found, key=lambda model: model.stat().st_mtime)


def _is_in_use(model: Path) -> bool:
    if any(_model(name) == model for name in _held):
        return True
    for file in (folder() / ".locks").glob(f"{model.name}.*.lock"):
        try:
            with lock(file.name.removesuffix(".lock")):
                file.unlink()  # its process has ended
        except TimeoutError:
            return True
    return False


def _bytes(path: Path) -> int:
    files = (file for file in path.rglob("*") if not file.is_symlink())
    return sum(file.stat().st_size for file in files if file.is_file())


def _free(place: Path) -> int:
    place.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(place).free
