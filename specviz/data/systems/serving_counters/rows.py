"""Records that are no objects: lines “name: value”, rows of a table, and a line with several pairs of both.

Only names of the table of systems are taken. A name that comes again begins the next record.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from specviz.data.systems.serving_counters.names import NAMES
from specviz.data.systems.serving_counters.pasted import MAX_LINE
from specviz.data.systems.serving_counters.records import JsonObject

MOST_ROWS = 2_000
MOST_HEADS = 20  # lines that could head a table; each is followed by its rows
LONGEST_NAME = 60  # characters
BARS = "|│┃"
MARKS = f"{BARS}\t;,"  # between the cells of a table
_AROUND = " \t*+•-" + BARS
_SIGN = re.compile(rf"[:={BARS}]")
_VALUE = re.compile(r"([\d.,]{1,30}%?)(?: ?[A-Za-z/]{1,12})?")
_LIST = re.compile(r"\[?([\d.]{1,20}%?(?:, [\d.]{1,20}%?){1,64})\]?")
_PLACE = re.compile(r"^(position|acceptance at token|.*_at_pos_?) ?(\d{1,2})$")
_PAIR = re.compile(r"(?<![\w/])(\w[\w/]{1,40})= *([\d.]{1,20})(?=[\s,)]|$)")
_MEAN_FIRST = re.compile(rf"[{BARS}] *(?:avg|average|mean|value) *[{BARS}]", re.IGNORECASE)  # the head of a column
_IN_PERCENT = "acceptance (%)"  # above the positions of vLLM's benchmark
_OF_A_LOG = "ean acceptance length"  # `vllm.from_log` reads a line with it and with counts
_NO_VALUE = ("", "-", "–", "—", "n/a", "na", "nan", "none", "null")  # in lower case
_TABBY = re.compile(
    r"(\d+) tokens generated in [^\n]{0,200}?Generate: ([\d.]+) T/s[^\n]{0,100}?Draft: (\d+) */ *(\d+) tokens accepted"
)


def rows(lines: Sequence[str]) -> list[JsonObject]:
    """All such records of the lines of a text or the records of a log."""
    lines = [line for line in lines if len(line) < MAX_LINE]
    found = [*_blocks(lines), *_table(lines), *map(_pairs, lines)]
    found += [pairs for line in lines if "=" in line and len(pairs := dict[str, Any](_PAIR.findall(line))) > 2]
    return [each for each in found if each][:MOST_ROWS] + _tabby_rows(lines)


def _find_name(written: str) -> str | None:
    """The name as the table of systems has it; None if it has no such name."""
    name = " ".join(written.strip(" \t\"'").split()) if len(written) <= LONGEST_NAME else ""
    return next((each for each in (name, name.lower()) if each in NAMES or _PLACE.match(each)), None)


def _blocks(lines: Iterable[str]) -> Iterator[JsonObject]:
    """Lines “name: value” or “| name | value |”; those of positions become one list."""
    lines = list(lines)
    percent = " (%)" if any(_IN_PERCENT in line.lower() for line in lines) else ""
    mean_first = any(_MEAN_FIRST.search(line) for line in lines)
    found = dict[str, Any]()
    for name, value in filter(None, (_named(line, mean_first) for line in lines)):
        if _is_repeated(found, name, percent):
            yield found
            found = {}
        _set_value(found, name, value, percent)
    yield found


def _named(line: str, mean_first: bool) -> tuple[str, str | list[str]] | None:
    bare = line.strip(_AROUND)
    sign = _SIGN.search(bare)
    name = _find_name(bare[: sign.start()]) if sign else None
    if sign is None or name is None:
        return None
    written = bare[sign.end() :].strip()
    if mean_first and sign[0] in BARS:  # else a row of several figures does not say which of them counts
        written = re.split(f"[{BARS}]", written)[0].strip()
    if several := _LIST.fullmatch(written.rstrip(",")):
        return name, several[1].split(", ")
    value = _VALUE.fullmatch(written)
    return (name, value[1]) if value else None


def _is_repeated(found: JsonObject, name: str, percent: str) -> bool:
    place = _PLACE.match(name)
    return name in found or bool(place and int(place[2]) < len(found.get(_kind(place, percent), ())))


def _kind(place: re.Match[str], percent: str) -> str:
    return place[1].rstrip("_") + (percent if place[1] == "position" else "")


def _set_value(found: JsonObject, name: str, value: str | list[str], percent: str = "") -> None:
    if place := _PLACE.match(name):
        found.setdefault(_kind(place, percent), []).append(value)
    else:
        found[name] = value


def _table(lines: Sequence[str]) -> list[JsonObject]:
    """Rows under the first line that names known columns: of a CSV file, or of a table drawn with bars."""
    for place, head, mark in islice(_heads(lines), MOST_HEADS):
        under = lines[place + 1 : place + MOST_ROWS]
        if found := [row for line in under if (row := _row(head, _cells(line, mark)))]:
            return found
    return []


def _heads(lines: Sequence[str]) -> Iterator[tuple[int, list[str | None], str]]:
    for place, line in enumerate(lines):
        mark = next((mark for mark in MARKS if line.count(mark) > 1), "")
        head = [_find_name(cell) for cell in _cells(line, mark)] if mark else []
        if len(head) - head.count(None) > 1:
            yield place, head, mark


def _cells(line: str, mark: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.strip().strip(BARS).split(mark)]


def _row(head: Sequence[str | None], cells: Sequence[str]) -> JsonObject:
    found = dict[str, Any]()
    if len(cells) != len(head) or all(set(cell) <= set("-: ") for cell in cells):
        return found
    for name, value in zip(head, cells, strict=True):
        if name is not None and value.lower() not in _NO_VALUE:
            _set_value(found, name, alone[1] if (alone := _VALUE.fullmatch(value)) else value)
    return found


def _pairs(line: str) -> JsonObject:
    """“name: value, name: value” in one line."""
    if ", " not in line or ": " not in line or _OF_A_LOG in line:
        return {}
    found = dict[str, Any]()
    for before, _, written in (part.rpartition(":") for part in line.split(", ")):
        name, value = _find_name(before.rpartition(":")[2]), _VALUE.fullmatch(written.strip(" \t.,"))
        if name and value:
            found[name] = value[1]
    return found if len(found) > 1 else {}


def _tabby_rows(lines: Sequence[str]) -> list[JsonObject]:
    """TabbyAPI's line of a request, by the names that the table of systems has for it."""
    found = [each for line in lines if (each := _TABBY.search(line))]
    return [{"tokens generated": each[1], "Generate": each[2], "Draft": f"{each[3]}/{each[4]}"} for each in found]
