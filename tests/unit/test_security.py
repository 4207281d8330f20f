"""Every way into the program has a row in docs/security.md, and what is read there has bounds.

`tests/pages/test_door_budgets.py` measures the rows.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from specviz.cli.options import MOST_TEXT
from specviz.core import trace
from specviz.core.outside import MostItems
from specviz.core.short_log import LONGEST, MOST_LINES
from specviz.core.trace import FILE, UPLOAD, Output
from specviz.data.lessons.story import quiz
from specviz.game import saved
from specviz.game.game import PROMPTS, ROUNDS
from specviz.lab import draws
from specviz.measure.endpoints import result
from specviz.measure.sweep import rows as table
from specviz.service.classes.registry import ALPHABET, LENGTH, MAX_NAME, ClassLimits
from specviz.service.classes.room import MAX_GUESS
from specviz.service.run_store import DISK_BYTES, IN_MEMORY, OF_ONE_REQUEST, ON_DISK, TOKENS_IN_MEMORY
from specviz.systems import fields
from specviz.ui.lesson import place
from specviz.ui.shared.guard import ADDRESS_BYTES, ALL_BYTES, MOST_FILES, MOST_ITEMS, SESSION_BYTES
from tests.support.door_contents import MEGA
from tests.support.doors import DOORS, MEASURED, SECONDS

ROOT = Path(__file__).parents[2]
FILES = [file for folder in ("specviz", "pages", "cloud") for file in sorted((ROOT / folder).rglob("*.py"))]
FILES += [ROOT / "app.py", ROOT / "serve.py"]
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


READERS = [
    reader
    for module in (trace, saved, draws, result, table, fields)
    for reader in vars(module).values()
    # objects of a record are read already: only their kind is looked at
    if isinstance(reader, TypeAdapter) and reader not in (fields.OBJECT, fields.OBJECTS)
]
COLLECTIONS, ENDLESS = {"list", "set", "frozenset", "dict"}, {"any", "generator", "json"}
NOT_SCHEMAS = {"metadata", "serialization", "default", "expected", "config"}


def unbounded(schema: Any, name: str = "it") -> Iterator[str]:
    """What has no bound in a schema of pydantic, with the names of the fields that it is in."""
    if isinstance(schema, Mapping):
        kind = schema.get("type")
        named = str(schema.get("name") or schema.get("dataclass_name") or name)
        many = kind in COLLECTIONS or (kind == "tuple" and "variadic_item_index" in schema)
        if many and not (schema.get("max_length") and schema.get("fail_fast")):
            yield f"a {kind} in {named} has no bound"
        if kind == "dict" and (schema.get("keys_schema") or {}).get("type") not in ("literal", "function-after"):
            yield f"a mapping in {named} takes any key"
        if kind in ENDLESS:
            yield f"{named} may be anything"
        for part, inner in schema.items():
            if part not in NOT_SCHEMAS:
                yield from unbounded(inner, named)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from unbounded(inner, name)


def test_what_is_read_from_outside_has_bounds_and_its_first_error_ends_the_reading() -> None:
    assert [problem for reader in READERS for problem in unbounded(reader.core_schema)] == []
    kinds: list[Any] = [list[int], tuple[int, ...], dict[str, int], Annotated[list[Any], MostItems(3)], list[Output]]
    assert all(list(unbounded(TypeAdapter(kind).core_schema)) for kind in kinds), "the check sees nothing"
    for kind, sent in (
        (Annotated[list[int], MostItems(1_000)], ["x"] * 900),
        (Annotated[dict[Literal["a"], int], MostItems(1)], {f"k{number}": 1 for number in range(900)}),
        (Annotated[list[int], MostItems(2)], [1, 2, 3]),
    ):
        with pytest.raises(ValidationError) as refused:
            TypeAdapter(kind).validate_json(json.dumps(sent))
        assert refused.value.error_count() == 1


# What reads only what this program, its engine or its operator wrote; a lesson plan counts its lists first, to tell all
# its problems at once. Everything else is one of `READERS`.
OWN = """core/files core/replay core/texts data/lessons/plans data/published game/game measure/proof/rows
measure/race player/data service/protocol service/run_store"""
OUTSIDE = "core/trace game/saved lab/draws measure/endpoints/result measure/sweep/rows systems/fields"


def test_every_reader_of_what_comes_from_outside_has_bounds() -> None:
    found = {
        file.relative_to(ROOT / "specviz").with_suffix("").as_posix()
        for file in FILES
        if re.search(r"\bTypeAdapter\(|\.model_validate_json\(", file.read_text(encoding="utf-8"))
    }
    assert found == {*OWN.split(), *OUTSIDE.split()}, "what comes from outside has a reader in READERS"


def test_one_file_looks_below_streamlits_public_names() -> None:
    below = re.compile(r"^\s*(?:from streamlit\b|import streamlit\.).*", re.MULTILINE)
    found = {file for file in FILES if below.search(file.read_text(encoding="utf-8"))}
    assert found == {ROOT / "specviz/ui/shared/below_streamlit.py"}


LIMITS = ClassLimits()
SAID = [
    f"a trace at most {UPLOAD.rounds:,} rounds; a CSV at most {table.UPLOAD.rows:,} rows, {table.UPLOAD.workloads}",
    f"a trace, a record or a CSV has at most {FILE.megabytes} MB, and a prompt or a schema {MOST_TEXT // MEGA} MB",
    f"more than {MOST_FILES} names of files or {MOST_ITEMS:,} items of lists",
    f"room for {MOST_FILES} uploaded files with {SESSION_BYTES // MEGA} MB together",
    f"a public address for {ADDRESS_BYTES // MEGA} MB, all sessions for {ALL_BYTES // MEGA} MB",
    f"at most {MOST_LINES} lines of its traceback, and {LONGEST} characters of each",
    f"{LENGTH} signs of {len(ALPHABET)}",
    f"{LIMITS.classes} classes on a server, {LIMITS.classes_of_one_address} from one public address, "
    f"{LIMITS.classes_of_others} from all that are private or not known",
    f"safe for {LIMITS.safe / 60:.0f} minutes after the last change on the board",
    f"{LIMITS.students} students in a class; {PROMPTS * ROUNDS} rounds and {len(quiz())} answers of a student",
    f"names of {MAX_NAME} characters; {MAX_GUESS} characters of a guess",
    f"have {place.MOST} places, {place.MOST_OF_ONE} of one public address",
    f"the newest {IN_MEMORY} in memory, at most {TOKENS_IN_MEMORY:,} tokens together; the newest {ON_DISK} on the disk",
    f"on the disk, {['', 'one', 'two', 'three'][OF_ONE_REQUEST]} of one request, at most {DISK_BYTES // MEGA} MB",
]


def test_the_figures_in_the_table_and_in_the_text_are_those_of_the_code() -> None:
    table = SECURITY.partition("## Every way in")[2].partition("\n## ")[0].partition("| --- |")[2].splitlines()[1:]
    rows = {name: f"| {name} | {door.largest} | {door.megabytes} |" for name, door in DOORS.items()}
    tests = {name: f" `{door.test}` |" for name, door in DOORS.items() if door.test}
    assert table == [row + tests.get(name, "") for name, row in rows.items()]
    text = " ".join(SECURITY.split())
    assert f"`{MEASURED}`" in text
    assert f"{SECONDS} seconds of a processor" in text
    assert [each for each in SAID if each not in text] == []


# By its row: each folder of specviz/ui, what is there that takes something in, and how often.
WAYS = {
    "a trace": "watch file_uploader 1",
    "the draws of a student's rule": "same_quality file_uploader 1",
    "a record of another system": "watch text_input 3, watch accept_new_options 1",
    "a file of prompts": "when_it_helps file_uploader 3",  # with a sweep as CSV and a bench file
    "a lesson plan": "lesson file_uploader 1, shared file_uploader 2",  # that of all pages: made, and called
    "a prompt that is written": "shared text_area 1, race text_area 1, watch chat_input 1, shared accept_new_options 1",
    "pasted counters": "worksheet text_area 1",
    "a guess, a name or a code": "be_the_draft text_input 3, classes text_input 4",
    "a class that the tab or a cookie held": "shared cookies 1",
}
WIDGETS = r"file_uploader|text_area|(?:text|chat|camera|audio)_input|data_editor"
IN = re.compile(rf"\b(?:{WIDGETS})(?=\(|\")|\bcookies\b(?=\.)|\baccept_new_options\b(?==|\")")


def test_every_way_in_on_the_pages_is_in_a_row_of_the_table() -> None:
    files = {file: file.relative_to(ROOT).parts[2] for file in (ROOT / "specviz/ui").rglob("*.py")}
    found = Counter(f"{folder} {way}" for file, folder in files.items() for way in IN.findall(file.read_text("utf-8")))
    assert {f"{way} {times}" for way, times in found.items()} == set(", ".join(WAYS.values()).split(", "))
    assert DOORS.keys() >= WAYS.keys()


PROMISES = re.findall(
    r"^- \*\*(.+?)\.?\*\*", SECURITY.partition("## What the app promises")[2].partition("\n## ")[0], re.MULTILINE
)


def test_every_promise_has_its_tests_and_each_that_is_named_is_there() -> None:
    promises = re.findall(r"^\| ([^|]+?) \| `tests/\S+::\w+` \| .+ \|$", SECURITY, re.MULTILINE)
    assert promises == PROMISES
    named = re.findall(r"`(tests/\S+)::(\w+)`", SECURITY)
    assert [test for file, test in named if f"\ndef {test}(" not in (ROOT / file).read_text(encoding="utf-8")] == []
    documents = [file.read_text(encoding="utf-8") for file in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))]
    tests = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    alone = set(re.findall(r"`(test_\w+)`", "".join(documents)))
    assert [test for test in alone if f"\ndef {test}(" not in tests] == []  # found: four that had other names since
