"""How much memory a model needs, and how much there is."""

from pathlib import Path
from typing import NamedTuple

import psutil

from specviz.models.catalogue import weight_bytes

WORKING_ROOM = 1.1  # room for the cache, the logits and intermediate results: a rule of thumb, not a measurement
CGROUP = Path("/sys/fs/cgroup")


class _ControlGroup(NamedTuple):
    """The files of a container's memory, and the line of its statistics that counts droppable file pages."""

    limit: str
    used: str
    stat: str
    droppable: str


VERSION_2 = _ControlGroup("memory.max", "memory.current", "memory.stat", "inactive_file")
VERSION_1 = _ControlGroup(
    "memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"
)


def needed_bytes(parameters: int, dtype: str) -> int:
    return int(weight_bytes(parameters, dtype) * WORKING_ROOM)


def available_bytes() -> int:
    """Memory that this process can still take: the machine's, or its container's if that is less."""
    machine, container = psutil.virtual_memory().available, _of_container()
    return machine if container is None else min(machine, container)


def shortage(names: str, needed: int) -> str | None:
    """Why models that need this many bytes do not fit into memory, and what would fit; None if they fit."""
    advice = "use smaller models, bfloat16 (half of float32), or a machine with more memory"
    return _shortage(f"{names} would take {in_words(needed)} of memory", needed, advice)


def cache_shortage(prompt_tokens: int, new_tokens: int, needed: int) -> str | None:
    """The same for the keys and values of a run."""
    needed = int(needed * WORKING_ROOM)
    run = f"Reading {prompt_tokens} tokens and writing {new_tokens}"
    advice = "use a shorter prompt, fewer tokens, or smaller models"
    return _shortage(f"{run} would take {in_words(needed)} of memory for keys and values", needed, advice)


def _shortage(what: str, needed: int, advice: str) -> str | None:
    room = available_bytes()
    return None if needed <= room else f"{what}, but {in_words(room)} are free here: {advice}."


def is_out_of_memory(error: BaseException) -> bool:
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in str(error)
    )


def in_words(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"


def _of_container() -> int | None:
    """What is left of the control group's limit, which psutil does not know; None without a limit.

    File pages that the kernel can drop count as free. Older systems have version 1 of control groups.
    """
    for names in (VERSION_2, VERSION_1):
        limit, used = _lines(CGROUP / names.limit), _lines(CGROUP / names.used)
        if limit and used and limit[0].isdigit() and used[0].isdigit():  # "max" means no limit
            stat = (line.split() for line in _lines(CGROUP / names.stat))
            droppable = sum(int(words[1]) for words in stat if words[:1] == [names.droppable])
            return max(0, int(limit[0]) - int(used[0]) + droppable)
    return None


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
