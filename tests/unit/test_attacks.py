"""Each attack in a process of its own: it gets its sentence, and the process hardly grows.

What is read, up to the largest that is taken, is measured by `tests/pages/test_door_budgets.py`.
The bounds are several times of what was measured, and a small part of what each attack took before it was refused.
"""

import pytest

from specviz.core.trace import FILE
from tests.support.child import in_a_child
from tests.support.door_contents import long_trace
from tests.support.grids import grid
from tests.support.hostile_records import RECORDS, of_about

OPEN_RUN = """
from specviz.data.importers import Given, open_run
class Tokenizer:  # only transformers' records have to have one
    def texts(self, ids):
        return ["a"] * len(ids)
GIVEN = Given(tokenizer=Tokenizer() if b'candidate_ids' in content else None)
"""


@pytest.mark.parametrize("system", grid(RECORDS, ("vllm", "transformers")))
def test_a_small_record_of_a_large_run_is_refused_before_a_round_is_made(system: str) -> None:
    """Before: 200 kB of vLLM's counters took 1,850 MB, the others 500 to 600 MB for each MB."""
    content = of_about(system, 990_000)
    found = in_a_child(OPEN_RUN, "open_run(content, GIVEN)", content)
    assert "steps; at most 2,000 can be shown here." in found.said
    assert found.megabytes < 120


@pytest.mark.parametrize("part", [b"[],", b"{},", b'{"a":1,"b":1,"c":1},', b"0,", b"1.5,", b'"",', b"300,"])
def test_a_record_of_many_small_values_takes_little_memory_and_lists_and_objects_are_refused_unread(
    part: bytes,
) -> None:
    dense = part[:1] in b"[{"
    content = b'{"per_step_accepted":[' + part * ((900_000 if dense else 980_000) // len(part)) + b"1]}"
    found = in_a_child(OPEN_RUN, "open_run(content)", content)
    assert (
        found.said.endswith("it has too many values for its size.") if dense else found.said.startswith("The record ")
    )
    assert found.megabytes < (60 if dense else 120)


SHOW = """
import contextlib, io, sys, tempfile
from pathlib import Path
import rich.console, rich.table, rich.text
from specviz.cli.main import main
import specviz.cli.traces
file = Path(tempfile.mkdtemp()) / "trace.json"
file.write_bytes(content)
del content
def show():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["show", str(file)])
    return f"{status} {err.getvalue()}"
"""
SIZE = 29 * 10**6


ROUNDS = {
    "empty objects": b"{},",
    "empty lists": b"[],",
    "short texts": b'"ab",',
    "numbers": b"0.51234,",
    "rounds without fields": b'{"index": 12345},',
}
LONG = ("a valid trace", *ROUNDS, "many brackets")


@pytest.mark.parametrize("name", grid(LONG, ("a valid trace", "empty objects")))
def test_a_file_of_29_mb_is_shown_in_10_times_its_size_of_memory(name: str) -> None:
    """Before: up to 4,400 MB."""
    content = long_trace(29, FILE.rounds) if name == "a valid trace" else b"[" * SIZE
    if part := ROUNDS.get(name):
        content = b'{"schema":2,"rounds":[' + part * (SIZE // len(part)) + b"0]}"
    found = in_a_child(SHOW, "show()", content)
    assert found.said.startswith("0 " if name == "a valid trace" else "2 specviz: The trace is not valid")
    assert found.megabytes < 10 * len(content) / 10**6
