"""Text in a CSV that a person opens in a spreadsheet: no cell of a file that is written here is read as a formula."""

import unicodedata

STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def safe_cell(text: str) -> str:
    """Text that a spreadsheet does not read as a formula, on one line."""
    line = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text)
    return f"'{line}" if line.lstrip().startswith(STARTS_FORMULA) else line


def read_cell(cell: str) -> str:
    """The text that `safe_cell` made this cell from, if it was one line."""
    return cell[1:] if cell.startswith("'") and cell[1:].lstrip().startswith(STARTS_FORMULA) else cell
