"""How commands print. Text from models and files never reaches the terminal raw, and is never read as markup."""

import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specviz.core.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

    from specviz.models.hub import Progress

COLUMNS = 100_000  # rich neither wraps nor cuts a line; a terminal wraps by itself

# Imports of rich stand inside the functions: `--json -` and errors need none of it, and start faster without it.


def safe(text: str) -> str:
    """The text with every control character but newline and tab replaced by a visible sign."""
    keep = {"\n", "\t"}
    return "".join(
        char if char in keep or not unicodedata.category(char).startswith("C") else _picture(char) for char in text
    )


def visible(text: str) -> str:
    """The text on one line: spaces and all control characters replaced by visible signs."""
    shown = text.replace(" ", "␣").replace("\n", "↵").replace("\t", "⇥")
    return "".join(_picture(char) if unicodedata.category(char).startswith("C") else char for char in shown)


def _picture(char: str) -> str:
    return chr(0x2400 + ord(char)) if ord(char) < 0x20 else f"\\u{ord(char):04x}"


def console(*, stderr: bool = False) -> "Console":
    """Standard output (or error). Colours only on a terminal, and not if NO_COLOR is set.

    Markup, emoji codes and highlighting are off: all text is only text.
    """
    from rich.console import Console

    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(
        stderr=stderr,
        force_terminal=terminal,
        width=None if stderr else COLUMNS,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )


def say(line: "str | Text" = "") -> None:
    """Print one line on standard output."""
    console().print(safe(line) if isinstance(line, str) else line, soft_wrap=True)


def note(text: str) -> None:
    """Print a remark on standard error."""
    print(f"note: {safe(text)}", file=sys.stderr)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Aligned columns; numbers with three decimals."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, column in enumerate(columns):
        table.add_column(Text(column), no_wrap=True, justify="right" if index else "left")
    for row in rows:
        table.add_row(*(Text(number(value)) for value in row))
    console().print(table)


def number(value: Any) -> str:
    """A table's value as text: floats with three decimals, a dash for None."""
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else safe(str(value))


def write_json(path: str | None, text: str) -> bool:
    """Write JSON to the path given with --json, if any. False: standard output holds it, so print nothing else.

    Raises:
        InputError: the file cannot be written.
    """
    if path is None:
        return True
    if path == "-":
        print(text)
        return False
    write_file(Path(path), text + "\n")
    return True


def write_file(path: Path, text: str) -> None:
    """Write a text as UTF-8.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


class StatusLine:
    """One line on standard error that says what is being done and overwrites itself.

    Without a terminal it is silent, or with `lines` each thing is a line of its own, for a log.
    """

    def __init__(self, live: "Live | None", lines: bool = False) -> None:
        self._live, self._lines = live, lines

    def show(self, line: str) -> None:
        """Replace the line."""
        if self._live:
            from rich.text import Text

            self._show(Text(safe(line), no_wrap=True, overflow="ellipsis"))
        elif self._lines:
            print(f"progress: {safe(line)}", file=sys.stderr, flush=True)

    def show_download(self, step: "Progress") -> None:
        """Replace the line by a bar that shows how far a download is."""
        if self._live:
            self._show(_download_bar(step))

    def note(self, text: str) -> None:
        """Print a note that stays."""
        if self._live:
            self._live.console.print(f"note: {safe(text)}", soft_wrap=True)

    def _show(self, renderable: "RenderableType") -> None:
        if self._live:
            self._live.update(renderable, refresh=True)


@contextmanager
def status_line(*, lines: bool = False) -> Iterator[StatusLine]:
    """A status line that is erased at the end; without a terminal lines that stay, if `lines`, or nothing."""
    if not sys.stderr.isatty():
        yield StatusLine(None, lines)
        return
    from rich.live import Live

    # Without auto_refresh there is no second thread, which would disturb the timings that commands measure.
    with Live(console=console(stderr=True), auto_refresh=False, transient=True, redirect_stdout=False) as live:
        yield StatusLine(live)


def _download_bar(step: "Progress") -> "RenderableType":
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    file = min(step.files_done + 1, step.files_total)
    amount = f"{step.bytes_done / 1e6:.0f} of {step.bytes_total / 1e6:.0f} MB, file {file} of {step.files_total}"
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        Text(f"downloading {safe(step.model)}"),
        ProgressBar(total=step.bytes_total, completed=step.bytes_done, width=30),
        Text(amount),
    )
    return bar
