"""Types that are read from outside have bounds, and what has none is refused before anyone can send it."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import Field, ValidationError

from specviz.core.errors import InputError
from specviz.core.outside import AtMost, Shape, outside, values_in

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "specviz").rglob("*.py"))


class Point(NamedTuple):
    x: int
    many: list[int]


@dataclass
class Inside:
    numbers: list[int]


@dataclass
class Around:
    inner: list[Inside]


UNBOUNDED: dict[str, tuple[Any, str]] = {
    "a list": (list[int], "a list in it has no bound"),
    "one that goes on after an error": (Annotated[list[int], Field(max_length=3)], "a list in it has no bound"),
    "a list in a list": (Annotated[list[list[int]], AtMost(3)], "a list in it has no bound"),
    "a list in a class in a class": (Annotated[list[Inside], AtMost(3)], "a list in numbers has no bound"),
    "a list that may be missing": (Annotated[list[int] | None, Field()], "a list in it has no bound"),
    "a list in a named tuple": (Point, "a list in many has no bound"),
    "a tuple": (tuple[int, ...], "a tuple in it has no bound"),
    "a set": (set[int], "a set in it has no bound"),
    "a mapping": (dict[str, int], "a dict in it has no bound; a mapping in it takes any key"),
    "a mapping of any keys": (Annotated[dict[str, int], AtMost(3)], "a mapping in it takes any key"),
    "anything": (Annotated[list[Any], AtMost(3)], "it may be anything"),
    "what can be gone through": (Iterable[int], "it may be anything"),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_a_type_without_a_bound_is_refused(name: str) -> None:
    kind, problem = UNBOUNDED[name]
    with pytest.raises(TypeError, match=re.escape(problem)):
        outside(kind)
    with pytest.raises(TypeError, match="has no bound"):
        outside(Around)


def test_a_bounded_type_is_read_and_its_first_error_ends_the_reading() -> None:
    reader = outside(Annotated[dict[Literal["a", "b"], int], AtMost(2)])
    assert reader.validate_json('{"a": 1}') == {"a": 1}
    for kind, sent in (
        (Annotated[list[int], AtMost(1_000)], ["x"] * 900),
        (Annotated[dict[Literal["a"], int], AtMost(1)], {f"k{number}": 1 for number in range(900)}),
    ):
        with pytest.raises(ValidationError) as refused:
            outside(kind).validate_json(json.dumps(sent))
        assert refused.value.error_count() == 1
    with pytest.raises(ValidationError, match="at most 2 items"):
        outside(Annotated[list[int], AtMost(2)]).validate_json("[1, 2, 3]")


# What reads only what this program wrote itself, or its operator; a plan is small, and counts its lists first.
# Everything else goes through `outside`.
OWN = {
    "core/outside.py": "makes the readers",
    "core/replay.py": "the engine's guesses",
    "data/lessons/plans.py": "a teacher's plan, of at most 64 kB, all of whose problems come at once",
    "data/published.py": "a file of the app",
    "data/stored.py": "files of the app",
    "data/texts.py": "files of the app",
    "game/game.py": "the engine's turns",
    "measure/proof/rows.py": "a file of the app",
    "measure/race.py": "the engine's laps, and a file of the app",
    "models/pairs.py": "a file of the app",
    "player/data.py": "reads nothing: it writes what the stage is sent",
    "service/protocol.py": "the engine and the server among themselves",
    "service/run_store.py": "the operator's folder of runs",
}


def test_every_reader_of_what_comes_from_outside_has_bounds() -> None:
    found = {
        file.relative_to(ROOT / "specviz").as_posix()
        for file in FILES
        if re.search(r"\bTypeAdapter\(|\.model_validate_json\(", file.read_text(encoding="utf-8"))
    }
    assert found == set(OWN), "read what comes from outside with specviz.core.outside"


def test_files_records_and_saved_games_are_read_with_bounds() -> None:
    """Their readers are made when their modules are imported: a type that loses its bound ends the program at once."""
    made = re.compile(r"= outside\(|= reader\(\w+\)")
    found = {file.stem for file in FILES if made.search(file.read_text(encoding="utf-8"))}
    assert found == {"trace", "saved", "table", "record", "llama_cpp", "lm_studio", "sglang", "transformers", "vllm"}


SHAPE = Shape("note", value=7, field=14, bracket=14, braces=32, fields=4)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"[[]," + b"[]," * 9_000 + b"1]", "The note is not valid at the file: it has too many values for its size."),
        (b'{"a":1,"b":1,"c":1,"d":1,"e":1}', "The note is not valid at the file: an object in it has 5 fields."),
        (b"[1", "The note is not valid at the file: Invalid JSON."),
        (b"\xff", "The note is not valid at the file: it is not UTF-8 text."),
    ],
)
def test_json_is_measured_before_it_is_read(raw: bytes, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        values_in(raw, SHAPE)
    assert str(refused.value) == sentence
    assert values_in(b"[1,2]", SHAPE) == [1, 2]
