"""One streamed answer of an OpenAI-compatible server, read part by part, within bounds of bytes. No network."""

import json
import time
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from specviz.core.errors import InputError
from specviz.core.outside import check_density
from specviz.measure.endpoints.result import Accepted, Answer
from specviz.systems import counts_in_answer
from specviz.systems.fields import Fields, text_of, thought_and_said
from specviz.systems.finding import JsonObject

MOST_LINE = 256_000  # bytes of one part
FREE, A_TOKEN = 400_000, 2_000  # bytes of a whole answer: so many, and so many for each token that was asked for
FEW_MORE = 16  # tokens beyond those that were asked for: a server may end its round
SHOWN = 200  # characters of what a server says
NOTHING = None, None
NOWHERE = Answer("with", 0, 0, 0, 0, 0.0, None, 0.0, None)  # an answer that is in no bench


class BadAnswer(InputError):
    """An answer that cannot be read, or that the server did not finish; one sentence without the server's name."""

    def __init__(self, problem: str, status: int = 0, wait: int | None = None) -> None:
        super().__init__(problem)
        self.status, self.wait = status, wait  # of HTTP; after how many seconds it may be asked again


class Part(NamedTuple):
    """One part of a stream."""

    piece: JsonObject
    seconds: float  # when it came
    text: str
    ids: list[int]
    finish: str  # why the answer ended
    counted: tuple[int | None, int | None]  # tokens so far, and those of the prompt
    thought: int  # characters of what the model thinks, in this part
    reasoned: int | None  # tokens so far of what it thinks


class Lines:
    """Bytes in, lines with the times at which they came: what must be done while others are timed, and no more."""

    def __init__(self, asked: int) -> None:
        self.asked, self.most = asked, FREE + A_TOKEN * asked  # tokens, bytes
        self.began = time.perf_counter()
        self.came: list[tuple[float, bytes]] = []  # seconds by `time.perf_counter`, and a line
        self.problem: BadAnswer | None = None  # why there are no more of them
        self._bytes = 0
        self._rest = bytearray()

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
        return bool(self.came) and _is_end(self.came[-1][1])

    def answer(self, place: Answer = NOWHERE) -> Answer:
        """The answer of this place. Raises BadAnswer where it is not whole, or says of itself what cannot be."""
        if self.problem:
            raise self.problem
        parts, ended = list[Part](), False
        for came, line in self.came:
            if line.startswith(b"error:"):  # of llama.cpp's server
                raise BadAnswer(f"it says {quote(message_in(line[6:]))}")
            ended = ended or _is_end(line)
            if not ended and line.startswith(b"data:") and (data := line[5:].strip()):
                parts.append(_read_part(parse(data), round(came - self.began, 6)))
        finish = next((part.finish for part in reversed(parts) if part.finish), "")
        written = [part for part in parts if part.text or part.ids]
        if not ended and not finish:
            raise BadAnswer("its stream ended before its answer did")
        if not written and not finish:  # an answer may end before its first word
            raise BadAnswer("its answer has no text")
        tokens, prompt_tokens = next((part.counted for part in reversed(parts) if part.counted[0] is not None), NOTHING)
        texts, ids = [part.text for part in written if part.text], [each for part in written for each in part.ids]
        tokens = None if texts and not tokens else tokens  # some servers fill the field with zeros
        if tokens is not None and tokens > self.asked + FEW_MORE:
            raise BadAnswer(f"it says that it wrote {tokens:,} tokens, and at most {self.asked:,} were asked for")
        if tokens is not None and tokens < (sent := max(len(ids), len(texts))):
            raise BadAnswer(f"it sent {sent:,} tokens, and says that it wrote {tokens:,}")
        known = [part.counted[0] for part in written if part.counted[0] is not None]
        new = [after - before for before, after in pairwise([0, *known])]
        part_tokens = new if len(new) == len(written) and min(new, default=-1) >= 0 and sum(new) == tokens else []
        reasoned = next((part.reasoned for part in reversed(parts) if part.reasoned), None)
        thought = sum(part.thought for part in written)
        return replace(
            place,
            first=written[0].seconds if written else None,
            seconds=written[-1].seconds if written else 0.0,
            tokens=tokens,
            prompt_tokens=prompt_tokens,
            text="".join(texts),
            token_ids=ids,
            finish=finish[:40],
            part_seconds=[part.seconds for part in written],
            part_tokens=part_tokens,
            reasoning=min(1.0, reasoned / tokens if reasoned and tokens else thought / (len("".join(texts)) or 1)),
            accepted=Accepted.from_counts(counts_in_answer([part.piece for part in parts])),
        )


def _is_end(line: bytes) -> bool:
    return line.startswith(b"data:") and line[5:].strip() == b"[DONE]"


def _read_part(piece: JsonObject, seconds: float) -> Part:
    if error := piece.get("error"):
        raise BadAnswer(f"it says {quote(error)}")
    try:
        choices, usage = Fields("", piece).every("choices"), Fields("", piece).inner("usage")
        text, ids = "".join(map(text_of, choices)), [each for choice in choices for each in choice.ids("token_ids")]
        finish = next(filter(None, (choice.text("finish_reason") for choice in choices)), "")
        counted = usage.tokens("completion_tokens")
        thought = sum(len(thought_and_said(choice)[0]) for choice in choices if "text" not in choice.value)
    except InputError:
        what = "it sent a part that is no answer of a completion"
        raise BadAnswer(f"{what}: {quote(json.dumps(piece))}") from None
    prompt, details = usage.value.get("prompt_tokens"), usage.value.get("completion_tokens_details")
    reasoned = details.get("reasoning_tokens") if isinstance(details, dict) else None
    prompt, reasoned = (
        count if isinstance(count, int) and 0 <= count < 10**9 else None for count in (prompt, reasoned)
    )
    return Part(piece, seconds, text, ids, finish, (counted, prompt), thought, reasoned)


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
    """What a server says, in quotation marks, on one line and short; the message where it is an error object."""
    if isinstance(what, bytes):
        what = what.decode(errors="replace")
    if isinstance(what, dict):
        inner = what.get("error", what)
        what = inner.get("message", inner.get("detail", inner)) if isinstance(inner, dict) else inner
    line = " ".join(str(what).split())
    shown = "".join(char if char.isprintable() else "�" for char in line[:SHOWN])
    return f"“{shown}{'…' if len(line) > SHOWN else ''}”"
