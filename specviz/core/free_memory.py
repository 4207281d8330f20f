"""Memory that Python has freed goes back to the system."""

import ctypes
import sys
from typing import Any

M_MMAP_THRESHOLD, LARGE = -3, 256 * 1024  # glibc's number of the setting; bytes


def _find_in_glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


def map_large_blocks() -> bool:
    """Have the C library map each large block by itself, so that freeing it returns it; False if it cannot.

    Otherwise glibc raises this limit with each large block that is freed, up to 32 MB, and keeps twice as much at the
    end of each thread's heap, where `give_back` does not reach: large texts of visitors left 150 MB in ten minutes.
    """
    set_limit = _find_in_glibc("mallopt")
    return bool(set_limit and set_limit(M_MMAP_THRESHOLD, LARGE))


def give_back() -> bool:
    """Return free memory to the system; False if the C library cannot (glibc can).

    Loading converts every matrix and stores it again. Without this call the process keeps the memory that this frees:
    for the bundled target nearly as much as the weights themselves.
    """
    if trim := _find_in_glibc("malloc_trim"):
        trim(0)
    return trim is not None
