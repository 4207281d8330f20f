"""What comes from outside: its JSON is measured before anything is made of it, and its types have bounds.

`outside` makes the reader of a type. In such a type every list says how many items it may have, every mapping which
keys, and the first wrong item ends the reading: an error about each of a million items would take a gigabyte.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter

from specviz.core.errors import InputError
from specviz.core.problems import WHOLE, Problem, join_problems
from specviz.core.texts import Sentences

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
    fields: int  # most of one object
    free: int = 10_000  # bytes: what is smaller may be as dense as it likes


def values_in(raw: bytes, shape: JsonShape) -> Any:
    check_density(raw, shape)
    try:
        return json.loads(raw.decode(), object_pairs_hook=shape_hook(shape))  # bytes alone may be UTF-16 too
    except InputError:
        raise
    except UnicodeDecodeError:
        raise _refused(shape, say("no_utf8")) from None
    except (ValueError, RecursionError):  # a number of too many digits is a ValueError too
        raise _refused(shape, say("no_json")) from None


MARKS = (b",", b'":', b"[", b"{")
TEXT = re.compile(rb'"(?:[^"\\\n]++|\\[^\n])*+"?')  # ends with its line at the latest: one lone quote hides no more


def check_density(raw: bytes, shape: JsonShape) -> None:
    """Refuse many values for the size, before any of them is made."""
    if _is_dense(raw, [raw.count(mark) for mark in MARKS], shape) and _is_dense(raw, _outside_of_texts(raw), shape):
        raise _refused(shape, say("too_dense"))


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


def shape_hook(shape: JsonShape) -> Any:
    """For `json.loads`: makes each object, unless it has too many fields."""

    def small_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > shape.fields:
            raise _refused(shape, say("many_fields", count=len(pairs)))
        return dict(pairs)

    return small_object


def _refused(shape: JsonShape, why: str) -> InputError:
    return InputError(join_problems(shape.kind, [Problem(WHOLE, why)]))


def missing_fields(value: object, kind: type) -> Iterator[str]:
    """The paths of the fields of a dataclass that the JSON value does not have, like "rounds.0.drafted".

    pydantic finds them too, but makes an object of all that stands beside a missing field: 60 bytes for one.
    """
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from (f"{index}.{path}" for path in missing_fields(each, kind))
    elif isinstance(value, Mapping):  # else pydantic says what it should be
        for name, (required, part) in _parts(kind).items():
            if required and name not in value:
                yield name
            elif part:
                yield from (f"{name}.{path}" for path in missing_fields(value.get(name), part))


@cache
def _parts(kind: type) -> dict[str, tuple[bool, type | None]]:
    """Each field's name, whether it must be there, and the dataclass that it holds, alone or in a list."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        each.name: (each.default is MISSING and each.default_factory is MISSING, _dataclass_in(hints[each.name]))
        for each in fields(kind)
    }


def _dataclass_in(hint: Any) -> type | None:
    if is_dataclass(hint):
        return hint if isinstance(hint, type) else None
    if get_origin(hint) in (Annotated, Union, UnionType, list):
        return next((found for part in get_args(hint) if (found := _dataclass_in(part))), None)
    return None
