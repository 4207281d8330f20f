"""Text from files, links, prompts and models, for places where Streamlit or Plotly reads markup: it stays text."""

import re
from html import escape

_MARKUP = re.compile(r"([\\`*_\[\]<&$~])")  # of Markdown, HTML and LaTeX
_BLOCK = re.compile(r"^([#>+=|-]|\d+(?=[.)]))")  # a heading, a quote, a list: only where a text begins
_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Streamlit reads these after the Markdown, where a backslash no longer protects: links, e-mail addresses, emoji, icons.
_READ_LATE = re.compile(r"[:@](?=\S)|www(?=\.)", re.IGNORECASE)
_TURNS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")  # they would turn the sentence around the text too
_LONGEST_FILE_NAME = 60
_JOINER = "\u2060"  # has no width


class Plain(str):
    __slots__ = ()


def plain(text: str) -> Plain:
    """The text for a place that reads Markdown: nothing in it is markup, and a line end is shown as ↵."""
    if isinstance(text, Plain):
        return text
    line = _READ_LATE.sub(rf"\g<0>{_JOINER}", _LINE_END.sub("↵", _one_way(text.strip(" \t"))))
    escaped = _MARKUP.sub(r"\\\1", line)
    return Plain(_BLOCK.sub(lambda start: f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}", escaped))


def figure_text(text: str) -> str:
    """The text for a label, a legend or a hover text of Plotly, which reads some HTML and the fields of templates."""
    return escape(_one_way(text), quote=False).replace("%{", f"%{_JOINER}{{")


def file_label(name: str) -> str:
    """An uploaded file's name, short and on one line: a browser may send any text as one."""
    line = "".join(char if char.isprintable() else "?" for char in name)
    return line if len(line) <= _LONGEST_FILE_NAME else f"{line[: _LONGEST_FILE_NAME - 1]}…"


def _one_way(text: str) -> str:
    """Without characters that change the direction of writing; right-to-left letters need none."""
    return _TURNS.sub("\N{REPLACEMENT CHARACTER}", text)
