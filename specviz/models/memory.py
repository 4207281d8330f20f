"""How much memory a model needs, and how much there is."""

import ctypes
import os
import sys
from pathlib import Path

BYTES_OF = {"float32": 4, "bfloat16": 2}
WORKING_ROOM = 1.1  # the cache, the logits and what a forward pass makes in between: a rule of thumb, not a measurement
CGROUP = Path("/sys/fs/cgroup")


def weight_bytes(parameters: int, dtype: str) -> int:
    """Memory that many parameters take in a dtype; "auto" counts as float32, which it may turn out to be."""
    return parameters * BYTES_OF.get(dtype, 4)


def needed_bytes(parameters: int, dtype: str) -> int:
    """Memory to have before loading: the weights and a tenth on top."""
    return int(weight_bytes(parameters, dtype) * WORKING_ROOM)


def available_bytes() -> int | None:
    """Memory this process could still take: the machine's, or its container's where that is less; None if unknown."""
    known = [room for room in (_of_machine(), _of_container()) if room is not None]
    return min(known, default=None)


def shortage(names: str, needed: int) -> str | None:
    """Why models that need so many bytes do not fit into memory, and what would; None if they do."""
    room = available_bytes()
    if room is None or needed <= room:
        return None
    return (
        f"{names} would take {in_words(needed)} of memory and {in_words(room)} are free here: use smaller models, "
        f"bfloat16 (half of float32), or a machine with more."
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out: Python's, or one of torch's."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in str(error)
    )


def in_words(count: int) -> str:
    """A size for a person: megabytes below a gigabyte."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"


def _of_machine() -> int | None:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:  # no Linux: half of what is built in
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return None


def _of_container() -> int | None:
    """What is left of the control group's limit; file pages the kernel would drop count as free."""
    limit, used = _lines(CGROUP / "memory.max"), _lines(CGROUP / "memory.current")
    if not (limit and used and limit[0].isdigit()):  # "max" is no limit
        return None
    droppable = sum(
        int(line.split()[1]) for line in _lines(CGROUP / "memory.stat") if line.startswith("inactive_file ")
    )
    return max(0, int(limit[0]) - int(used[0]) + droppable)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []


def give_back() -> bool:
    """Hand memory that was needed for a moment only back to the system; False where the C library cannot (glibc can).

    Loading converts every matrix and stores it anew. What that leaves free stays with the process otherwise: nearly as
    much again as the weights themselves, for the bundled target.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is None:
        return False
    trim(0)
    return True
