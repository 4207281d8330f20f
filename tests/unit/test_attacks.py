"""Each attack in a process of its own: it gets its sentence, and the process hardly grows.

What is read, up to the largest that is taken, is measured by `tests/pages/test_door_budgets.py`, as are many attacks.
The bounds are several times of what was measured, and a small part of what each attack took before it was refused.
"""

import pytest

from specviz.core.trace import FILE
from tests.load.hostile import GAME
from tests.support.child import in_a_child
from tests.support.door_contents import COMMAND, long_trace
from tests.support.grids import grid


@pytest.mark.parametrize("part", [b"[],", b"{},", b'{"a":1,"b":1,"c":1},', b"0,", b"1.5,", b'"",', b"300,"])
def test_a_record_of_many_small_values_takes_little_memory_and_lists_are_refused_unread(part: bytes) -> None:
    dense = part[:1] in b"[{"
    content = b'{"per_step_accepted":[' + part * ((900_000 if dense else 980_000) // len(part)) + b"1]}"
    found = in_a_child("from specviz.systems import open_run", "open_run(content)", content)
    assert found.said.startswith("The record ")
    assert found.said.endswith("it has too many values for its size.") or not dense
    assert found.megabytes < (60 if dense else 120)


SIZE = 29 * 10**6
ROUNDS = {
    "empty objects": b"{},",
    "empty lists": b"[],",
    "short texts": b'"ab",',
    "numbers": b"0.51234,",
    "rounds without fields": b'{"index": 12345},',
}
LONG = ("a valid trace", *ROUNDS, "many brackets")


@pytest.mark.parametrize("name", grid(LONG, ("empty objects",)))
def test_a_file_of_29_mb_is_shown_in_10_times_its_size_of_memory(name: str) -> None:
    """Before: up to 4,400 MB."""
    content = long_trace(29, FILE.rounds) if name == "a valid trace" else b"[" * SIZE
    if part := ROUNDS.get(name):
        content = b'{"schema":2,"rounds":[' + part * (SIZE // len(part)) + b"0]}"
    found = in_a_child(COMMAND, "cli('show', 'file')", content)
    assert found.said.startswith("done" if name == "a valid trace" else "specviz: The trace is not valid")
    assert found.megabytes < 10 * len(content) / 10**6


def many(part: bytes, count: int) -> bytes:
    return b",".join(part % number for number in range(count))


GAMES = {
    "200,000 links": b'{"link":{' + many(b'"k%d":1', 200_000) + b"}}",
    "30,000 long names of rivals": GAME + many(b'"%048d":{}', 30_000) + b"}}],[],[]]}",
    "600,000 turns": b'{"link":{},"games":[[' + b"{}," * 600_000 + b"{}],[],[]]}",
    "60,000 turns with a text": b'{"link":{},"games":[[' + b'{"text":"aaaaaaaaaaaaaaaa"},' * 60_000 + b"{}],[],[]]}",
}


@pytest.mark.parametrize("name", GAMES)
def test_a_hostile_saved_game_takes_little_memory(name: str) -> None:
    """Before: 1.8 MB took 690 MB, for an error about each of its rivals."""
    found = in_a_child("from specviz.game.saved import load_game", "load_game(content.decode())", GAMES[name])
    assert found.said == "The game that this browser tab held cannot be read."
    assert found.megabytes < 100
