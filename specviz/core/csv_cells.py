"""Text in a CSV that a person opens in a spreadsheet: no cell of a file that is written here is read as a formula."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"'*(?:[\t\r]|\s*[=+\-@＝＋－＠])")  # with the marks of text that is marked already


def safe_cell(text: str) -> str:
    """Text that a spreadsheet does not read as a formula, on one line."""
    return marked("".join(c if unicodedata.category(c)[0] != "C" else " " for c in text))


def marked(text: str) -> str:
    """The text, with the mark that makes a spreadsheet read it as text where it would read a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unmarked(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def csv_text(rows: Iterable[Iterable[object]], end: str = "\n") -> str:
    """Rows as a CSV, their cells as they are."""
    written = io.StringIO()
    csv.writer(written, lineterminator=end).writerows(rows)
    return written.getvalue()


def csv_of(frame: "pd.DataFrame", cell: Callable[[str], str] = safe_cell, *, header: bool = True) -> str:
    """The frame as a CSV, each of its texts as `cell` makes it."""
    texts = frame.select_dtypes(["object", "str"]).columns
    safe = {name: frame[name].map(lambda it: cell(it) if isinstance(it, str) else it) for name in texts}
    return frame.assign(**safe).to_csv(index=False, header=header, lineterminator="\r\n")
