"""Each way into the program keeps to its row in docs/security.md.

Each is measured in a process of its own, with `resource` limits: it is given the largest that it takes and every
harmful file or text, one after the other. A refusal is a sentence. The limit of memory is the row's; that of a
processor's time is far above what a slow machine needs.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.door_contents import COMMAND, OPTIONS
from tests.support.doors import DOORS, SECONDS
from tests.support.grids import grid

ROOT = Path(__file__).parents[2]
ADDRESSES = 3 * 2**30  # bytes of addresses that a process may use: the machine stays alive if a bound is gone
PROGRAM = """
import json, resource, sys
def grown():  # not by getrusage: a child's peak begins with what its parent had
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000
resource.setrlimit(resource.RLIMIT_AS, ({addresses},) * 2)
resource.setrlimit(resource.RLIMIT_CPU, ({cpu},) * 2)
from specviz.core.errors import InputError
packed = sys.stdin.buffer.read()
content = b""
{setup}
def said_of(part):
    global content
    content = part
    try:
        return ["read", str({read})]
    except InputError as refused:
        return ["refused", str(refused)]
    except MemoryError:
        return ["broken", "out of memory"]
before, at, outcomes = grown(), 0, []
while at < len(packed):
    size = int.from_bytes(packed[at : at + 4], "big")
    outcomes.append(said_of(packed[at + 4 : at + 4 + size]))
    at += 4 + size
print(json.dumps([outcomes, grown() - before]))
"""


def read_each(setup: str, read: str, contents: list[bytes], cpu: int = SECONDS) -> tuple[list[list[str]], float]:
    """Read each in one process: "read" or "refused" and what is said of it, and how many megabytes it grew at most."""
    code = PROGRAM.format(addresses=ADDRESSES, cpu=cpu, setup=setup, read=read)
    packed = b"".join(len(content).to_bytes(4, "big") + content for content in contents)
    done = subprocess.run([sys.executable, "-c", code], input=packed, capture_output=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr.decode()[-300:] or f"ended by {done.returncode}"
    outcomes, megabytes = json.loads(done.stdout)
    assert len(outcomes) == len(contents)
    return outcomes, megabytes


READ = [name for name, each in DOORS.items() if each.read]
SMALL = ("a trace", "a sweep")


@pytest.mark.parametrize("name", grid(READ, SMALL))
def test_a_door_keeps_its_budget(name: str) -> None:
    door = DOORS[name]
    outcomes, megabytes = read_each(door.setup, door.read, door.contents())
    kind, said = outcomes[0]
    assert kind == "read", said
    assert re.fullmatch(door.says, said, re.DOTALL), said
    for kind, said in outcomes:
        assert kind == "read" or re.search(r"[.?…]$", said.strip()), said
        assert "Traceback" not in said
    assert megabytes < door.megabytes


PATH = "from pathlib import Path\n"
ENDLESS = {
    "show": (COMMAND, "cli('show', '/dev/zero')"),
    "export": (COMMAND, "cli('export', '/dev/zero', '--out', 'out')"),
    "import": (COMMAND, "cli('import', '/dev/zero', '--from', 'vllm')"),
    "import with a prompt": (COMMAND, "cli('import', 'file', '--from', 'vllm', '--prompt-file', '/dev/zero')"),
    "lesson": (COMMAND, "cli('lesson', 'check', '/dev/zero')"),
    "prompt": (OPTIONS, "prompt_of(Namespace(prompt=None, prompt_file=Path('/dev/zero')))"),
    "schema": (OPTIONS, "grammar_of(Namespace(json_schema=Path('/dev/zero'), regex=None))"),
    "prompts": (
        PATH + "from specviz.measure.sweep.prompt_files import read_prompt_file",
        "read_prompt_file(Path('/dev/zero'))",
    ),
    "sweep": (PATH + "from specviz.measure.sweep.rows import SweepFile", "SweepFile(Path('/dev/zero'))"),
}


@pytest.mark.parametrize("name", grid(ENDLESS, ("prompt", "sweep")))
def test_a_file_without_an_end_is_refused(name: str) -> None:
    """Before: a prompt, a schema or a sweep was read until there was no memory left."""
    [(kind, said)], megabytes = read_each(*ENDLESS[name], [b""])
    assert kind == "refused"
    assert re.search(r"larger than|more than|too large|no lesson plan yet|not valid", said), said
    assert megabytes < 400


BOMBS = (
    "(" * 900 + "a" + ")*" * 900,
    "(a{1000}){1000}",
    "(.{0,500}x){200}",
    "(" + "|".join(["a*b*c*d*"] * 2_000) + ")*",
)


def test_hostile_expressions_are_checked_in_little_memory() -> None:
    read = "bool(grammar_of(Namespace(json_schema=None, regex=content.decode())))"
    outcomes, megabytes = read_each(OPTIONS, read, [regex.encode() for regex in BOMBS], 60)
    assert [said for kind, said in outcomes if said != "True" and not said.endswith(".")] == []
    assert megabytes < 400
