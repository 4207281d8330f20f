"""What comes from outside: its JSON is measured before anything is made of it, and its types have bounds.

`outside` makes the reader of a type. In such a type every list says how many items it may have, every mapping which
keys, and the first wrong item ends the reading: an error about each of a million items would take a gigabyte.

What is wrong is one sentence with its places. What pydantic says is English.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.texts import AppTexts, NonEmptyText, Sentences

say = Sentences("problems")


@dataclass(frozen=True, slots=True)
class MostItems:
    """Says of a list or a mapping how many items it may have; its first wrong item ends the reading."""

    items: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return {**handler(source), "max_length": self.items, "fail_fast": True}


def outside(kind: Any, config: ConfigDict | None = None) -> TypeAdapter[Any]:
    """The reader of values of this type that anyone may send."""
    reader: TypeAdapter[Any] = TypeAdapter(kind, config=config)
    if problems := sorted(set(_unbounded(reader.core_schema))):
        raise TypeError(f"{kind} cannot be read from outside: {'; '.join(problems)}.")
    return reader


COLLECTIONS = {"list", "set", "frozenset", "dict"}
ENDLESS = {"any", "generator", "json"}
NOT_SCHEMAS = {"metadata", "serialization", "default", "expected", "config"}


def _unbounded(schema: Any, name: str = "it") -> Iterator[str]:
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
                yield from _unbounded(inner, named)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from _unbounded(inner, name)


@dataclass(frozen=True, slots=True)
class JsonShape:
    """How much JSON may hold for its size. A value in memory takes 10 to 60 times the bytes of its shortest text."""

    kind: str  # what it is, in sentences
    value: int  # bytes that go with each comma, at least
    field: int  # with each name of a field
    bracket: int  # with each list or object
    braces: int  # with each object
    free: int = 10_000  # bytes: what is smaller may be as dense as it likes


def read_outside(reader: TypeAdapter[Any], raw: bytes, shape: JsonShape) -> Any:
    """The value that a file holds; else an InputError with the first wrong places.

    pydantic finds missing fields too, but makes an object of all that stands beside one: 60 bytes for one of a value.
    """
    check_density(raw, shape)
    try:
        missing = [*islice(_missing(json.loads(raw.decode()), reader.core_schema, {}), MOST_PROBLEMS + 1)]
    except (ValueError, RecursionError):  # a number of too many digits is a ValueError too
        raise InputError(join_problems(shape.kind, [Problem(WHOLE, "Invalid JSON")])) from None
    if missing:
        raise InputError(join_problems(shape.kind, [Problem(path, "Field required") for path in missing]))
    try:
        return reader.validate_json(raw, strict=True)
    except ValidationError as error:
        raise InputError(join_problems(shape.kind, problems_of(error))) from None


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


MARKS = (b",", b'":', b"[", b"{")
TEXT = re.compile(rb'"(?:[^"\\\n]++|\\[^\n])*+"?')  # ends with its line at the latest: one lone quote hides no more


def check_density(raw: bytes, shape: JsonShape) -> None:
    """Refuse many values for the size, before any of them is made."""
    if _is_dense(raw, [raw.count(mark) for mark in MARKS], shape) and _is_dense(raw, _outside_of_texts(raw), shape):
        raise InputError(join_problems(shape.kind, [Problem(WHOLE, say("too_dense"))]))


def _is_dense(raw: bytes, counts: Sequence[int], shape: JsonShape) -> bool:
    values, fields, lists, objects = counts
    least = (values * shape.value, fields * shape.field, (lists + objects) * shape.bracket, objects * shape.braces)
    return max(least) > max(len(raw), shape.free)


def _outside_of_texts(raw: bytes) -> list[int]:
    """How often each mark stands in the file, without those in texts. A field's name is followed by its colon."""
    counts = [raw.count(mark) for mark in MARKS]
    for text in TEXT.finditer(raw):
        start, end = text.span()
        if end - start > 2:
            counts = [count - raw.count(mark, start + 1, end - 1) for count, mark in zip(counts, MARKS, strict=True)]
    return counts


file_kinds = AppTexts("tables/file_kinds", dict[str, NonEmptyText])
MOST_PROBLEMS = 10  # are named; a file with more is probably another kind of file
LONGEST_PLACE, LONGEST_REASON = 120, 200  # characters
LONGEST = 800  # characters of a list of problems
WHOLE = "the file"  # the place of a problem that no field has


class Problem(NamedTuple):
    where: str  # a path like rounds.0.drafted
    what: str


def problems_of(error: ValidationError, before: str = "") -> list[Problem]:
    """What pydantic found; `before` is the path of the value it read."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    problems = []
    for each in found:
        path = ".".join(filter(None, (before, *map(str, each["loc"])))) or WHOLE
        problems.append(Problem(path, each["msg"].removeprefix("Value error, ").rstrip(".")))
    return problems


def join_problems(kind: str, problems: Iterable[Problem]) -> str:
    """ "The trace is not valid at a: …." or, of several, "The trace is not valid at 2 places: a: …; b: …." """
    named = list(islice(dict.fromkeys(problems), MOST_PROBLEMS + 1))
    if len(named) == 1:
        return say("one", kind=file_kinds()[kind], problem=_describe(named[0]))
    shown = [_describe(problem) for problem in named[:MOST_PROBLEMS]]
    while len("; ".join(shown)) > LONGEST:
        shown.pop()
    shown += [say("and_so_on")] if len(shown) < len(named) else []
    listed, file = "; ".join(shown), file_kinds()[kind]
    if len(named) > MOST_PROBLEMS:
        return say("more", kind=file, count=MOST_PROBLEMS, problems=listed)
    return say("several", kind=file, count=len(named), problems=listed)


def _describe(problem: Problem) -> str:
    where = say("whole") if problem.where == WHOLE else problem.where[:LONGEST_PLACE]
    return f"{where}: {problem.what[:LONGEST_REASON]}"
