"""Memory that Python has freed goes back to the system."""

import ctypes
import sys


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
