"""JSON in pasted text: a whole answer, lines of answers, the lines of a stream, or one field of an answer."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

Found = dict[str, Any]
MOST_PARTS = 10_000
MOST_BRACKETS = 50_000  # more are no answers; each takes many times its size
MOST_FAILED = 200  # places at which no object begins after all
_LINE_START = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)


def objects(text: str) -> list[Found]:
    """Every JSON object in the text, inner ones too, in the order written. Of a stream only the last line counts."""
    return [inner for value in _values(text) for inner in _inside(value)]


def with_keys(found: Sequence[Found], *keys: str) -> list[Found]:
    """Those objects that have one of these keys."""
    return [each for each in found if any(key in each for key in keys)]


def _values(text: str) -> list[Any]:
    """What is JSON: the whole text, the text in braces (a field with its name), a stream's last line, or parts."""
    if not any(brace in text for brace in "{[:") or text.count("{") + text.count("[") > MOST_BRACKETS:
        return []
    for whole in (text, f"{{{text.strip().rstrip(',')}}}"):
        if (value := _read(whole)) is not None:
            return [value]
    pieces = [line[5:] for line in map(str.strip, text.splitlines()) if line.startswith("data:")]
    streamed = [value for piece in pieces if (value := _read(piece)) is not None]
    return _last_with_counters(streamed) if streamed else list(islice(_parts(text), MOST_PARTS))


def _parts(text: str) -> Iterator[Any]:
    """Every JSON object that begins a line, as in lines of JSON or an answer below a command."""
    end = failed = 0
    for start in _LINE_START.finditer(text):
        if start.end() - 1 < end or failed == MOST_FAILED:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start.end() - 1)
        except (ValueError, RecursionError):
            failed += 1
            continue
        yield value


def _last_with_counters(streamed: list[Any]) -> list[Any]:
    """A stream repeats its running totals: the last piece that says anything about drafts."""
    return next(([each] for each in reversed(streamed) if _says_anything(each)), [])


def _says_anything(value: Any) -> bool:
    return any("draft" in key.lower() or "spec" in key for found in _inside(value) for key in found)


def _read(text: str) -> Any:
    """The value, or None where the text is not JSON."""
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _short(kind: Callable[[str], float]) -> Callable[[str], float | str]:
    return lambda written: kind(written) if len(written) < LONG else written


LONG = 40  # characters; a longer number stays text, so that it is refused with its name
_DECODER = json.JSONDecoder(parse_int=_short(int), parse_float=_short(float))


def _inside(value: Any) -> Iterator[Found]:
    """The objects in a value, outer ones first, without recursion: the text decides how deep it is."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            waiting.extend(reversed(list(here.values())))
        elif isinstance(here, list):
            waiting.extend(reversed(here))
