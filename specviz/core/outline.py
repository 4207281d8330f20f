"""A JSON file's outline, checked before its values: a hostile file must not cost many times its size.

pydantic copies its input into each error, so an object of ten fields, all of them missing, costs ten times the object.
Here the fields are looked for in the plain JSON values, without a copy; what pydantic finds later is at most one wrong
value a field.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from specviz.core.errors import InputError

BYTES_A_VALUE = 7  # the least a comma: traces have 12 and more; denser files only take memory
BYTES_A_FIELD = 16  # the least a field: traces have 22 and more
BYTES_A_BRACKET = 14  # the least a list or an object: traces have 16 and more
MOST_FIELDS = 64  # of one object: a trace's have 13 at most
SMALL = 10_000  # bytes: such a file may be as dense as it likes


def read_outline(raw: bytes, *, dense: bool) -> Any:
    """The file's JSON values; `dense`: whether it may have many values for its size.

    Raises:
        InputError: it is not JSON, has an object of many fields, or is denser than allowed.
    """
    brackets = raw.count(b"[") + raw.count(b"{")
    least = max(raw.count(b",") * BYTES_A_VALUE, raw.count(b'":') * BYTES_A_FIELD, brackets * BYTES_A_BRACKET)
    if not dense and least > max(len(raw), SMALL):
        raise InputError("The trace is not valid at the file: it has too many values for its size.")
    try:
        return json.loads(raw.decode(), object_pairs_hook=_small_object)  # bytes alone may be UTF-16 too
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError("The trace is not valid at the file: it is not UTF-8 text.") from None
    except (ValueError, RecursionError):  # a number of too many digits is a ValueError too
        raise InputError("The trace is not valid at the file: Invalid JSON.") from None


def _small_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_FIELDS:
        raise InputError(f"The trace is not valid at the file: an object in it has {len(pairs):,} fields.")
    return dict(pairs)


def missing_fields(value: object, kind: type) -> Iterator[str]:
    """The paths of the fields of a dataclass that the JSON value does not have, like "rounds.0.drafted"."""
    if not isinstance(value, Mapping):
        return  # pydantic says what it should be
    for name, (required, part) in _parts(kind).items():
        if name not in value:
            if required:
                yield name
        elif part:
            yield from (f"{name}.{path}" for path in _missing_inside(value[name], part))


def _missing_inside(value: object, part: type) -> Iterator[str]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        yield from missing_fields(value, part)
        return
    for index, each in enumerate(value):
        yield from (f"{index}.{path}" for path in missing_fields(each, part))


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
