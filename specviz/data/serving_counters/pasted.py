"""What pasted text holds: objects (JSON, Python), rows of tables, blocks of lines “name: value”, records of a log.

Logs come with colours, in containers' JSON, and wrapped at the width of a terminal.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Any

Found = dict[str, Any]
MOST_PARTS = 10_000
MOST_BRACKETS = 50_000  # more are no answers; each takes many times its size
MOST_FAILED = 200  # places at which no object begins after all
MOST_IN_VAIN = 500_000  # characters that are read from such places
MAX_LINE = 4_000  # characters; a longer line is not a counter, and parsing it could be slow
MOST_ROWS = 2_000
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
_MARKS = ("SpecDecoding", "Decode batch", "draft acceptance", "tokens generated", "statistics ")
_LOG_KEYS = ("log", "message", "msg", "MESSAGE", "line")


def plain(text: str) -> str:
    """The text without colours, and without what a container's log driver wrote around each line."""
    lines, part = list[str](), ""
    for line in _COLOUR.sub("", text).splitlines():
        if found := _KUBERNETES.match(line):
            part += found[2]
            if found[1] == "P":  # a part of a long line
                continue
            line, part = part, ""
        lines.append(_COMPOSE.sub("", _of_driver(line)))
    return "\n".join(lines)


def _of_driver(line: str) -> str:
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


def objects(text: str) -> list[Found]:
    """Every object in the text, inner ones too, in the order written. Of a stream only the last line counts."""
    return [inner for value in _values(text) for inner in _inside(value)]


def with_keys(found: Sequence[Found], *keys: str) -> list[Found]:
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
    if not streamed:
        return list(islice(chain(_parts(text), _printed(text)), MOST_PARTS))
    # A stream repeats its running totals: the last piece that says anything about drafts.
    return next(([each] for each in reversed(streamed) if _says_anything(each)), [])


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
        written, stop = _as_json(text, start)
        read += stop - start
        if written is not None and (value := _read(written)) is not None:
            end = stop
            yield value


def _as_json(text: str, start: int) -> tuple[str | None, int]:
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


def _says_anything(value: Any) -> bool:
    return any("draft" in key.lower() or "spec" in key for found in _inside(value) for key in found)


def _read(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _short(kind: Callable[[str], float]) -> Callable[[str], float | str]:
    return lambda written: kind(written) if len(written) < LONG else written


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


_BLOCK = re.compile(r"^[ \t]*([A-Za-z][\w ./()%#-]{1,60}?):[ \t]+([\d.,]{1,30}%?)[ \t]*$", re.MULTILINE)
_PLACE = re.compile(r"^(position|acceptance at token|.*_at_pos_?) ?(\d{1,2})$")
_PAIR = re.compile(r"(?<![\w/])(\w[\w/]{1,40})= *([\d.]{1,20})(?=[\s,)]|$)")
_SECTION = re.compile(r"^[ \t]*=+ .{1,80} =+[ \t]*$", re.MULTILINE)  # the head of a benchmark's result
_COLUMNS = ("acceptance_length", "num_drafts", "a.len", "rounds")


def rows(text: str) -> list[Found]:
    """Records that are no objects: a block of lines “name: value”, rows of a table, lines of pairs “name= value”."""
    found = [*map(_block, _SECTION.split(text)), *_table(text)]
    lines = (line for line in text.splitlines() if "=" in line and len(line) < MAX_LINE)
    found += [pairs for line in lines if len(pairs := dict[str, Any](_PAIR.findall(line))) > 2]
    return [each for each in found[:MOST_ROWS] if each]


def _block(text: str) -> Found:
    """All such lines as one record, by names in lower case. Lines of positions become one list."""
    found = dict[str, Any]()
    percent = " (%)" if "acceptance (%)" in text.lower() else ""
    for name, value in _BLOCK.findall(text):
        _put(found, " ".join(name.lower().split()), value, percent)
    return found


def _put(found: Found, name: str, value: str, percent: str = "") -> None:
    if place := _PLACE.match(name):
        kind = place[1].rstrip("_") + (percent if place[1] == "position" else "")
        found.setdefault(kind, []).append(value)
    else:
        found[name] = value


def _table(text: str) -> list[Found]:
    """Rows under the first line that names known columns: of a CSV file, or of a table drawn with bars."""
    lines = [line for line in text.splitlines() if len(line) < MAX_LINE]
    for place, line in enumerate(lines):
        mark = next((mark for mark in "|\t;," if line.count(mark) > 1), "")
        head = _cells(line, mark) if mark and any(name in line for name in _COLUMNS) else []
        if sum(name in head for name in _COLUMNS) > 1:
            return [row for each in lines[place + 1 : place + MOST_ROWS] if (row := _row(head, _cells(each, mark)))]
    return []


def _cells(line: str, mark: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.strip().strip("|").split(mark)]


def _row(head: Sequence[str], cells: Sequence[str]) -> Found:
    found = dict[str, Any]()
    if len(cells) != len(head) or all(set(cell) <= set("-: ") for cell in cells):
        return found
    for name, value in zip(head, cells, strict=True):
        _put(found, name, value)
    return found


# How a record of a log begins: a level, a time, a process; what is no log; or a part that may follow one of these.
_RECORD = re.compile(
    r"\s*(?:\(\w+ pid=|(?:INFO|WARN|ERROR|DEBUG)\b|\[?\d{4}-\d\d-\d\d|\[\d+\] |\d+\.\d+\.\d+\.\d+ [A-Z] |slot |srv "
    r"|={3}|-{3}|# |\|.*\|\s*$|[{}\]\"]|\[(?:[{\[\"]|\s*$)|(?:vllm|sglang|llamacpp|trtllm)[:_])"
)
_PART = re.compile(r"\s*(?:prompt eval|eval time|total time|draft acceptance|statistics |SpecDecoding|Decode batch)")
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


_TABBY = re.compile(
    r"(\d+) tokens generated in [^\n]{0,200}?Generate: ([\d.]+) T/s[^\n]{0,100}?Draft: (\d+) */ *(\d+) tokens accepted"
)


def tabby_rows(records: Sequence[str]) -> list[Found]:
    """TabbyAPI's line of a request, by the names that the table of systems has for it."""
    lines = [found for line in records if len(line) < MAX_LINE and (found := _TABBY.search(line))]
    return [{"tokens generated": each[1], "Generate": each[2], "Draft": f"{each[3]}/{each[4]}"} for each in lines]
