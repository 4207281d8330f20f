"""How commands print. Text from models and files never reaches the terminal raw, and is never read as markup."""

import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specviz.core.errors import InputError
from specviz.core.metrics import Counts, count
from specviz.core.names import forward_in_words
from specviz.core.readable import readable
from specviz.core.rounds import Round
from specviz.core.trace import Trace
from specviz.core.verdict import compare_texts, explain_no_result, verdict_of_run

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from specviz.models.downloads import Progress

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

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without such a glyph shows a question mark
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


def print_line(line: "str | Text" = "") -> None:
    console().print(safe(line) if isinstance(line, str) else line, soft_wrap=True)


def note(text: str) -> None:
    print(f"note: {safe(text)}", file=sys.stderr)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
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
    """Write JSON to the path given with --json, if any. False: standard output holds it, so print nothing else."""
    if path is None:
        return True
    if path == "-":
        print(text)
        return False
    write_file(Path(path), text + "\n")
    return True


def write_file(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


class StatusLine:
    """One line on standard error that says what is being done and overwrites itself.

    Without a terminal it is silent, or with `lines` each thing is a line of its own, for a log.
    """

    def __init__(self, live: "Live | None", lines: bool = False) -> None:
        self._live, self._lines = live, lines

    def show(self, line: str) -> None:
        if self._live:
            from rich.text import Text

            self._live.update(Text(safe(line), no_wrap=True, overflow="ellipsis"), refresh=True)
        elif self._lines:
            print(f"progress: {safe(line)}", file=sys.stderr, flush=True)

    def show_download(self, step: "Progress") -> None:
        done, file = step.bytes_done / step.bytes_total, min(step.files_done + 1, step.files_total)
        amount = f"{done:.0%} of {step.bytes_total / 1e6:.0f} MB, file {file} of {step.files_total}"
        if self._live:
            self.show(f"downloading {step.model}: {amount}")

    def note(self, text: str) -> None:
        if self._live:
            self._live.console.print(f"note: {safe(text)}", soft_wrap=True)


@contextmanager
def status_line(*, lines: bool = False) -> Iterator[StatusLine]:
    if not sys.stderr.isatty():
        yield StatusLine(None, lines)
        return
    from rich.live import Live

    # Without auto_refresh there is no second thread, which would disturb the timings that commands measure.
    with Live(console=console(stderr=True), auto_refresh=False, transient=True, redirect_stdout=False) as live:
        yield StatusLine(live)


# Glyph and style: a status is never shown by colour alone.
STYLES = {
    "accepted": ("✓", "blue"),
    "rejected": ("✗", "strike yellow"),
    "discarded": ("⋯", "dim"),
    "not taken": ("⋯", "dim"),
    "correction": ("↻", "bold green"),
    "bonus": ("+", "bold green"),
    "own": ("•", "green"),
}
MARGIN = 9  # columns before the tokens: the round's number stands there


def chip(status: str, text: str) -> "Text":
    from rich.text import Text

    glyph, style = STYLES[status]
    return Text(f"{glyph}{visible(text)}", style=style)


def round_lines(round: Round) -> list["Text"]:
    """The round's number and its tokens. Below a tree's accepted path stand its judged guesses and their siblings."""
    from rich.text import Text

    chips = [chip(token.status, token.shown) for token in (round.accepted_tokens if round.is_tree else round.drafted)]
    if round.added != "none":
        chips.append(chip(round.added, round.emitted.text))
    lines = [Text(f"{round.index + 1:5}".ljust(MARGIN)).append_text(Text(" ").join(chips))]
    judged = {token.parent for token in round.drafted if token.status != "not taken"}

    def add_below(parent: int, indent: str) -> None:
        children = [node for node, token in enumerate(round.drafted) if token.parent == parent]
        for node in children if parent in judged else []:
            joint, below = ("└ ", "  ") if node == children[-1] else ("├ ", "│ ")
            token = round.drafted[node]
            lines.append(Text().append(f"{indent}{joint}", "dim").append_text(chip(token.status, token.shown)))
            add_below(node, indent + below)

    add_below(-1, " " * MARGIN)
    if round.is_tree and (left_out := len(round.drafted) - len(lines) + 1):
        lines.append(Text(f"{' ' * MARGIN}and {left_out} more, not taken", style="dim"))
    return lines


def print_trace(trace: Trace) -> None:
    """Rounds as coloured tokens, the text, the comparison of both outputs, the figures, the verdict."""
    drafter = f" + {trace.drafter.name}" if trace.drafter else ""
    origin = "on " + ", ".join(filter(None, (trace.recorded_on.machine, forward_in_words(trace))))
    if trace.imported:
        origin = f"imported from {trace.imported.system}"
    print_line(f"{trace.target.name}{drafter}, {origin}")
    for note in trace.imported.notes if trace.imported else []:
        print_line(f"note     {note}")
    print_line(f"prompt   {visible(trace.prompt.text)}")
    for round in readable(trace).rounds:
        for line in round_lines(round):
            print_line(line)
    print_line(f"\n{trace.prompt.text}{trace.output.text}\n")
    if not trace.rounds:
        return
    counts = count(trace.rounds)
    print_line(f"{counts.emitted} tokens in {counts_line(counts, 'not taken' if trace.settings.tree else 'discarded')}")
    print_line(compare_texts(trace))
    if verdict := verdict_of_run(trace):
        print_line(f"{verdict.headline} (one run of one text). {verdict.reason}")
    else:
        print_line(explain_no_result(trace))


def counts_line(counts: Counts, unjudged: str) -> str:
    return (
        f"{counts.rounds} target passes: {counts.drafted} drafted, {counts.accepted} accepted, "
        f"{counts.rejected} rejected, {counts.discarded} {unjudged}; acceptance rate "
        f"{number(counts.acceptance_rate)}, per judgement {number(counts.per_judgement_rate)}"
    )
