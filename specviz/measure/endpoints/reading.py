"""One streamed answer of an OpenAI-compatible server, read part by part, within bounds of bytes. No network."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from specviz.core.errors import InputError
from specviz.core.outside import check_density
from specviz.systems.fields import Fields, choices_in
from specviz.systems.finding import JsonObject

MOST_LINE = 256_000  # bytes of one part
FREE, A_TOKEN = 400_000, 2_000  # bytes of a whole answer: so many, and so many for each token that was asked for
FEW_MORE = 16  # tokens beyond those that were asked for: a server may end its round
SHOWN = 200  # characters of what a server says


class BadAnswer(InputError):
    """An answer that cannot be read, or that the server did not finish; one sentence without the server's name."""

    def __init__(self, problem: str, status: int = 0, wait: int | None = None) -> None:
        super().__init__(problem)
        self.status, self.wait = status, wait  # of HTTP; after how many seconds it may be asked again


class Lines:
    """Bytes in, lines with the times at which they came: what must be done while others are timed, and no more."""

    def __init__(self, asked: int) -> None:
        self.asked, self.most = asked, FREE + A_TOKEN * asked  # tokens, bytes
        self.began = time.perf_counter()
        self.came: list[tuple[float, bytes]] = []  # seconds by `time.perf_counter`, and a line
        self.problem: BadAnswer | None = None  # why there are no more of them
        self._bytes = 0
        self._rest = bytearray()

    def answer(self) -> "StreamedAnswer":
        """What they say. Raises BadAnswer where it is not whole."""
        if self.problem:
            raise self.problem
        answer = StreamedAnswer(self.asked, self.began)
        answer.read(self.came)
        answer.check()
        return answer

    def feed(self, data: bytes) -> bool:
        """Keep what has just come; whether that was the end of the stream. Raises BadAnswer."""
        now = time.perf_counter()
        self._bytes += len(data)
        if self._bytes > self.most:
            raise BadAnswer(f"its answer is longer than {self.most / 1e6:.1f} MB, and was ended")
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._rest += part
            if self._rest.strip():
                self.came.append((now, bytes(self._rest.strip())))
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > MOST_LINE:
            raise BadAnswer(f"a part of its stream is longer than {MOST_LINE // 1000} kB, and was ended")
        return bool(self.came) and is_end(self.came[-1][1])


def is_end(line: bytes) -> bool:
    return line.startswith(b"data:") and line[5:].strip() == b"[DONE]"


@dataclass(slots=True)
class StreamedAnswer:
    """What the lines of a stream say. Seconds count from `began`."""

    asked: int  # tokens
    began: float
    pieces: list[JsonObject] = field(default_factory=list)
    text: str = ""
    part_seconds: list[float] = field(default_factory=list)  # of each part that has text or ids
    texts: int = 0  # parts with text
    counted: list[int | None] = field(default_factory=list)  # tokens so far, as the server says with each part
    token_ids: list[int] = field(default_factory=list)
    finish: str = ""
    tokens: int | None = None
    prompt_tokens: int | None = None
    ended: bool = False

    def read(self, lines: Sequence[tuple[float, bytes]]) -> None:
        """Read all lines. Raises BadAnswer; what was read until then stays."""
        for came, line in lines:
            if is_end(line):
                self.ended = True
            elif line.startswith(b"error:"):  # of llama.cpp's server
                raise BadAnswer(f"it says {quote(message_in(line[6:]))}")
            elif line.startswith(b"data:") and not self.ended and (data := line[5:].strip()):
                self._read_piece(parse(data), came - self.began)

    def _read_piece(self, piece: JsonObject, now: float) -> None:
        if error := piece.get("error"):
            raise BadAnswer(f"it says {quote(error)}")
        self.pieces.append(piece)
        try:
            choices, usage = choices_in(Fields("", piece)), Fields("", piece).inner("usage")
            text, ids = "".join(each.written for each in choices), [each for choice in choices for each in choice.ids]
            self.finish = next((choice.finish for choice in choices if choice.finish), self.finish)
            counted = usage.tokens("completion_tokens")
        except InputError:
            what = "it sent a part that is no answer of a completion"
            raise BadAnswer(f"{what}: {quote(json.dumps(piece))}") from None
        if counted is not None:
            prompt = usage.value.get("prompt_tokens")
            known = isinstance(prompt, int) and 0 <= prompt < 10**9
            self.tokens, self.prompt_tokens = counted, prompt if known else None
        if text or ids:
            self.text += text
            self.texts += bool(text)
            self.token_ids += ids
            self.part_seconds.append(round(now, 6))
            self.counted.append(counted)

    @property
    def part_tokens(self) -> list[int]:
        """Tokens of each part, if the server says with each how many there are so far; else none."""
        so_far = [count for count in self.counted if count is not None]
        new = [after - before for before, after in zip([0, *so_far], so_far, strict=False)]
        complete = len(so_far) == len(self.counted) and min(new, default=-1) >= 0 and sum(new) == self.tokens
        return new if complete else []

    def check(self) -> None:
        """Raise BadAnswer where the answer is not whole, or where what it says of itself cannot be."""
        if not self.ended and not self.finish:
            raise BadAnswer("its stream ended before its answer did")
        if not self.part_seconds and not self.finish:  # an answer may end before its first word
            raise BadAnswer("its answer has no text")
        parts = max(len(self.token_ids), self.texts)
        if self.tokens == 0 and self.texts:  # some servers fill the field with zeros
            self.tokens = None
        if self.tokens is None:
            return
        if self.tokens > self.asked + FEW_MORE:
            raise BadAnswer(f"it says that it wrote {self.tokens:,} tokens, and at most {self.asked:,} were asked for")
        if self.tokens < parts:
            raise BadAnswer(f"it sent {parts:,} tokens, and says that it wrote {self.tokens:,}")


def parse(data: bytes, kinds: tuple[type, ...] = (dict,)) -> Any:
    """A JSON object (or a value of such a kind) that a server sent. Raises BadAnswer."""
    try:
        check_density(data, "answer")
        value = json.loads(data.decode())
    except UnicodeDecodeError:
        raise BadAnswer("it sent bytes that are no UTF-8 text") from None
    except (ValueError, RecursionError):
        raise BadAnswer(f"it sent what is no JSON: {quote(data)}") from None
    if not isinstance(value, kinds):
        raise BadAnswer(f"it sent what is no JSON object: {quote(data)}")
    return value


def message_in(content: bytes) -> Any:
    """What a server sent in the place of an answer: an object of JSON, or the bytes as they are."""
    try:
        return parse(content)
    except BadAnswer:
        return content


def quote(what: Any) -> str:
    """What a server quote, in quotation marks, on one line and short; the message where it is an error object."""
    if isinstance(what, bytes):
        what = what.decode(errors="replace")
    if isinstance(what, dict):
        inner = what.get("error", what)
        what = inner.get("message", inner.get("detail", inner)) if isinstance(inner, dict) else inner
    line = " ".join(str(what).split())
    shown = "".join(char if char.isprintable() else "�" for char in line[:SHOWN])
    return f"“{shown}{'…' if len(line) > SHOWN else ''}”"
