"""A record as JSON values: one answer, lines of JSON, or the lines of a stream as curl saves it."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.problems import MOST_PROBLEMS, Problem, in_a_sentence, problems_of

MOST_BYTES = 32 * 10**6
MOST_PIECES = 200_000  # of a stream
MOST_DIGITS = 30
SKIPPED = ("event:", "id:", "retry:", ":")  # lines of a stream that hold no data

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Piece:
    """One JSON object of a record, and its place there: empty where the record is one object."""

    place: str
    value: dict[str, Any]


def pieces_of(content: bytes) -> list[Piece]:
    """The JSON objects of a record, in order: one, a list of them, or one on each line.

    Raises:
        InputError: it is too large, not UTF-8, or a line of it is not JSON.
    """
    if len(content) > MOST_BYTES:
        raise InputError(f"The record is larger than {MOST_BYTES // 10**6} MB.")
    try:
        text = content.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        raise InputError("The record is not UTF-8 text.") from None
    found = list(_pieces(text))
    if not found:
        raise InputError("The record is empty.")
    return found


def _pieces(text: str) -> Iterator[Piece]:
    whole = _json(text)
    if whole is None:
        yield from _lines(text)
        return
    values = whole if isinstance(whole, list) else [whole]
    for number, value in enumerate(values):
        yield _piece(str(number) if isinstance(whole, list) else "", value)


def _lines(text: str) -> Iterator[Piece]:
    lines = text.split("\n")  # not splitlines: a string in JSON may hold other separators
    if len(lines) > MOST_PIECES:
        raise InputError(f"The record has more than {MOST_PIECES:,} lines.")
    for number, line in enumerate(lines, start=1):
        data = line.strip().removeprefix("data:").strip()
        if not data or data == "[DONE]" or line.startswith(SKIPPED):
            continue
        value = _json(data)
        if value is None:
            raise InputError(
                f"Line {number} of the record is not JSON: it must be an answer, lines of JSON or a stream."
            )
        yield _piece(f"line {number}", value)


def _piece(place: str, value: Any) -> Piece:
    if not isinstance(value, dict):
        raise InputError(f"The record is not valid at {place or 'the file'}: it must be a JSON object.")
    return Piece(place, value)


def _json(text: str) -> Any:
    """The value; None where the text is not JSON, or holds a number that no system writes."""
    try:
        return json.loads(text, parse_int=_whole, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError("too many digits")
    return int(digits)


def _refuse(name: str) -> float:
    raise ValueError(name)  # NaN and Infinity are no JSON


def read_pieces(pieces: Sequence[Piece], shape: TypeAdapter[T]) -> list[T]:
    """Each object as the system's documentation describes it; fields that are not named there are ignored.

    Raises:
        InputError: one sentence that names every wrong field, up to a number.
    """
    read, problems = list[T](), list[Problem]()
    for piece in pieces:
        try:
            read.append(shape.validate_json(json.dumps(piece.value), strict=True))
        except ValidationError as error:
            problems += problems_of(error, piece.place)
        if len(problems) > MOST_PROBLEMS:
            break
    if problems:
        raise InputError(in_a_sentence("record", problems))
    return read
