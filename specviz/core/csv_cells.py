"""Text in a CSV that a person opens in a spreadsheet: no cell of a file that is written here is read as a formula."""

import re
import unicodedata

_FORMULA = re.compile(r"'*(?:[\t\r]|\s*[=+\-@＝＋－＠])")  # with the marks of text that is marked already


def safe_cell(text: str) -> str:
    """Text that a spreadsheet does not read as a formula, on one line."""
    return marked("".join(c if unicodedata.category(c)[0] != "C" else " " for c in text))


def marked(text: str) -> str:
    """The text, with the mark that makes a spreadsheet read it as text where it would read a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unmarked(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell
