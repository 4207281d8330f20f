"""Which parts of a pasted text were read, and which were not, in one or two sentences."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specviz.data.serving_counters.counters import shown
from specviz.data.serving_counters.pasted_json import Found
from specviz.data.serving_counters.prometheus import name_of_line

NAMED = 12  # names that are listed at most
LONGEST_LINE = 4_000  # characters; a longer one is no log line


@dataclass(frozen=True, slots=True)
class Kind:
    names: frozenset[str] = frozenset()  # of fields in JSON, and of counters that have a line each
    last: str = ""  # a pattern: of the log lines with it, the last one is read
    also: tuple[str, ...] = ()  # of other lines, the last one with each of these patterns is read too


def what_was_read(text: str, found: Sequence[Found], kind: Kind) -> str:
    """What this reader took from the text, and what it left."""
    if found and not kind.last:
        keys = list(dict.fromkeys(key for each in found for key, value in each.items() if not isinstance(value, dict)))
        used, left = [key for key in keys if _is_of(key, kind)], [key for key in keys if not _is_of(key, kind)]
        return f"Read: {_listed(used)}.{f' Not used: {_listed(left)}.' if left else ''}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if kind.last:
        return _of_log(lines, kind)
    names = [(line, name_of_line(line)) for line in lines]
    used = list(dict.fromkeys(name for _, name in names if name in kind.names))
    also = [place for pattern in kind.also for place in _places(lines, pattern)]
    left = [line for place, (line, name) in enumerate(names) if name not in kind.names and place not in also]
    return f"Read: {_listed(used)}.{_left_lines(left)}"


def _is_of(key: str, kind: Kind) -> bool:
    return key in kind.names or (name_of_line(key) or key) in kind.names


def _of_log(lines: Sequence[str], kind: Kind) -> str:
    marked, *also = (_places(lines, pattern) for pattern in (kind.last, *kind.also))
    read = f"Read: the last of {len(marked)} lines" if len(marked) > 1 else "Read: the line"
    more = {places[-1] for places in also if places} - set(marked)
    left = [line for place, line in enumerate(lines) if place not in {*marked[-1:], *more}]
    return f"{read} about speculation{f', and {len(more)} more' if more else ''}.{_left_lines(left)}"


def _places(lines: Sequence[str], pattern: str) -> list[int]:
    return [place for place, line in enumerate(lines) if len(line) < LONGEST_LINE and re.search(pattern, line)]


def _left_lines(left: Sequence[str]) -> str:
    left = [line for line in left if not line.startswith("#")]  # comments of /metrics
    if not left:
        return ""
    return f" Not used: {len(left)} {'line' if len(left) == 1 else 'lines'}, such as {shown(left[0])}."


def _listed(names: Iterable[str]) -> str:
    every = [re.sub(r"[^\w.:-]", "?", name[:60]) for name in names]
    more = f" and {len(every) - NAMED} more" if len(every) > NAMED else ""
    return f"{', '.join(every[:NAMED]) or 'nothing'}{more}"
