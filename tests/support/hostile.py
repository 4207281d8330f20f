"""Names as a harmful file would have them, and everything on a page that Streamlit or Plotly reads as markup."""

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from itertools import cycle
from typing import Any

from streamlit.testing.v1 import AppTest

from specviz.core.trace import DrafterInfo, Machine, ModelInfo, Trace
from specviz.measure.sweep.rows import SweepRow
from tests.support.fake_rows import row_at
from tests.support.fake_traces import fake_trace
from tests.support.payloads import payload_of

HOST = "evil.test"
NAMES = (
    f"![x](http://{HOST}/x.png)",
    f"<img src=http://{HOST}/y.png onerror=alert(1)>",
    *("[a](javascript:alert(1))", ":red[x]", "$x$", ":smile:", ":material/home:"),
    f"www.{HOST}",
)
NAME = " ".join(NAMES)  # all of them in one
ODD_NAMES = (  # read as something else than a text by other means
    "\u202egnp.exe",
    "two\n\n# **lines**",
    f'=HYPERLINK("http://{HOST}","x")',
    *("\u200b*zero*\u200b", "$$\\LaTeX$$", "**" + "x" * 10_000 + "**"),
)
ALL_NAMES = (*NAMES, *ODD_NAMES)
MACHINE, TARGET = Machine(NAME, "2.13.0", "5.23.0", 1), ModelInfo(NAME, 7_500_000, NAME, "00")
DRAFTER = DrafterInfo("model", NAME, 700_000, "float32", "11")


def hostile_trace() -> Trace:
    return replace(fake_trace(greedy=True, hostile=True), recorded_on=MACHINE, target=TARGET, drafter=DRAFTER)


def hostile_rows() -> list[SweepRow]:
    names = {"machine": NAME, "target": NAME, "draft": NAME}
    return [
        replace(row_at("story", length, speedup, **names), workload=f"{name}{number}", preset=name, constrained=held)
        for number, (name, speedup) in enumerate(zip(ALL_NAMES, cycle((0.5, 0.7, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5))))
        for length in (2, 4)
        for held in (False, True)
    ]


FIGURE_MARKS = ("<img", "<a ", "<b>", "\u202e")
AS_TEXT = {"text", "code", "text_area", "text_input", "dataframe", "bidi_component"}  # not as Markdown
AS_TEXT_IN = {"selectbox": {"options"}, "multiselect": {"options"}}
NOT_SHOWN = {"id", "raw_value", "raw_values", "url", "alt", "type", "format"}
PAPER = '<div class="on-paper">'


def raw_names_in(page: AppTest) -> list[str]:
    """Each place on the page where one of the names would be read as markup."""
    markdown = [text for text in markdown_of(page) if any(name in text for name in _read_as_markup(text))]
    figures = (text for figure in figures_of(page).values() for text in strings_in(figure))
    return markdown + [text for text in figures if any(mark in text for mark in FIGURE_MARKS)]


def _read_as_markup(text: str) -> list[str]:
    """The names that would be markup there: a table for paper is HTML, where the signs of Markdown mean nothing."""
    return [name for name in ALL_NAMES if not text.startswith(PAPER) or escape(name) != name]


def markdown_of(page: AppTest) -> list[str]:
    """Every text that Streamlit reads as Markdown: bodies, labels, help texts, options."""
    return [
        text
        for node in page._tree
        if node.type not in AS_TEXT and (proto := getattr(node, "proto", None)) is not None
        for text in _texts(proto, NOT_SHOWN | AS_TEXT_IN.get(node.type, set()))
    ]


def figures_of(page: AppTest) -> dict[str, Any]:
    """Every Plotly figure on the page, by what it shows in words."""
    mounted = [payload_of(component) for component in page.get("bidi_component")]
    return {data["alt"]: data["figure"] for data in mounted if data and "figure" in data}


def _texts(message: Any, left_out: set[str]) -> Iterator[str]:
    for field, value in message.ListFields():
        for one in value if field.is_repeated else [value]:
            if isinstance(one, str) and field.name not in left_out:
                yield one
            elif hasattr(one, "ListFields"):
                yield from _texts(one, left_out)


def strings_in(value: Any) -> Iterator[str]:
    """Labels, legends and hover texts of a figure."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings_in(inner)
