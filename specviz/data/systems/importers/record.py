"""A record as JSON values, and the parts of an answer in OpenAI's format that vLLM and llama.cpp share."""

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.outside import JsonShape, MostItems, check_density, outside, shape_hook
from specviz.core.problems import MOST_PROBLEMS, WHOLE, Problem, join_problems, problems_of
from specviz.core.texts import Sentences
from specviz.core.trace import MAX_TOKENS

say = Sentences("records")

MOST_BYTES = 32 * 10**6
MOST_PIECES = 200_000  # of a stream
MOST_DIGITS = 30
MOST_CHOICES = 64  # answers in one piece
MOST_OF_A_TOKEN = 2_000  # bytes
# A list of counts has two bytes a number, which cost little. llama.cpp writes about 70 fields of settings.
SHAPE = JsonShape("record", value=1, field=8, bracket=10, braces=14, fields=256)
SKIPPED = ("event:", "id:", "retry:", ":")  # lines of a stream that hold no data

_OBJECT = shape_hook(SHAPE)
T = TypeVar("T")
Count = Annotated[int, Field(ge=0, le=10**9)]
Id = Annotated[int, Field(ge=0, lt=2**31)]
Ids = Annotated[list[Id], MostItems(MAX_TOKENS)]
TokenCount = Annotated[int, Field(ge=0, le=MAX_TOKENS)]  # in one output
Milliseconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class RecordPiece:
    """One JSON object of a record, and its place there: empty where the record is one object."""

    place: str
    value: dict[str, Any]


def pieces_of(content: bytes) -> list[RecordPiece]:
    """The JSON objects of a record, in order: one, a list of them, or one on each line; else InputError."""
    if len(content) > MOST_BYTES:
        raise InputError(say("too_large", most=MOST_BYTES // 10**6))
    check_density(content, SHAPE)
    try:
        text = content.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        raise InputError(say("no_utf8")) from None
    whole = _json(text)
    if isinstance(whole, list):
        found = [_piece(str(number), value) for number, value in enumerate(whole)]
    else:
        found = list(_lines(text)) if whole is None else [_piece("", whole)]
    if not found:
        raise InputError(say("empty"))
    return found


def _lines(text: str) -> Iterator[RecordPiece]:
    lines = text.split("\n")  # not splitlines: a string in JSON may hold other separators
    if len(lines) > MOST_PIECES:
        raise InputError(say("too_many_lines", most=MOST_PIECES))
    ended = False
    for number, line in enumerate(lines, start=1):
        data = line.strip().removeprefix("data:").strip()
        if not data or data == "[DONE]" or line.startswith(SKIPPED):
            ended = ended or data == "[DONE]"
            continue
        if ended:  # two equal answers would else be read as one: no counter becomes smaller
            raise InputError(say("after_done", number=number))
        value = _json(data)
        if value is None:
            raise InputError(say("line_no_json", number=number))
        yield _piece(f"line {number}", value)


ENVELOPE = "data"  # where a proxy that captures answers puts each
ANSWERS = {"choices", "meta_info", "content", "fragments", "candidate_ids", "prompt_ids"}  # a record has one of these


def _piece(place: str, value: Any) -> RecordPiece:
    if not isinstance(value, dict):
        raise InputError(join_problems("record", [Problem(place or WHOLE, say("no_object"))]))
    inner = value.get(ENVELOPE)
    if isinstance(inner, dict) and not ANSWERS & set(value):
        return _piece(f"{place}.{ENVELOPE}".lstrip("."), inner)
    return RecordPiece(place, value)


def _json(text: str) -> Any:
    """The value; None where the text is not JSON, or holds a number that no system writes."""
    try:
        return json.loads(text, parse_int=_whole, parse_constant=_refuse, object_pairs_hook=_OBJECT)
    except InputError:
        raise
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError("too many digits")
    return int(digits)


def _refuse(name: str) -> float:
    raise ValueError(name)  # NaN and Infinity are no JSON


def reader(kind: type[T]) -> Callable[[Sequence[RecordPiece]], list[T]]:
    """Reads each object as a `kind`, which follows the documentation of its system; other fields are ignored."""
    shape = outside(kind)
    return lambda pieces: _read(pieces, shape)


def _read(pieces: Sequence[RecordPiece], shape: TypeAdapter[T]) -> list[T]:
    read, problems = list[T](), list[Problem]()
    for piece in pieces:
        try:
            read.append(shape.validate_json(json.dumps(piece.value), strict=True))
        except ValidationError as error:
            problems += problems_of(error, piece.place)
        if len(problems) > MOST_PROBLEMS:
            break
    if problems:
        raise InputError(join_problems("record", problems))
    return read


@dataclass(frozen=True, slots=True)
class Message:
    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None

    @property
    def text(self) -> str:
        return (self.reasoning or self.reasoning_content or "") + (self.content or "")


@dataclass(frozen=True, slots=True)
class TokenText:
    token: str
    bytes: Annotated[list[Annotated[int, Field(ge=0, le=255)]], MostItems(MOST_OF_A_TOKEN)] | None = None

    @property
    def text(self) -> str:
        return text_of_bytes(bytes(self.bytes)) if self.bytes else self.token


@dataclass(frozen=True, slots=True)
class Logprobs:
    content: Annotated[list[TokenText], MostItems(MAX_TOKENS)] | None = None
    tokens: Annotated[list[str], MostItems(MAX_TOKENS)] | None = None

    @property
    def texts(self) -> list[str]:
        return [each.text for each in self.content] if self.content else self.tokens or []


@dataclass(frozen=True, slots=True)
class ResponseChoice:
    index: int = 0
    text: str | None = None  # of completions
    message: Message | None = None  # of chats
    delta: Message | None = None  # of a chat's stream
    finish_reason: str | None = None
    stop_reason: int | str | None = None  # vLLM: None at an end of text
    token_ids: Ids | None = None  # vLLM, with return_token_ids
    prompt_token_ids: Ids | None = None
    logprobs: Logprobs | None = None

    @property
    def written(self) -> str:
        message = self.message or self.delta
        return self.text if self.text is not None else message.text if message else ""


@dataclass(frozen=True, slots=True)
class Usage:
    completion_tokens: TokenCount


def text_of_bytes(raw: bytes) -> str:
    """The text of these bytes; what is no whole character stands as ⟨E2⟩."""
    return "".join(
        f"⟨{ord(char) - 0xDC00:02X}⟩" if 0xDC80 <= ord(char) <= 0xDCFF else char
        for char in raw.decode(errors="surrogateescape")
    )
