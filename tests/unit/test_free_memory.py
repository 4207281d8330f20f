"""Large blocks that threads have freed go back to the system."""

import pytest

from tests.support.child import in_a_child

THREADS = """
from threading import Barrier, Thread
from specviz.core.free_memory import give_back, map_large_blocks
def megabytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1000
together = Barrier(4)
def work():
    for _ in range(3):
        bytearray(b"x") * 30_000_000
    together.wait()
    texts = [bytearray(b"x") * 3_000_000 for _ in range(10)]
    together.wait()
def left():
    before, threads = megabytes(), [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    give_back()
    return megabytes() - before
"""


def test_threads_leave_no_large_blocks() -> None:
    """Before: each thread's heap kept what it once held."""
    if in_a_child(THREADS, "map_large_blocks()", b"").said != "True":
        pytest.skip("this system's C library has no such setting")
    found = in_a_child(THREADS + "map_large_blocks()", "left()", b"")
    assert float(found.said) < 20
