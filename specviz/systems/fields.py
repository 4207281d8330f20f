"""A record of one run as JSON objects whose fields are read by name: a wrong value is refused with its place."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.outside import WHOLE, MostItems, Problem, check_density, not_valid
from specviz.core.texts import Sentences
from specviz.core.trace import MAX_TOKENS
from specviz.systems.finding import JsonObject, find_values, left_over, line_of

say_record = Sentences("records")

Found = TypeVar("Found")
MOST_BYTES = 32 * 10**6
_DONE = re.compile(r"^data: *\[DONE\]", re.MULTILINE)
ENVELOPE = "data"  # where a proxy that captures answers puts each
ANSWERS = {"choices", "meta_info", "content", "fragments", "candidate_ids", "prompt_ids"}  # a record has one of these

Count = Annotated[int, Field(ge=0, le=10**12)]
Number = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
AT_MOST = MostItems(MAX_TOKENS)
TEXT, NUMBER, COUNT = TypeAdapter(str | None), TypeAdapter(Number | None), TypeAdapter(Count | None)
NEEDED, TOKENS = TypeAdapter(Number), TypeAdapter(Annotated[int, Field(ge=0, le=MAX_TOKENS)] | None)
OBJECT, OBJECTS = TypeAdapter(JsonObject | None), TypeAdapter(Annotated[list[JsonObject], AT_MOST] | None)
TEXTS, NUMBERS = TypeAdapter(Annotated[list[str], AT_MOST] | None), TypeAdapter(Annotated[list[Number], AT_MOST] | None)
COUNTS = TypeAdapter(Annotated[list[Count], AT_MOST] | None)
IDS = TypeAdapter(Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], AT_MOST] | None)
BYTES = TypeAdapter(Annotated[list[Annotated[int, Field(ge=0, le=255)]], AT_MOST] | None)


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object, and its place: empty where the record is one object. A field that is null is not there."""

    place: str
    value: JsonObject

    def read(self, name: str, kind: TypeAdapter[Found]) -> Found:
        try:
            return kind.validate_python(self.value.get(name), strict=True)
        except ValidationError as error:
            [wrong, *_] = error.errors(include_url=False, include_input=False)
            place = ".".join(map(str, (self.place, name, *wrong["loc"]))).strip(".")
            raise not_valid("record", [Problem(place, wrong["msg"])]) from None

    def has(self, name: str) -> bool:
        return self.value.get(name) is not None

    def text(self, name: str) -> str | None:
        return self.read(name, TEXT)

    def number(self, name: str) -> float | None:
        return self.read(name, NUMBER)

    def whole(self, name: str) -> int | None:
        return self.read(name, COUNT)

    def tokens(self, name: str) -> int | None:
        """How many tokens one output has."""
        return self.read(name, TOKENS)

    def inner(self, name: str) -> "Fields":
        """The object of this name; empty where there is none."""
        found = self.read(name, OBJECT)
        return Fields(f"{self.place}.{name}".strip("."), found or {})

    def every(self, name: str) -> list["Fields"]:
        found = self.read(name, OBJECTS) or []
        return [Fields(f"{self.place}.{name}.{number}".strip("."), each) for number, each in enumerate(found)]

    def numbers(self, name: str) -> list[float]:
        return self.read(name, NUMBERS) or []

    def counts(self, name: str) -> list[int]:
        return self.read(name, COUNTS) or []

    def ids(self, name: str) -> list[int]:
        return self.read(name, IDS) or []


def pieces_of(content: bytes) -> list[Fields]:
    """The JSON objects of a record, in order: one, a list of them, or one on each line; else InputError."""
    if len(content) > MOST_BYTES:
        raise InputError(say_record("too_large", most=MOST_BYTES // 10**6))
    check_density(content, "record")
    try:
        text = content.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        raise InputError(say_record("no_utf8")) from None
    whole, *after = _DONE.split(text, 1)
    found, left = find_values(whole)
    if wrong := left_over(left):
        raise InputError(say_record("line_no_json", number=line_of(wrong, whole)))
    if after and (more := left_over(after[0])):  # two equal answers would else be read as one
        raise InputError(say_record("after_done", number=line_of(more, text)))
    alone = len(found) == 1
    pieces = [piece for line, value in found for piece in _pieces("" if alone else f"line {line}", value)]
    if not pieces:
        raise InputError(say_record("empty"))
    return pieces


def _pieces(place: str, value: Any) -> Iterator[Fields]:
    if isinstance(value, list):
        for number, each in enumerate(value):
            yield from _pieces(f"{place}.{number}".strip("."), each)
    elif not isinstance(value, dict):
        raise not_valid("record", [Problem(place or WHOLE, say_record("no_object"))])
    elif isinstance(inner := value.get(ENVELOPE), dict) and not ANSWERS & set(value):
        yield from _pieces(f"{place}.{ENVELOPE}".strip("."), inner)
    else:
        yield Fields(place, value)


def text_of(choice: Fields) -> str:
    """The text of an answer in OpenAI's format, or of a part of it. What a model thinks comes first."""
    text = choice.text("text")
    return text if text is not None else "".join(thought_and_said(choice))


def thought_and_said(choice: Fields) -> tuple[str, str]:
    """Of a chat's answer, or of a part of it: what the model thinks before it answers, and what it says."""
    message = choice.inner("message" if choice.has("message") else "delta")
    thought = message.text("reasoning") or message.text("reasoning_content") or ""
    if not isinstance(message.value.get("content"), list):
        return thought, message.text("content") or ""
    parts = message.every("content")  # each with a text, or with parts of what the model thinks
    thinking = (each for part in parts for each in part.every("thinking"))
    thought += "".join(each.text("text") or "" for each in thinking)
    return thought, "".join(part.text("text") or "" for part in parts)


def token_texts(choice: Fields) -> list[str]:
    """The texts of its tokens, where the server says their log probabilities.

    What is no whole character stands as ⟨E2⟩.
    """
    logprobs = choice.inner("logprobs")
    if not isinstance(logprobs.value.get("content"), list):
        return logprobs.read("tokens", TEXTS) or []
    texts = list[str]()
    for token in logprobs.every("content"):
        raw = bytes(token.read("bytes", BYTES) or []).decode(errors="surrogateescape")
        whole = "".join(f"⟨{ord(char) - 0xDC00:02X}⟩" if 0xDC80 <= ord(char) <= 0xDCFF else char for char in raw)
        texts.append(whole or token.text("token") or "")
    return texts
