"""Each attack in a process of its own: it gets its sentence, and the process hardly grows.

The bounds are several times of what was measured, and a small part of what each attack took before it was refused.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from specviz.core.trace import Output, dump_trace
from tests.support.child import in_a_child
from tests.support.fake_traces import fake_trace
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


@pytest.mark.parametrize("system", grid(RECORDS, ("vllm", "transformers")))
def test_the_largest_record_that_is_read_takes_little_memory(system: str) -> None:
    content = RECORDS[system](370)  # of 64 drafted tokens each
    found = in_a_child(OPEN_RUN, "len(open_run(content, GIVEN).rounds)", content)
    assert found.said in ("370", "371")
    assert found.megabytes < 250


DENSE = {
    "lists": b"[],",
    "objects": b"{},",
    "fields": b'{"a":1,"b":1,"c":1},',
}


@pytest.mark.parametrize("part", DENSE.values(), ids=DENSE.keys())
def test_a_record_of_many_small_values_is_refused_unread(part: bytes) -> None:
    content = b'{"per_step_accepted":[' + part * (900_000 // len(part)) + b"1]}"
    found = in_a_child(OPEN_RUN, "open_run(content)", content)
    assert found.said.endswith("it has too many values for its size.")
    assert found.megabytes < 60


def test_numbers_and_texts_of_a_record_take_little_memory() -> None:
    for part in (b"0,", b"1.5,", b'"",', b"300,"):
        content = b'{"per_step_accepted":[' + part * (980_000 // len(part)) + b"1]}"
        found = in_a_child(OPEN_RUN, "open_run(content)", content)
        assert found.said.startswith("The record ")
        assert found.megabytes < 120, part


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


def long_trace() -> bytes:
    """A valid trace of nearly 29 MB."""
    short = fake_trace(tokens=64, plain=False)
    each = len(dump_trace(short)) // len(short.rounds)
    rounds = [replace(short.rounds[at % len(short.rounds)], index=at) for at in range(SIZE * 9 // 10 // each)]
    ids = [token_id for round in rounds for token_id in round.emitted_ids]
    settings = replace(short.settings, max_new_tokens=len(ids))
    output = Output(ids, "x" * len(ids), "length")
    return dump_trace(replace(short, rounds=rounds, output=output, settings=settings)).encode()


def rounds_of(part: bytes) -> bytes:
    return b'{"schema":2,"rounds":[' + part * (SIZE // len(part)) + b"0]}"


LONG: dict[str, tuple[Callable[[], bytes], str]] = {
    "a valid trace": (long_trace, "0 "),
    "empty objects": (lambda: rounds_of(b"{},"), "2 specviz: The trace is not valid"),
    "empty lists": (lambda: rounds_of(b"[],"), "2 specviz: The trace is not valid"),
    "short texts": (lambda: rounds_of(b'"ab",'), "2 specviz: The trace is not valid"),
    "numbers": (lambda: rounds_of(b"0.51234,"), "2 specviz: The trace is not valid"),
    "rounds without fields": (lambda: rounds_of(b'{"index": 12345},'), "2 specviz: The trace is not valid"),
    "many brackets": (lambda: b"[" * SIZE, "2 specviz: The trace is not valid"),
}


@pytest.mark.parametrize("name", grid(LONG, ("a valid trace", "empty objects")))
def test_a_file_of_29_mb_is_shown_in_10_times_its_size_of_memory(name: str) -> None:
    """Before: up to 4,400 MB."""
    make, said = LONG[name]
    content = make()
    found = in_a_child(SHOW, "show()", content)
    assert found.said.startswith(said)
    assert found.megabytes < 10 * len(content) / 10**6
