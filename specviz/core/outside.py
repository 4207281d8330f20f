"""What comes from outside: so many bytes, not too many values for them, then pydantic, whose first errors are said.

In a type that is read here every list says how many items it may have, every mapping which keys, and the first wrong
item ends the reading (`MostItems`): an error about each of a million items would take a gigabyte.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.texts import AppTexts, NonEmptyText, Sentences

say = Sentences("problems")
file_kinds = AppTexts("tables/file_kinds", dict[str, NonEmptyText])

MOST_PROBLEMS = 3  # are named; a file with more is probably another kind of file
LONGEST_PLACE, LONGEST_REASON = 120, 200  # characters
WHOLE = ""  # the place of a problem that no field has
# A value in memory takes 10 to 60 times the bytes of its shortest text. So a file that is not small has at least so
# many bytes for each value, field, list or object, and object; more where objects are made of it than where figures are
# taken from it.
MARKS = (b",", b'":', b"[", b"{")
LEAST = {"trace": (3, 14, 14, 32), "bench file": (3, 8, 14, 60), "answer": (1, 6, 3, 6)}
LEAST_ELSE = (1, 8, 10, 14)
SMALL = 10_000  # bytes
TEXT = re.compile(rb'"(?:[^"\\\n]++|\\[^\n])*+"?')  # ends with its line at the latest: one lone quote hides no more


@dataclass(frozen=True, slots=True)
class MostItems:
    """Says of a list or a mapping how many items it may have; its first wrong item ends the reading."""

    items: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return {**handler(source), "max_length": self.items, "fail_fast": True}


class Problem(NamedTuple):
    where: str  # a path like rounds.0.drafted
    what: str


def read_outside(reader: TypeAdapter[Any], raw: bytes, kind: str) -> Any:
    """The value that a file of this kind (`file_kinds`) holds; else an InputError with the first wrong places.

    pydantic finds missing fields too, but makes an object of all that stands beside one: 60 bytes for one of a value.
    """
    check_density(raw, kind)
    try:
        missing = [*islice(_missing(json.loads(raw.decode()), reader.core_schema, {}), MOST_PROBLEMS)]
    except (ValueError, RecursionError):  # a number of too many digits is a ValueError too
        raise not_valid(kind, [Problem(WHOLE, "Invalid JSON")]) from None
    if missing:
        raise not_valid(kind, [Problem(path, "Field required") for path in missing])
    try:
        return reader.validate_json(raw, strict=True)
    except ValidationError as error:
        raise not_valid(kind, error) from None


def check_density(raw: bytes, kind: str) -> None:
    """Refuse many values for the size, before any of them is made. Marks in texts do not count."""
    least = LEAST.get(kind, LEAST_ELSE)

    def is_dense() -> bool:
        values, fields, lists, objects = counts
        marks = (values, fields, lists + objects, objects)
        return any(count * each > max(len(raw), SMALL) for count, each in zip(marks, least, strict=True))

    counts = [raw.count(mark) for mark in MARKS]
    if not is_dense():
        return
    for text in TEXT.finditer(raw):
        start, end = text.start() + 1, text.end() - 1
        counts = [count - raw.count(mark, start, end) for count, mark in zip(counts, MARKS, strict=True)]
    if is_dense():
        raise not_valid(kind, [Problem(WHOLE, say("too_dense"))])


def _missing(value: object, schema: Any, shared: Mapping[str, Any]) -> Iterator[str]:
    """The paths of the fields that a value lacks, like "rounds.0.drafted", by a schema of pydantic."""
    if schema["type"] == "definitions":
        shared = {each["ref"]: each for each in schema["definitions"]}
    schema = shared.get(schema.get("schema_ref"), schema)
    if schema["type"] == "list" and isinstance(value, list):
        for index, each in enumerate(value):
            yield from (f"{index}.{path}" for path in _missing(each, schema["items_schema"], shared))
    elif schema["type"] == "dataclass-args" and isinstance(value, Mapping):
        for field in schema["fields"]:
            name = field.get("validation_alias", field["name"])
            if name in value:
                yield from (f"{name}.{path}" for path in _missing(value[name], field["schema"], shared))
            elif field["schema"]["type"] != "default":
                yield name
    elif "schema" in schema:
        yield from _missing(value, schema["schema"], shared)


def not_valid(kind: str, problems: ValidationError | Sequence[Problem]) -> InputError:
    """ "The trace is not valid at rounds.0.index: Field required; …." What pydantic says is English."""
    if isinstance(problems, ValidationError):
        found = problems.errors(include_url=False, include_input=False, include_context=False)
        problems = [Problem(".".join(map(str, each["loc"])), each["msg"]) for each in found]
    said = [
        f"{where[:LONGEST_PLACE] or say('whole')}: {what.removeprefix('Value error, ').rstrip('.')[:LONGEST_REASON]}"
        for where, what in dict.fromkeys(problems)
    ]
    return InputError(say("not_valid", kind=file_kinds()[kind], problems="; ".join(said[:MOST_PROBLEMS])))
