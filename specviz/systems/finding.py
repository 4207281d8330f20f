"""What a text of any system holds: JSON and what Python prints of objects, lines of a log, lines of names and values.

A text may be a file, an answer, a stream, or a part of a page: with colours, in containers' JSON, wrapped at the width
of a terminal, quoted in Markdown.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from typing import Any, NamedTuple

JsonObject = dict[str, Any]

MOST_PARTS = 10_000  # objects of a pasted text that are read
MOST_BRACKETS = 50_000  # of a pasted text; more are no answers, and each takes many times its size
MOST_FAILED = 200  # places at which no object begins after all
MOST_IN_VAIN = 500_000  # characters that are read from such places
MAX_LINE = 4_000  # characters; a longer line is not a counter, and parsing it could be slow
LONG = 40  # characters; a longer number stays text, so that it is refused with its name
LONGEST_NAME = 60  # characters
MOST_ROWS = 2_000
# An object begins a line, or follows a blank, a colon or a sign in the middle of one.
_START = re.compile(r"^[ \t]*[{\[]|(?<=[\s:=(,])\{", re.MULTILINE)
_PYTHON = re.compile(r"""\{\s*'""")
_TOKEN = re.compile(
    r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\b(?:True|False|None)\b|,(?=\s*[\]})])|[\[\](){}'"]""", re.DOTALL
)
_WORDS = {"True": "true", "False": "false", "None": "null", "(": "[", ")": "]", ",": ""}
_COLOUR = re.compile(r"\x1b\[[\d;]{0,20}[mK]|\[\d{1,3}(?:;\d{1,3}){0,5}m")  # a copy may have lost its escape
# What stands before a line: signs of a quote, and what Kubernetes or Docker Compose writes.
_BEFORE = re.compile(
    r"^(?:(?: {0,3}>){1,9} ?)?(?:(?:\[pod/\S+\] )?\d{4}-\d\d-\d\dT\S+ std(?:out|err) F |[\w.-]+-\d+ +\| )?"
)
# Markdown around a line (code, bold text, “\\_”), a blank before a colon, and signs of a page or a scan.
_MARKDOWN = re.compile(r"`|\*\*|\\(?=_)|(?<=\w) (?=: )")
_SIGNS = str.maketrans("\u00a0\u2007\u2009\u202f\u3000：，＝（）％｜", "     :,=()%|", "\u200b\ufeff")
_QUOTATION = str.maketrans("“”„‟‘’", '""""\'\'')
LOGGED = ("SpecDecoding", "accept len", "draft acceptance", "statistics ")  # in the lines of systems' logs
_LOG_KEYS = ("log", "message", "msg", "MESSAGE", "line")
# How a record of a log begins: a level, a time, a process, or what is no log. Other lines go on with the one before.
_RECORD = re.compile(
    r"\n(?=[ \t]*(?:\(\w+ pid=|(?:INFO|WARN|ERROR|DEBUG)\b|\[?\d{4}-\d\d-\d\d|\[\d+\] |\d+\.\d+\.\d+\.\d+ [A-Z] "
    r"|slot |srv |prompt eval|eval time|total time|draft acceptance|statistics |SpecDecoding|Decode batch))"
)
_SPEAKS = re.compile(r"^(?:event:|id:|retry:|:).*$|^data:|\[DONE\]", re.MULTILINE)  # lines of a stream without JSON


def plain(text: str) -> str:
    """The text without colours and Markdown, and without what a container's log driver wrote around each line."""
    lines = _MARKDOWN.sub("", _COLOUR.sub("", text.translate(_SIGNS))).splitlines()
    return "\n".join(_unwrap_driver(_BEFORE.sub("", line)) for line in lines)


def straight(text: str) -> str:
    """The text with straight quotation marks: a page or an editor may have bent or escaped those of JSON."""
    return html.unescape(text).translate(_QUOTATION) if "{" in text else text


def _unwrap_driver(line: str) -> str:
    """The text of a line that a log driver wrote as an object with it. An answer may have a message too."""
    if not line.startswith("{") or len(line) > MAX_LINE or not any(f'"{key}"' in line for key in _LOG_KEYS):
        return line
    value = _read(line)
    texts = [value[key] for key in _LOG_KEYS if isinstance(value.get(key), str)] if isinstance(value, dict) else []
    speaks = texts and any(mark in texts[0] for mark in LOGGED)
    logged = speaks or (texts and not any(isinstance(each, dict | list) for each in value.values()))
    return _COLOUR.sub("", texts[0].rstrip("\n")) if logged else line


def log_records(text: str) -> list[str]:
    """The records of a log without blanks: so it does not matter where the width of a terminal cut them."""
    return [re.sub(r"\s+", "", record[:MAX_LINE]) for record in _RECORD.split(f"\n{text}")]


class Found(NamedTuple):
    line: int  # where it begins
    value: Any


def find_values(text: str) -> tuple[list[Found], str]:
    """The JSON values and the printed dictionaries in a text, none inside another; and the text that is left.

    What is read in vain is bounded: each bracket could read to the end.
    """
    for whole in (text, f"{{{text.strip().rstrip(',')}}}" if '":' in text[:200] else ""):  # a field with its name
        if (value := _read(whole)) is not None:
            return [Found(1, value)], ""
    found, left = list[Found](), list[str]()
    end = failed = in_vain = kept = counted = 0
    line = 1
    while (at := _START.search(text, end)) and failed < MOST_FAILED and in_vain < MOST_IN_VAIN:
        start, end = at.end() - 1, at.end()
        try:
            value, stop = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            failed += 1
            in_vain += getattr(error, "pos", len(text)) - start
            value, stop = _python(text, start) if _PYTHON.match(text, start) else (None, start)
            in_vain += max(0, stop - start) if value is None else 0
        if value is not None:
            line, counted = line + text.count("\n", counted, start), start
            left.append(text[kept:start])
            found.append(Found(line, value))
            kept = end = stop
    return found, "".join((*left, text[kept:]))


def left_over(left: str) -> str:
    """What of a text that is left is no part of a stream, of lines of JSON, or of a list of them."""
    return _SPEAKS.sub("", left).strip(" \t\r\n,")


def line_of(left: str, text: str) -> int:
    """Where what is left begins."""
    return 1 + text.count("\n", 0, text.rfind(left.split("\n")[0]))


def _python(text: str, start: int) -> tuple[Any, int]:
    """The dictionary that Python printed here, and its end: its text and words are written as JSON, then it is read."""
    pieces, depth, place = list[str](), 0, start
    for found in _TOKEN.finditer(text, start, start + MOST_IN_VAIN):
        token = found[0]
        if token in "'\"":  # a text that does not end
            return None, len(text)
        pieces.append(text[place : found.start()])
        place = found.end()
        quoted = token[0] in "'\""
        pieces.append(json.dumps(re.sub(r"\\(['\"])", r"\1", token[1:-1])) if quoted else _WORDS.get(token, token))
        depth += (token in "[({") - (token in "])}") if len(token) == 1 else 0
        if depth <= 0:
            return _read("".join(pieces)), place
    return None, place


def _read(text: str) -> Any:
    """The object or list that a text is."""
    try:
        value = _DECODER.decode(text.strip()) if text else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _short(kind: type[int] | type[float]) -> Any:
    return lambda written: kind(written) if len(written) < LONG else written


_DECODER = json.JSONDecoder(parse_int=_short(int), parse_float=_short(float))


FINISH = "finish_reason"
_DRAFTS = re.compile("draft|Draft|spec")  # in a name: it says something about drafts


def objects(text: str) -> list[JsonObject]:
    """Every object in a pasted text, inner ones too, in the order written.

    A stream repeats its running totals: of each only the last piece counts that says anything about drafts, and why
    the text ended.
    """
    if text.count("{") + text.count("[") > MOST_BRACKETS or not any(brace in text for brace in "{[:"):
        return []
    is_stream = bool(re.search(r"^\s*data:", text, re.MULTILINE))
    found = list[JsonObject]()
    for part in re.split(r"^\s*data: *\[DONE\]", text, flags=re.MULTILINE) if is_stream else [text]:
        pieces = [list(walk(each.value)) for each in find_values(part)[0][:MOST_PARTS]]
        if is_stream:
            last = max((at for at, piece in enumerate(pieces) if _DRAFTS.search(" ".join(chain(*piece)))), default=-1)
            seen = pieces[: last + 1]
            ended = [{FINISH: each[FINISH]} for piece in seen for each in piece if each.get(FINISH)]
            pieces = [*seen[-1:], ended[-1:]]
        found += [each for piece in pieces for each in piece]
    return found


def limited_in(found: Sequence[JsonObject]) -> int:
    """How many answers ended at their limit of tokens."""
    reasons = [each[FINISH] for each in found if FINISH in each]
    return sum((reason.get("type") if isinstance(reason, dict) else reason) == "length" for reason in reasons)


def walk(value: Any) -> Iterator[JsonObject]:
    """The objects in a value, outer ones first, without recursion: the text decides how deep it is."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            waiting.extend(reversed(list(here.values())))
        elif isinstance(here, list):
            waiting.extend(reversed(here))


_AROUND = " \t*+•-|│┃"
_SIGN = re.compile(r"[:=|│┃]")
_VALUE = re.compile(r"([\d.,]{1,30}%?)(?: ?[A-Za-z/]{1,12})?")
_LIST = re.compile(r"\[?([\d.]{1,20}%?(?:, [\d.]{1,20}%?){1,64})\]?")
_PLACE = re.compile(r"^(position|acceptance at token) ?(\d{1,2})$")
_PER_CENT = {"position": "position (%)"}  # as vLLM's benchmark writes them
_PAIR = re.compile(r"(?<![\w/])(\w[\w/]{1,40})= *([\d.]{1,20})(?=[\s,)]|$)")


def rows_in(text: str, known: Set[str]) -> list[JsonObject]:
    """Records that are no objects: lines “name: value”, and a line with several such pairs. Only known names count."""
    lines = [line for line in text.splitlines() if len(line) < MAX_LINE]
    every = [*_blocks(lines, known), *(_pairs(line, known) for line in lines)]
    every += [pairs for line in lines if "=" in line and len(pairs := dict[str, Any](_PAIR.findall(line))) > 2]
    return [each for each in every if each][:MOST_ROWS]


def _known_name(written: str, known: Set[str]) -> str | None:
    name = " ".join(written.strip(" \t\"'").split()) if len(written) <= LONGEST_NAME else ""
    return next((each for each in (name, name.lower()) if each in known or _PLACE.match(each)), None)


def _blocks(lines: Sequence[str], known: Set[str]) -> Iterator[JsonObject]:
    """Lines “name: value” or “| name | value |”. Those of positions become one list; a name again begins a record."""
    found = dict[str, Any]()
    for bare in (line.strip(_AROUND) for line in lines):
        sign = _SIGN.search(bare)
        name = _known_name(bare[: sign.start()], known) if sign else None
        if sign is None or name is None:
            continue
        written = bare[sign.end() :].strip()
        several, alone, place = _LIST.fullmatch(written.rstrip(",")), _VALUE.fullmatch(written), _PLACE.match(name)
        value = several[1].split(", ") if several else alone[1] if alone else None
        kind = _PER_CENT.get(place[1], place[1]) if place else name
        if kind in found and (not place or int(place[2]) < len(found[kind])):
            yield found
            found = {}
        if value is not None:
            found[kind] = [*found.get(kind, []), value] if place else value
    yield found


def _pairs(line: str, known: Set[str]) -> JsonObject:
    """“name: value, name: value” in one line."""
    found = dict[str, Any]()
    for before, _, written in (part.rpartition(":") for part in line.split(", ")):
        name, value = _known_name(before.rpartition(":")[2], known), _VALUE.fullmatch(written.strip(" \t.,"))
        if name and value:
            found[name] = value[1]
    return found if len(found) > 1 else {}
