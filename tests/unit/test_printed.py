"""What the commands print: a run, a table, a JSON, and what is being done."""

import sys
from dataclasses import replace
from difflib import unified_diff
from io import StringIO
from pathlib import Path

import pytest
from rich.text import Text
from syrupy.assertion import SnapshotAssertion

from specviz.cli import output
from specviz.core.rounds import Round
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, DrafterInfo, Output, Prompt, SourceSystem, Trace
from specviz.models.downloads import Progress
from tests.support.both import round_from
from tests.support.fake_traces import run_of
from tests.support.strategies import refusal

ESCAPE = "\x1b[31m"  # of a model or a file: on a terminal it would colour what follows


def round_of(index: int, guesses: str, kind: str, own: str) -> Round:
    """A round as `round_from` makes it, with this text of the target's own token."""
    made = round_from(index, guesses, kind, [0.25, 1, 0])
    return replace(made, emitted=replace(made.emitted, text=own))


CORRECTED = round_of(1, "ardd", "correction", f"{ESCAPE}x")
ROUNDS = [round_of(0, "aaa", "bonus", " z"), CORRECTED, round_of(2, "", "own", "!")]
WRITTEN = [token for each in ROUNDS for token in each.emitted_ids]
PLAIN = Autoregressive([1.0] * len(WRITTEN), WRITTEN, alternating=True)
GREEDY = DecodeSettings(max_new_tokens=len(WRITTEN), temperature=0.0)
RUN = run_of(
    ROUNDS,
    PLAIN,
    settings=GREEDY,
    prompt=Prompt(f"Hi {ESCAPE}\n", [1], ["Hi"]),
    output=Output(WRITTEN, " you[b]", "eos"),
)
OTHER = replace(PLAIN, token_ids=[*WRITTEN[:2], 99, *WRITTEN[3:]])
GROWN = [round_of(0, "rd", "correction", " and\n"), round_of(1, "r-1 a-1 n0 a1 r1 n3", "bonus", " down")]

RUNS: dict[str, Trace] = {
    "another text": replace(RUN, autoregressive=OTHER),
    "without the target alone": replace(RUN, autoregressive=None),
    "without a draft": replace(RUN, drafter=None),
    "on a GPU": replace(
        RUN,
        target=replace(RUN.target, forward="transformers", device="A GPU"),
        drafter=DrafterInfo("model", "draft", 1, "float32", "11", "light"),
    ),
    "of another system": replace(
        RUN, imported=SourceSystem("vLLM", ["Round 1 reads the prompt.", f"A {ESCAPE}note."], ["seed"])
    ),
    "stopped before a round": run_of([], prompt=Prompt("Hi", [1], ["Hi"]), output=Output([], "", None)),
    "a tree": run_of(GROWN, settings=replace(GREEDY, draft_length=3, tree="2,2,1")),
}


def printed(trace: Trace, capsys: pytest.CaptureFixture[str]) -> list[str]:
    output.print_trace(trace)
    return capsys.readouterr().out.splitlines()


def test_a_run(capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    """All of one, and what another one prints in place of which lines."""
    whole = printed(RUN, capsys)
    changes = {name: [*unified_diff(whole, printed(run, capsys), n=0, lineterm="")][3:] for name, run in RUNS.items()}
    assert {"two decoders that wrote the same": whole} | changes == snapshot


def test_a_round_has_a_sign_and_a_style_for_what_came_of_each_token(snapshot: SnapshotAssertion) -> None:
    assert [line.markup for each in [*ROUNDS, *GROWN] for line in output.round_lines(each)] == snapshot


def test_a_table_and_lines_are_text_as_it_is(capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    output.print_table(
        ("name", "[b]rate", "rounds"), [("a", 0.12345, 7), (f":cat: {ESCAPE}", None, 1234), (None, 2.0, "x")]
    )
    output.print_line()
    output.print_line(f"[b]{ESCAPE} :cat: 12 " + "long " * 30)
    output.print_line(Text("[i] 12", style="bold"))
    output.note(f"a {ESCAPE}note")
    out, err = capsys.readouterr()
    output.print_line("word " * 30_000)
    assert capsys.readouterr().out == "word " * 30_000 + "\n", "no line is broken"
    assert {"out": out.splitlines(), "err": err.splitlines()} == snapshot


def test_a_json_goes_to_a_file_or_is_all_that_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "é.json"
    assert output.write_json(None, "{}")
    assert output.write_json(str(file), '"é"')
    assert file.read_bytes() == '"é"\n'.encode()
    assert capsys.readouterr().out == ""
    assert not output.write_json("-", "{1}")
    assert capsys.readouterr().out == "{1}\n"
    assert refusal(lambda: output.write_file(tmp_path, "")) == f"{tmp_path} cannot be written: Is a directory."


def say_all(**how: bool) -> None:
    with output.status_line(**how) as status:
        status.show(f"round {ESCAPE}1 of 2")
        if not how:
            status.show("a name that is longer than a line of this terminal, which has 60 columns")
        status.show_download(Progress("a/model", 12_400_000, 49_600_000, 1, 3))
        status.show_download(Progress("a/model", 49_600_000, 49_600_000, 3, 3))
        status.note(f"[b]{ESCAPE} is slow " + "long " * 30)


@pytest.mark.parametrize("lines", [False, True])
def test_a_log_has_a_line_for_each_thing_or_none(lines: bool, capsys: pytest.CaptureFixture[str]) -> None:
    say_all(lines=lines)
    out, err = capsys.readouterr()
    assert (out, err) == ("", "progress: round ␛[31m1 of 2\n" if lines else "")


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_that_overwrites_itself_and_the_notes_stay(
    monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "stderr", Terminal())
    say_all()
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert shown.replace("\x1b", "ESC").replace("\r", "CR").split("\n") == snapshot
