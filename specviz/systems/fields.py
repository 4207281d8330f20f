"""A record of one run as JSON objects whose fields are read by name: a wrong value is refused with its place."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from specviz.core.errors import InputError
from specviz.core.outside import WHOLE, Problem, check_density, not_valid
from specviz.core.texts import Sentences
from specviz.core.trace import MAX_TOKENS
from specviz.systems.finding import JsonObject, find_values, left_over, line_of

say_record = Sentences("records")

MOST_BYTES = 32 * 10**6
MOST_COUNT = 10**9
_DECODER = json.JSONDecoder()
_DONE = re.compile(r"^data: *\[DONE\]", re.MULTILINE)
ENVELOPE = "data"  # where a proxy that captures answers puts each
ANSWERS = {"choices", "meta_info", "content", "fragments", "candidate_ids", "prompt_ids"}  # a record has one of these


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object, and its place: empty where the record is one object. A field that is null is not there."""

    place: str
    value: JsonObject

    def _find(self, name: str, kind: type | tuple[type, ...], wanted: str) -> Any:
        found = self.value.get(name)
        if found is not None and (not isinstance(found, kind) or isinstance(found, bool)):
            self.refuse(name, f"Input should be {wanted}")
        return found

    def refuse(self, name: str, why: str) -> NoReturn:
        raise not_valid("record", [Problem(f"{self.place}.{name}".strip("."), why)])

    def has(self, name: str) -> bool:
        return self.value.get(name) is not None

    def text(self, name: str) -> str | None:
        found: str | None = self._find(name, str, "a valid string")
        return found

    def number(self, name: str, most: float = 1e12, kind: Any = (int, float), wanted: str = "a valid number") -> Any:
        """None where there is none."""
        found = self._find(name, kind, wanted)
        if found is not None and not 0 <= found <= most:  # written so that nan fails
            self.refuse(name, f"Input should be from 0 to {most:.15g}")
        return found

    def whole(self, name: str, most: int = MOST_COUNT) -> int | None:
        found: int | None = self.number(name, most, int, "a valid integer")
        return found

    def tokens(self, name: str) -> int | None:
        """How many tokens one output has."""
        return self.whole(name, MAX_TOKENS)

    def inner(self, name: str) -> "Fields":
        """The object of this name; empty where there is none."""
        return Fields(f"{self.place}.{name}".strip("."), self._find(name, dict, "an object") or {})

    def every(self, name: str) -> list["Fields"]:
        found = self._list(name, lambda each: isinstance(each, dict), "an object")
        return [Fields(f"{self.place}.{name}.{number}".strip("."), each) for number, each in enumerate(found)]

    def numbers(self, name: str, most: float = 1e12, kinds: tuple[type, ...] = (int, float)) -> list[Any]:
        return self._list(name, lambda each: type(each) in kinds and 0 <= each <= most, f"from 0 to {most:.15g}")

    def counts(self, name: str, most: int = MOST_COUNT) -> list[int]:
        return self.numbers(name, most, (int,))

    def ids(self, name: str) -> list[int]:
        return self.counts(name, 2**31 - 1)

    def texts(self, name: str) -> list[str]:
        return self._list(name, lambda each: isinstance(each, str), "a valid string")

    def _list(self, name: str, is_right: Callable[[Any], bool], wanted: str) -> list[Any]:
        found: list[Any] = self._find(name, list, "a list") or []
        if len(found) > MAX_TOKENS:
            self.refuse(name, f"List should have at most {MAX_TOKENS} items")
        if (wrong := next((number for number, each in enumerate(found) if not is_right(each)), None)) is not None:
            self.refuse(f"{name}.{wrong}", f"Input should be {wanted}")
        return found


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
    found, left = find_values(whole, _DECODER)
    if wrong := left_over(left):
        raise InputError(say_record("line_no_json", number=line_of(wrong, whole)))
    if after and (more := left_over(after[0])):  # two equal answers would else be read as one
        raise InputError(say_record("after_done", number=line_of(more, text)))
    if not found:
        raise InputError(say_record("empty"))
    alone = len(found) == 1
    return [piece for line, value in found for piece in _pieces("" if alone else f"line {line}", value)]


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
        return logprobs.texts("tokens")
    texts = list[str]()
    for token in logprobs.every("content"):
        raw = bytes(token.counts("bytes", 255)).decode(errors="surrogateescape")
        whole = "".join(f"⟨{ord(char) - 0xDC00:02X}⟩" if 0xDC80 <= ord(char) <= 0xDCFF else char for char in raw)
        texts.append(whole or token.text("token") or "")
    return texts
