"""An attack in a process of its own, with little memory: what it says, and how much it grew."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADDRESSES = 3 * 2**30  # bytes of addresses that it may use: the machine stays alive if a bound is gone
CPU_SECONDS = 300  # a backstop for what would never end; no test counts on it

PROGRAM = """
import json, resource, sys
def grown():  # not by getrusage: a child's peak begins with what its parent had
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000
resource.setrlimit(resource.RLIMIT_AS, ({addresses},) * 2)
resource.setrlimit(resource.RLIMIT_CPU, ({cpu},) * 2)
from specviz.core.errors import InputError
content = sys.stdin.buffer.read()
{setup}
before = grown()
try:
    said = {read}
except InputError as refused:
    said = str(refused)
except MemoryError:
    said = "out of memory"
print(json.dumps([str(said), grown() - before]))
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attack."""

    said: str  # the refusal, or what was read as text
    megabytes: float  # that the process grew at most


# Each of several contents after the other, each as its size in four bytes and itself.
EACH = """
packed = content
def parts():
    at = 0
    while at < len(packed):
        size = int.from_bytes(packed[at : at + 4], "big")
        yield packed[at + 4 : at + 4 + size]
        at += 4 + size
def said_of(part):
    global content
    content = part
    try:
        return ["read", str({read})]
    except InputError as refused:
        return ["refused", str(refused)]
"""


def each_in_a_child(setup: str, read: str, contents: list[bytes], cpu: int) -> tuple[list[tuple[str, str]], float]:
    """Read each of them in one process: "read" or "refused" and what is said of it, and how many megabytes it grew."""
    packed = b"".join(len(content).to_bytes(4, "big") + content for content in contents)
    found = in_a_child(setup + EACH.format(read=read), "json.dumps([said_of(part) for part in parts()])", packed, cpu)
    if not found.said.startswith("["):
        return [("broken", found.said)], found.megabytes
    return [(kind, said) for kind, said in json.loads(found.said)], found.megabytes


def in_a_child(setup: str, read: str, content: bytes, cpu: int = CPU_SECONDS) -> Outcome:
    """Read these bytes, named `content`, in another process.

    Args:
        setup: lines of Python that import what is needed, before the memory is measured.
        read: an expression.
        content: what comes from outside.
        cpu: seconds of a processor after which the process is ended.
    """
    code = PROGRAM.format(addresses=ADDRESSES, cpu=cpu, setup=setup, read=read)
    done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, cwd=ROOT)
    if done.returncode:
        return Outcome(done.stderr.decode()[-300:] or f"ended by {done.returncode}", float("inf"))
    said, megabytes = json.loads(done.stdout)
    return Outcome(said, megabytes)
