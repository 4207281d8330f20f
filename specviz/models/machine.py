"""The machine that a trace is recorded on."""

import os
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

import torch

from specviz.core.trace import Machine


def describe_machine() -> Machine:
    """The machine, the versions of the libraries, and the current number of torch's threads."""
    return Machine(_hardware(), torch.__version__, version("transformers"), torch.get_num_threads())


@cache
def _hardware() -> str:
    accelerator = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{processor()}, {os.cpu_count()} cores, {platform.system()}{accelerator}"


@cache
def processor() -> str:
    """The processor's name, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
