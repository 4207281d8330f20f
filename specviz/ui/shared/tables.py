"""Tables: formats for their columns, and the same rows for paper.

`st.dataframe` draws on a canvas that scrolls: printed, it is a picture of the part in sight. So an HTML table with all
rows stands beside it, which only a printer shows (assets/print.css).
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

TIMES = "%.2f×"
PERCENT = "%.0f %%"  # of a share times 100
NOT_MEASURED = "–"  # shown in place of a missing value
ROWS_ON_PAPER = 300
LONG_WORD = 20  # characters: a longer one is broken, so that the table fits the paper

Row = Mapping[str, Any]


def numbers(number_format: str, *names: str, explanation: str | None = None) -> dict[str, Any]:
    """One number column for each name, with this format; `explanation` appears on hover."""
    return {name: st.column_config.NumberColumn(format=number_format, help=explanation) for name in names}


def data_table(rows: Any, *, column_config: Mapping[str, Any] | None = None, **options: Any) -> None:
    """A data frame on screen, and a plain table on paper.

    Args:
        rows: a pandas data frame, a list of rows, or a dictionary of columns.
        column_config: formats of the columns, as `st.dataframe` takes them.
        options: others of `st.dataframe`.
    """
    st.dataframe(rows, column_config=column_config, **options)
    st.html(html_table(_records(rows), column_config or {}))


def html_table(rows: Sequence[Row], column_config: Mapping[str, Any]) -> str:
    """The rows as HTML for paper, each number with the format of its column. All text is escaped."""
    names = list(rows[0]) if rows else []
    head = _line("th", ((name, "") for name in names))
    body = "".join(
        _line("td", (_cell(row[name], column_config.get(name)) for name in names)) for row in rows[:ROWS_ON_PAPER]
    )
    left_out = len(rows) - ROWS_ON_PAPER
    more = f"<p>{left_out} more rows are not printed.</p>" if left_out > 0 else ""
    return f'<div class="on-paper"><table><thead>{head}</thead><tbody>{body}</tbody></table>{more}</div>'


def _records(rows: Any) -> list[Row]:
    if isinstance(rows, Mapping):
        return [dict(zip(rows, cells, strict=True)) for cells in zip(*rows.values(), strict=True)]
    return list(rows.to_dict("records") if hasattr(rows, "to_dict") else rows)


def _line(tag: str, cells: Iterable[tuple[str, str]]) -> str:
    return f"<tr>{''.join(f'<{tag}{kind}>{escape(text)}</{tag}>' for text, kind in cells)}</tr>"


def _cell(value: object, config: Any) -> tuple[str, str]:
    """A cell's text and its class."""
    if value is None or value != value:  # a missing number is not equal to itself
        return NOT_MEASURED, ""
    if isinstance(value, str):
        return value, ' class="long"' if any(len(word) > LONG_WORD for word in value.split()) else ""
    number_format = ((config or {}).get("type_config") or {}).get("format") or "%s"
    return number_format % value, ' class="number"'
