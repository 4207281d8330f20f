"""What pasted text holds: objects (JSON, Python) and records of a log. (Tables and lines are in `rows`.)

Logs come with colours, in containers' JSON, wrapped at the width of a terminal, and quoted in Markdown.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Any

from specviz.data.systems.serving_counters.records import JsonObject

MOST_PARTS = 10_000
MOST_BRACKETS = 50_000  # more are no answers; each takes many times its size
MOST_FAILED = 200  # places at which no object begins after all
MOST_IN_VAIN = 500_000  # characters that are read from such places
MAX_LINE = 4_000  # characters; a longer line is not a counter, and parsing it could be slow
LONG = 40  # characters; a longer number stays text, so that it is refused with its name
# An object begins a line, or follows a blank, a colon or a sign in the middle of one.
_START = re.compile(r"^[ \t]*[{\[]|(?<=[\s:=(,])\{", re.MULTILINE)
_PYTHON = re.compile(r"""\{\s*'""")
_TOKEN = re.compile(
    r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\b(?:True|False|None)\b|,(?=\s*[\]})])|[\[\](){}'"]""", re.DOTALL
)
_WORDS = {"True": "true", "False": "false", "None": "null", "(": "[", ")": "]", ",": ""}
_COLOUR = re.compile(r"\x1b\[[\d;]{0,20}[mK]|\[\d{1,3}(?:;\d{1,3}){0,5}m")  # a copy may have lost its escape
_KUBERNETES = re.compile(r"^(?:\[pod/\S+\] )?\d{4}-\d\d-\d\dT\S+ std(?:out|err) ([FP]) (.*)$")
_COMPOSE = re.compile(r"^[\w.-]+-\d+ +\| ")
_MARKS = ("SpecDecoding", "Speculative metrics", "Decode batch", "draft acceptance", "tokens generated", "statistics ")
# Markdown around a line (quotes, code, bold text, “\\_”), a blank before a colon, and signs of a page or a scan.
_QUOTE = re.compile(r"^(?: {0,3}>){1,9} ?")
_MARKDOWN = re.compile(r"`|\*\*|\\(?=_)|(?<=\w) (?=: )")
_SIGNS = str.maketrans("\u00a0\u2007\u2009\u202f\u3000：，＝（）％｜", "     :,=()%|", "\u200b\ufeff")
_NAME_AS_LABEL = re.compile(r'^\{__name__="(\w[\w:]{1,100})",? ?')  # as Prometheus shows the result of a query
_QUOTATION = str.maketrans("“”„‟‘’", '""""\'\'')
_LOG_KEYS = ("log", "message", "msg", "MESSAGE", "line")


def plain(text: str) -> str:
    """The text without colours and Markdown, and without what a container's log driver wrote around each line."""
    lines, part = list[str](), ""
    for line in _MARKDOWN.sub("", _COLOUR.sub("", text.translate(_SIGNS))).splitlines():
        line = _NAME_AS_LABEL.sub(r"\1{", _QUOTE.sub("", line))
        if found := _KUBERNETES.match(line):
            part += found[2]
            if found[1] == "P":  # a part of a long line
                continue
            line, part = part, ""
        lines.append(_COMPOSE.sub("", _unwrap_driver(line)))
    return "\n".join(lines)


def straight(text: str) -> str:
    """The text with straight quotation marks: a page or an editor may have bent or escaped those of JSON."""
    return html.unescape(text).translate(_QUOTATION) if "{" in text else text


def _unwrap_driver(line: str) -> str:
    """The text of a line that a log driver wrote as an object with it."""
    if not line.startswith("{") or len(line) > MAX_LINE or not any(f'"{key}"' in line for key in _LOG_KEYS):
        return line
    value = _read(line)
    texts = [value[key] for key in _LOG_KEYS if isinstance(value.get(key), str)] if isinstance(value, dict) else []
    # An answer may have a message too: its counts are in objects inside it.
    logged = texts and (any(mark in texts[0] for mark in _MARKS) or not any(map(_holds_more, value.values())))
    return _COLOUR.sub("", texts[0].rstrip("\n")) if logged else line


def _holds_more(value: Any) -> bool:
    return isinstance(value, dict | list)


def objects(text: str) -> list[JsonObject]:
    """Every object in the text, inner ones too, in the order written. Of each stream only the last line counts."""
    return [inner for value in _values(text) for inner in walk_objects(value)]


def select_keys(found: Sequence[JsonObject], *keys: str) -> list[JsonObject]:
    return [each for each in found if any(key in each for key in keys)]


def _values(text: str) -> list[Any]:
    """What is JSON: the whole text, the text in braces (a field with its name), a stream's last line, or parts."""
    if not any(brace in text for brace in "{[:") or text.count("{") + text.count("[") > MOST_BRACKETS:
        return []
    for whole in (text, f"{{{text.strip().rstrip(',')}}}"):
        if (value := _read(whole)) is not None:
            return [value]
    pieces = [line[5:].strip() for line in map(str.strip, text.splitlines()) if line.startswith("data:")]
    streams = [read for stream in _streams(pieces) if (read := [v for v in map(_read, stream) if v is not None])]
    if not streams:
        return list(islice(chain(_parts(text), _printed(text)), MOST_PARTS))
    return [value for stream in streams for value in _end_of(stream)]


def _end_of(stream: Sequence[Any]) -> list[Any]:
    """A stream repeats its running totals: its last piece that says anything about drafts, and why the text ended."""
    last = next((place for place in reversed(range(len(stream))) if _has_value(stream[place])), None)
    if last is None:
        return []
    reasons = [each["finish_reason"] for value in stream[:last] for each in _ends(value)]
    return [stream[last], *({"finish_reason": reason} for reason in reasons[-1:] if not _ends(stream[last]))]


def _ends(value: Any) -> list[JsonObject]:
    return [each for each in select_keys(list(walk_objects(value)), "finish_reason") if each["finish_reason"]]


def _streams(pieces: Iterable[str]) -> list[list[str]]:
    """The pieces of each stream: “[DONE]” ends one."""
    streams = [list[str]()]
    for piece in pieces:
        if piece == "[DONE]":
            streams.append([])
        else:
            streams[-1].append(piece)
    return streams


def _parts(text: str) -> Iterator[Any]:
    """Every JSON object. What is read in vain is bounded: each bracket could read to the end."""
    end, failed, in_vain = 0, 0, 0
    for start in (found.end() - 1 for found in _START.finditer(text)):
        if start < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            failed += 1
            in_vain += getattr(error, "pos", len(text)) - start
            if failed == MOST_FAILED or in_vain > MOST_IN_VAIN:
                return
        else:
            yield value


def _printed(text: str) -> Iterator[Any]:
    """Every dictionary that Python printed: its text and words are written as JSON, then it is read."""
    end, read = 0, 0
    for start in (found.start() for found in _PYTHON.finditer(text)):
        if start < end or read > MOST_IN_VAIN:
            continue
        written, stop = _convert_to_json(text, start)
        read += stop - start
        if written is not None and (value := _read(written)) is not None:
            end = stop
            yield value


def _convert_to_json(text: str, start: int) -> tuple[str | None, int]:
    """The dictionary that begins here as JSON, and its end; None if it does not end."""
    pieces, depth, place = list[str](), 0, start
    for found in _TOKEN.finditer(text, start, start + MOST_IN_VAIN):
        token = found[0]
        if token in "'\"":  # a text that does not end
            return None, len(text)
        pieces.append(text[place : found.start()])
        place = found.end()
        pieces.append(_text(token) if token[0] in "'\"" else _WORDS.get(token, token))
        depth += (token in "[({") - (token in "])}") if len(token) == 1 else 0
        if depth <= 0:
            return "".join(pieces), place
    return None, place


def _text(token: str) -> str:
    return json.dumps(token[1:-1].replace("\\'", "'").replace('\\"', '"'))


def _has_value(value: Any) -> bool:
    return any("draft" in key.lower() or "spec" in key for found in walk_objects(value) for key in found)


def _read(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _short(kind: Callable[[str], float]) -> Callable[[str], float | str]:
    return lambda written: kind(written) if len(written) < LONG else written


_DECODER = json.JSONDecoder(parse_int=_short(int), parse_float=_short(float))


def walk_objects(value: Any) -> Iterator[JsonObject]:
    """The objects in a value, outer ones first, without recursion: the text decides how deep it is."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            waiting.extend(reversed(list(here.values())))
        elif isinstance(here, list):
            waiting.extend(reversed(here))


# How a record of a log begins: a level, a time, a process; what is no log; or a part that may follow one of these.
_RECORD = re.compile(
    r"\s*(?:\(\w+ pid=|(?:INFO|WARN|ERROR|DEBUG)\b|\[?\d{4}-\d\d-\d\d|\[\d+\] |\d+\.\d+\.\d+\.\d+ [A-Z] |slot |srv "
    r"|={3}|-{3}|# |\|.*\|\s*$|[{}\]\"]|\[(?:[{\[\"]|\s*$)|(?:vllm|sglang|llamacpp|trtllm)[:_])"
)
_PART = re.compile(
    r"\s*(?:prompt eval|eval time|total time|draft acceptance|statistics "
    r"|SpecDecoding|Speculative metrics|Decode batch)"
)
# Whole fields with what ends them: a join that cuts a number or a name has fewer of them.
_FIELDS = re.compile(
    r"SpecDecoding metrics: |Mean acceptance length: [\d.]+(?=, )|(?:Accepted|Drafted): \d+ tokens(?=, )"
    r"|(?:Accepted|Drafted) throughput: [\d.]+ tokens/s(?=, )|[Dd]raft acceptance rate: [\d.]+%"
    r"|Per-position acceptance rate: [\d.]+(?:, [\d.]+)*(?:, Avg |$)|Decode batch[,.] "
    r"|accept len: [\d.]+(?=, )|accept rate: [\d.]+(?=, )|#[\w-]+: \d+|token usage: [\d.]+(?=, )|cuda graph: \w+(?=, )"
    r"|gen throughput \(token/s\): [\d.]+(?=, )|#\w+ \w+ = +\d+(?=, )"
    r"|draft acceptance(?: rate)? = +[\d.]+ \( *\d+ accepted / +\d+ generated\)"
    r"|\bmean acceptance length = +[\d.]+(?=, )|(?<=, )acceptance rate per position = \([\d.]+(?:, [\d.]+)*\)"
    r"|\d+ tokens generated in |Draft: \d+ / \d+ tokens accepted|Generate: [\d.]+ T/s"
)
MOST_PIECES = 12  # lines that one wrapped record has at most


def log_records(text: str) -> list[str]:
    """The lines of a log; a record that was wrapped at the width of a terminal is one line again."""
    grouped = list[list[str]]()
    for line in text.splitlines():
        if (
            not grouped
            or _begins(line, grouped[-1])
            or len(grouped[-1]) == MOST_PIECES
            or sum(map(len, grouped[-1])) > MAX_LINE
        ):
            grouped.append([line])
        else:
            grouped[-1].append(line)
    return [line for pieces in grouped for line in _unwrapped(pieces)]


def _begins(line: str, pieces: Sequence[str]) -> bool:
    """Whether this line begins a record, after the pieces of another one."""
    if not line.strip() or _RECORD.match(line) or not (_RECORD.match(pieces[0]) or _PART.match(pieces[0])):
        return True
    headed = pieces[-1].rstrip().endswith(("|", "]", "INFO"))  # so far only what stands before the text of a record
    return bool(_PART.match(line)) and not headed


def _unwrapped(pieces: list[str]) -> list[str]:
    """One line if it is a record about speculation: wrapped between words, or wherever the width ended."""
    if len(pieces) == 1:
        return pieces
    same = len(pieces) > 2 and len({len(piece) for piece in pieces[:-1]}) == 1
    whole = pieces[0]
    for before, piece in pairwise(pieces):
        apart, joined = (len(_FIELDS.findall(_joined(before, piece, by_word))) for by_word in (True, False))
        whole = _joined(whole, piece, apart > joined or (apart == joined and not same))
    return [whole] if any(mark in whole for mark in _MARKS) else pieces


def _joined(before: str, piece: str, by_word: bool) -> str:
    """The two pieces of a line; between words there was a blank, but not after a hyphen in a word."""
    if not by_word:
        return before + piece
    return before.rstrip() + ("" if re.search(r"\w-\s*$", before) else " ") + piece.strip()
