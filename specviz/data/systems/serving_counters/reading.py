"""What was read of a text and what was not, in a sentence; and the drafting method that the text names."""

import re
from collections.abc import Iterable, Sequence

from specviz.core.texts import Sentences
from specviz.data.systems.serving_counters.counters import quoted
from specviz.data.systems.serving_counters.pasted import MAX_LINE
from specviz.data.systems.serving_counters.records import JsonObject
from specviz.data.systems.serving_counters.series import name_of_line

say = Sentences("counters")

NAMED = 12  # names that are listed at most
# Methods that write a whole block in one step, and methods that write one token a step.
BLOCKS = ("dflash", "dspark", "pard", "p-eagle", "peagle", "medusa")
_METHOD = re.compile(
    r"""(?:speculative[_-]algorithm|spec[_-]type|draft_kind|["']method["']|speculative_method|statistics)["'\s:=]{1,4}"""
    r"""(?:draft-)?((?:dflash|dspark|pard|p-?eagle|medusa|eagle|mtp|nextn|ngram|suffix|simple|standalone)[\w-]{0,20})""",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"(?<![a-z])(dflash|dspark|pard|p-eagle|medusa)(?![a-z])", re.IGNORECASE)


def drafter_of(text: str) -> tuple[str, bool]:
    """The methods that the text names, and whether one writes a whole block in one step. Empty if it names none."""
    found, block = list(dict.fromkeys(_METHOD.findall(text))), _BLOCK.search(text)
    names = found[:3] or ([block[1]] if block else [])
    return ", ".join(names), any(name.lower().startswith(BLOCKS) for name in names)


def describe_names(found: Sequence[JsonObject], used: Iterable[str]) -> str:
    """For objects: the names that were used, and the other ones."""
    used = set(used)
    keys = list(dict.fromkeys(key for each in found for key, value in each.items() if key in used or _is_plain(value)))
    left = [key for key in keys if key not in used]
    read = say("read", names=_listed(key for key in keys if key in used))
    return f"{read} {say('not_used', names=_listed(left))}" if left else read


def _is_plain(value: object) -> bool:
    return not isinstance(value, dict)


def describe_lines(text: str, names: Sequence[str], also: Sequence[str] = ()) -> str:
    """For lines of names and values: the names that were used, and how many lines were not."""
    lines = _lines(text)
    more = {place for pattern in also for place in places(lines, pattern)}
    left = [line for place, line in enumerate(lines) if name_of_line(line) not in names and place not in more]
    return say("read", names=_listed(names)) + _describe_unused(left)


def describe_records(lines: Sequence[str], names: Iterable[str]) -> str:
    """For blocks and tables: the names that were used, and how many lines have none of them."""
    names = list(dict.fromkeys(names))
    left = [
        line
        for line in map(str.strip, lines)
        if not any(name in line.lower() for name in _words(names)) and _figure(line)
    ]
    return say("read", names=_listed(names)) + _describe_unused(left)


def _words(names: Sequence[str]) -> list[str]:
    return [name.lower().removesuffix(" (%)") for name in names]


def _figure(line: str) -> bool:
    return bool(re.search(r"[:=].*\d", line)) and not line.startswith("|")


def describe_log(records: Sequence[str], last: str, also: Sequence[str]) -> str:
    """For a log of which the last record about speculation is read, and of other records the last of each pattern."""
    lines = [line.strip() for line in records if line.strip()]
    marked, *others = (places(lines, pattern) for pattern in (last, *also))
    more = {found[-1] for found in others if found} - set(marked)
    used = {*marked[-1:], *more}
    left = [line for place, line in enumerate(lines) if place not in used]
    read = _read_line(len(more))
    if len(marked) > 1:
        read = say("last_more", count=len(marked), more=len(more)) if more else say("last", count=len(marked))
    return read + _describe_unused(left)


def describe_requests(records: Sequence[str], each: str, also: Sequence[str]) -> str:
    """For a log of which every record of a request is read."""
    lines = [line.strip() for line in records if line.strip()]
    marked, more = places(lines, each), {place for pattern in also for place in places(lines, pattern)}
    used = {*marked, *more}
    left = [line for place, line in enumerate(lines) if place not in used]
    others = len(more - set(marked))
    read = _read_line(others)
    if len(marked) > 1:
        read = say("lines_more", count=len(marked), more=others) if others else say("lines", count=len(marked))
    return read + _describe_unused(left)


def _read_line(more: int) -> str:
    return say("line_more", more=more) if more else say("line")


def places(lines: Sequence[str], pattern: str) -> list[int]:
    return [place for place, line in enumerate(lines) if len(line) < MAX_LINE and re.search(pattern, line)]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _describe_unused(lines: Sequence[str]) -> str:
    left = [line for line in lines if not line.startswith("#")]  # comments of /metrics
    if not left:
        return ""
    return f" {say('lines_unused', count=len(left), line=quoted(left[0]))}"


def _listed(names: Iterable[str]) -> str:
    every = [re.sub(r"[^\w.:() %/-]|/(?!s\b)", "?", name[:60]) for name in names]
    names = ", ".join(every[:NAMED]) or say("nothing")
    return say("and_more", names=names, more=len(every) - NAMED) if len(every) > NAMED else names
