"""The folder of downloaded models: specviz's own, so that it may remove what was not used for the longest time.

It lies in the Hub's cache. Models that other programs store there are found and read too, and never removed.
"""

import errno
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from time import time

from huggingface_hub import constants
from huggingface_hub.utils import WeakFileLock

from specviz.core.errors import InputError
from specviz.core.names import show_size
from specviz.core.operator_settings import operator_setting
from specviz.core.texts import Sentences

say = Sentences("models")

RESERVE_BYTES = 2 * 10**9  # of the disk, never used by a download: finished runs, logs and the system need room too
BRIEFLY = 0.05  # seconds to wait for a lock that its owner holds all the time
IN_USE_SECONDS = 600  # what was loaded or grew so lately is not removed: a process may be about to read it

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    model: str
    bytes_done: int
    bytes_total: int


Report = Callable[[Progress], None]


def folder() -> Path:
    """Where downloads are stored, in the layout of the Hub's cache."""
    return Path(constants.HF_HUB_CACHE) / "specviz"


def limit_bytes() -> int:
    """What all downloads together may take: SPECVIZ_CACHE_GB."""
    return int(operator_setting("SPECVIZ_CACHE_GB")) * 10**9  # all models of the catalogue would take 18 in float32


def note_use(name: str) -> None:
    """A downloaded model is needed now: no process removes it for a while."""
    with suppress(OSError):
        os.utime(_model(name))


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


def check_room(name: str, size: int) -> list[Path]:
    """The models to remove so that this one of so many bytes fits beside the others, the least recently used first.

    Raises InputError: it would not fit.
    """
    limit, own = limit_bytes(), _model(name)
    if size > limit:
        raise InputError(say("larger_than_store", name=name, size=show_size(size), most=show_size(limit)))
    looked = {model: _look_at(model) for model in folder().glob("models--*")}
    stored = {model: size for model, (size, _) in looked.items()}
    unused = [model for model, (_, used) in looked.items() if model != own and time() - used > IN_USE_SECONDS]
    unused.sort(key=lambda model: looked[model][1])
    missing = size - stored.get(own, 0)
    check_free(name, missing, folder(), sum(stored[model] for model in unused))
    too_much = max(sum(stored.values()) + missing - limit, missing + RESERVE_BYTES - _free(folder()))
    removed = []
    for model in unused:
        if too_much > 0:
            removed.append(model)
            too_much -= stored[model]
    if too_much > 0:
        raise InputError(say("no_room", name=name))
    return removed


def check_free(name: str, needed: int, place: Path, removable: int = 0) -> None:
    """Refuse what needs more bytes of the disk of this folder than are free, or can be, beside the reserve."""
    room = _free(place) - RESERVE_BYTES + removable
    if needed > room:
        free, reserve = show_size(max(0, room)), show_size(RESERVE_BYTES)
        raise InputError(say("disk_too_full", name=name, needed=show_size(needed), free=free, reserve=reserve))


def make_room(name: str, size: int) -> None:
    """Remove models, the least recently used first, until this one of so many bytes fits beside the others."""
    with lock("all", 10.0):
        for half in folder().glob("removed-*"):  # a process ended while it removed it
            shutil.rmtree(half, ignore_errors=True)
        for model in check_room(name, size):
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


def _look_at(model: Path) -> tuple[int, float]:
    """Its bytes, and when it was last used or grew; a file that another process moves meanwhile is passed over."""
    found = []
    for place, _, names in os.walk(model):
        for each in (place, *(f"{place}/{name}" for name in names)):
            with suppress(OSError):
                found.append(os.lstat(each))
    last_use = max((each.st_mtime for each in found), default=0.0)
    return sum(each.st_size for each in found if S_ISREG(each.st_mode)), last_use


def _free(place: Path) -> int:
    place.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(place).free
