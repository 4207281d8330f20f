"""How much memory a model needs, and how much there is."""

import ctypes
import sys
from pathlib import Path

import psutil

BYTES_OF = {"float32": 4, "bfloat16": 2}
WORKING_ROOM = 1.1  # room for the cache, the logits and intermediate results: a rule of thumb, not a measurement
CGROUP = Path("/sys/fs/cgroup")


def weight_bytes(parameters: int, dtype: str) -> int:
    """Memory that this many parameters take in a dtype; "auto" counts as float32, because it may choose that."""
    return parameters * BYTES_OF.get(dtype, 4)


def needed_bytes(parameters: int, dtype: str) -> int:
    """Memory that must be free before loading: the weights and a tenth more."""
    return int(weight_bytes(parameters, dtype) * WORKING_ROOM)


def available_bytes() -> int:
    """Memory that this process can still take: the machine's, or its container's if that is less."""
    machine, container = psutil.virtual_memory().available, _of_container()
    return machine if container is None else min(machine, container)


def shortage(names: str, needed: int) -> str | None:
    """Why models that need this many bytes do not fit into memory, and what would fit; None if they fit."""
    room = available_bytes()
    if needed <= room:
        return None
    return (
        f"{names} would take {in_words(needed)} of memory, but {in_words(room)} are free here: use smaller models, "
        f"bfloat16 (half of float32), or a machine with more memory."
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error, from Python or torch, says that memory ran out."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in str(error)
    )


def in_words(count: int) -> str:
    """A size for a person: megabytes below a gigabyte."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"


def _of_container() -> int | None:
    """What is left of the control group's limit, which psutil does not know; None without a limit.

    File pages that the kernel can drop count as free.
    """
    limit, used = _lines(CGROUP / "memory.max"), _lines(CGROUP / "memory.current")
    if not (limit and used and limit[0].isdigit()):  # "max" means no limit
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
    """Return free memory to the system; False if the C library cannot (glibc can).

    Loading converts every matrix and stores it again. Without this call the process keeps the memory that this frees:
    for the bundled target nearly as much as the weights themselves.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is None:
        return False
    trim(0)
    return True
