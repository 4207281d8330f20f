"""Text from files, links, prompts and models, for places where Streamlit or Plotly reads markup: it stays text."""

import re

from specviz.figures.parts import JOINER, one_way

_MARKUP = re.compile(r"([\\`*_\[\]<&$~])")  # of Markdown, HTML and LaTeX
_BLOCK = re.compile(r"^([#>+=|-]|\d+(?=[.)]))")  # a heading, a quote, a list: only where a text begins
_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Streamlit reads these after the Markdown, where a backslash no longer protects: links, e-mail addresses, emoji, icons.
_READ_LATE = re.compile(r"[:@](?=\S)|www(?=\.)", re.IGNORECASE)
_LONGEST_FILE_NAME = 60


class Plain(str):
    __slots__ = ()


def plain(text: str) -> Plain:
    """The text for a place that reads Markdown: nothing in it is markup, and a line end is shown as ↵."""
    if isinstance(text, Plain):
        return text
    line = _READ_LATE.sub(rf"\g<0>{JOINER}", _LINE_END.sub("↵", one_way(text.strip(" \t"))))
    escaped = _MARKUP.sub(r"\\\1", line)
    return Plain(_BLOCK.sub(lambda start: f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}", escaped))


def file_label(name: str) -> str:
    """An uploaded file's name, short and on one line: a browser may send any text as one."""
    line = "".join(char if char.isprintable() else "?" for char in name)
    return line if len(line) <= _LONGEST_FILE_NAME else f"{line[: _LONGEST_FILE_NAME - 1]}…"
