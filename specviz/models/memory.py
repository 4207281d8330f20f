"""How much memory a model needs, and how much there is."""

from pathlib import Path

import psutil

from specviz.core.names import show_size
from specviz.models.catalogue import weight_bytes

WORKING_ROOM = 1.1  # room for the cache, the logits and intermediate results: a rule of thumb, not a measurement
CGROUP = Path("/sys/fs/cgroup")


# Of versions 2 and 1 of control groups, the files of a container's memory: its limit, what is used, and statistics,
# with the line that counts droppable file pages.
FILES = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)


def needed_bytes(parameters: int, dtype: str) -> int:
    return int(weight_bytes(parameters, dtype) * WORKING_ROOM)


def available_bytes() -> int:
    """Memory that this process can still take: the machine's, or its container's if that is less."""
    machine, container = psutil.virtual_memory().available, _read_container_limit()
    return machine if container is None else min(machine, container)


def shortage(needed: int) -> tuple[str, str] | None:
    """How much so many bytes are, and how much is free, where that is less; None if they fit."""
    room = available_bytes()
    return None if needed <= room else (show_size(needed), show_size(room))


def is_out_of_memory(error: BaseException) -> bool:
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in str(error)
    )


def _read_container_limit() -> int | None:
    """What is left of the control group's limit, which psutil does not know; None without a limit.

    File pages that the kernel can drop count as free.
    """
    for *files, droppable in FILES:
        limit, used, stat = (_lines(CGROUP / file) for file in files)
        if limit and used and limit[0].isdigit() and used[0].isdigit():  # "max" means no limit
            freed = sum(int(line.split()[1]) for line in stat if line.split()[:1] == [droppable])
            return max(0, int(limit[0]) - int(used[0]) + freed)
    return None


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
