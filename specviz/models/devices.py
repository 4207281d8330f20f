"""Where a model runs: on a GPU if there is one, except the bundled models. And how much memory it takes and is free."""

import os
import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

import psutil
import torch

from specviz.core.errors import InputError
from specviz.core.names import show_size
from specviz.core.operator_settings import operator_setting
from specviz.core.texts import Sentences, join_choices
from specviz.core.trace import Machine
from specviz.models.catalogue import bundled_names, weight_bytes

say = Sentences("models")

VERSION_OF_TRANSFORMERS = version("transformers")  # read once: it takes milliseconds, which every run would wait for
WORKING_ROOM = 1.1  # room for the cache, the logits and intermediate results: a rule of thumb, not a measurement
CGROUP = Path("/sys/fs/cgroup")
# Of versions 2 and 1 of control groups, the files of a container's memory: its limit, what is used, and statistics,
# with the line that counts droppable file pages.
FILES = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)


def choose_device(name: str, needed: int) -> str:
    """The device for a model: "cuda" or "mps" where there is one with enough memory free, else "cpu".

    The bundled models stay on the CPU: they are so small that starting the work would take most of a GPU's time, and
    what the app says about them was measured on a CPU. SPECVIZ_DEVICE (cpu, cuda, mps) overrides this for all models.
    """
    asked = operator_setting("SPECVIZ_DEVICE")
    if asked == "auto":
        found = "cpu" if name in bundled_names() else accelerator()
        return found if needed <= free_bytes(found) else "cpu"
    if asked not in ("cpu", accelerator()):
        raise InputError(say("no_device", asked=repr(asked)))
    return asked


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


def check_memory(needs: Sequence[tuple[str, int]], reclaimable: int = 0) -> None:
    """Refuse models that need so many bytes and do not fit in beside each other.

    What runs on a GPU needs no memory of the machine. `reclaimable`: bytes in models that would be released for these.
    """
    on_cpu = sum(needed for name, needed in needs if choose_device(name, needed) == "cpu")
    if short := shortage(on_cpu - reclaimable):
        models = join_choices([name for name, _ in needs], "and")
        raise InputError(say("no_memory", models=models, needed=short[0], room=short[1]))


def accelerator() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def device_name(device: torch.device) -> str | None:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return "the Apple GPU" if device.type == "mps" else None


def free_bytes(device: str) -> int:
    """Memory that is free on a device; 0 where a GPU cannot tell. An Apple GPU shares the machine's memory.

    torch keeps the memory of models that were removed, and gives it to the next one: on CUDA that is free too.
    """
    if device != "cuda":
        return available_bytes()
    try:
        held = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return int(torch.cuda.mem_get_info()[0]) + held
    except RuntimeError:  # some drivers and virtual GPUs do not answer: the CPU is used
        return 0


def describe_machine() -> Machine:
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    hardware = f"{processor()}, {os.cpu_count()} cores, {platform.system()}{gpu}"
    return Machine(hardware, torch.__version__, VERSION_OF_TRANSFORMERS, torch.get_num_threads(), instructions())


def instructions() -> str:
    """The widest vector instructions of this processor that torch can use: what a pass costs depends on them."""
    if torch.cpu._is_amx_tile_supported():
        return "amx"
    found = torch.backends.cpu.get_cpu_capability().lower()  # "default" on ARM without SVE
    if found == "avx512" and torch.cpu._is_avx512_bf16_supported():
        return "avx512_bf16"
    return "neon" if found == "default" and platform.machine() in ("arm64", "aarch64") else found


@cache
def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
