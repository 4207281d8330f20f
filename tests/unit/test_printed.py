"""What the commands print: runs, comparisons, costs, a table, a JSON, and what is being done. All text is only text."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from difflib import unified_diff
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from rich.text import Text
from syrupy.assertion import SnapshotAssertion

from specviz.cli import output
from specviz.cli.main import main
from specviz.cli.sweep import comparison_json, print_comparison
from specviz.cli.traces import print_costs
from specviz.core.metrics import Costs, Counts
from specviz.core.rounds import Round
from specviz.core.settings import DecodeSettings
from specviz.core.trace import (
    Autoregressive,
    DrafterInfo,
    Output,
    PrefillSeconds,
    Prompt,
    SourceSystem,
    Trace,
    dump_trace,
)
from specviz.measure.paired import GreedyQuality, LogProbability, SampledQuality, SampledRepeat
from specviz.models.downloads import Progress
from tests.support.both import round_from
from tests.support.commands import MARKUP, hostile_trace
from tests.support.fake_traces import run_of
from tests.support.strategies import refusal
from tests.unit.test_race import SETTINGS, lap

ESCAPE = "\x1b[31m"  # of a model or a file: on a terminal it would colour what follows


def round_of(index: int, guesses: str, kind: str, own: str = "") -> Round:
    """A round as `round_from` makes it, with this text of the target's own token."""
    made = round_from(index, guesses, kind, [0.25, 1, 0])
    return replace(made, emitted=replace(made.emitted, text=own))


ROUNDS = [
    round_of(0, "aaa", "bonus", " z"),
    round_of(1, "ardd", "correction", f"{ESCAPE}x"),
    round_of(2, "", "own", "!"),
]
WRITTEN = [token for each in ROUNDS for token in each.emitted_ids]
PLAIN = Autoregressive([1.0] * len(WRITTEN), WRITTEN, alternating=True)
GREEDY = DecodeSettings(max_new_tokens=len(WRITTEN), temperature=0.0)
HI = Prompt(f"Hi {ESCAPE}\n", [1], ["Hi"])
RUN = run_of(ROUNDS, PLAIN, settings=GREEDY, prompt=HI, output=Output(WRITTEN, " you[b]", "eos"))
OTHER = replace(PLAIN, token_ids=[*WRITTEN[:2], 99, *WRITTEN[3:]])
GROWN = [round_of(0, "rd", "correction", " and\n"), round_of(1, "r-1 a-1 n0 a1 r1 n3", "bonus", " down")]
ON_A_GPU = DrafterInfo("model", "draft", 1, "float32", "11", "light")
FROM_VLLM = SourceSystem("vLLM", ["Round 1 reads the prompt.", f"A {ESCAPE}note."], ["seed"])
RUNS: dict[str, Trace] = {
    "another text": replace(RUN, autoregressive=OTHER),
    "without the target alone": replace(RUN, autoregressive=None),
    "without a draft": replace(RUN, drafter=None),
    "on a GPU": replace(RUN, target=replace(RUN.target, forward="transformers", device="A GPU"), drafter=ON_A_GPU),
    "of another system": replace(RUN, imported=FROM_VLLM),
    "stopped before a round": run_of([], prompt=Prompt("Hi", [1], ["Hi"]), output=Output([], "", None)),
    "a tree": run_of(GROWN, settings=replace(GREEDY, draft_length=3, tree="2,2,1")),
    "ended by the draft": run_of([round_of(0, "aad", "none")], replace(PLAIN, token_ids=[0, 1])),
}
Printed = Callable[..., list[str]]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """The lines that a function prints."""

    def call(act: Callable[..., object], *given: object) -> list[str]:
        act(*given)
        return capsys.readouterr().out.splitlines()

    return call


def test_a_run(printed: Printed, snapshot: SnapshotAssertion) -> None:
    """All of one, and what another one prints in place of which lines."""
    whole, others = (
        printed(output.print_trace, RUN),
        {name: printed(output.print_trace, run) for name, run in RUNS.items()},
    )
    changes = {name: [*unified_diff(whole, lines, n=0, lineterm="")][3:] for name, lines in others.items()}
    assert {"two decoders that wrote the same": whole} | changes == snapshot


def test_a_round_has_a_sign_and_a_style_for_what_came_of_each_token(snapshot: SnapshotAssertion) -> None:
    assert [line.markup for each in [*ROUNDS, *GROWN] for line in output.round_lines(each)] == snapshot


COSTS = Costs(0.2, 0.1, {1: 1.0, 4: 1.3, 5: 1.4}, 0.2)
SAMPLED = {
    "draws": [SampledRepeat(4, Counts(3, 8, 5, 2, 1, 8), 7), SampledRepeat(5, Counts(4, 9, 3, 4, 2, 7), 9)],
    "quality": SampledQuality(LogProbability(-1.5, -2.0, -1.0), LogProbability(-1.25, -1.75, -0.5)),
}
WARM = replace(SETTINGS, temperature=1.0, seed=4)
COMPARED = {
    "two seeds": lap(WARM, ours=[0.5, 0.7], alone=[1.0, 0.9], costs=COSTS, **SAMPLED),
    "another text": lap(plain_ids=[0, 1, 2, 0, 8], quality=GreedyQuality(2, 0.01, lead=0.02, explained="unknown")),
    "one repeat": lap(ours=[0.4], alone=[1.2], costs=COSTS),
}
TAKEN = {"float32": {"1": 0.0041, "5": 0.0062}, "bfloat16": {"1": 0.0029, "5": 0.0073}}
INTERVALS = {"cost_ratio": (0.19, 0.24), "overhead": None, "verification": {1: (0.98, 1.02), 5: (1.3, 1.5)}}
CALIBRATED = {
    "step_seconds": 0.00412, "target_dtype": "float32", "cost_ratio": 0.213, "overhead": 0.047, "intervals": INTERVALS,
    "verification": {1: 1.0, 5: 1.386}, "tree_verification": {4: 1.27, 20: 2.5},
    "dtypes": {"target": {"reason": "one is faster", "seconds": TAKEN}, "draft": None},
}  # fmt: skip
TABLES: dict[str, Callable[[], object]] = {
    **{name: partial(print_comparison, comparison) for name, comparison in COMPARED.items()},
    "costs": partial(print_costs, CALIBRATED),
    "costs without trees": partial(print_costs, CALIBRATED | {"tree_verification": {}, "dtypes": {}}),
    "models": partial(main, ["models"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_what_is_printed(name: str, printed: Printed, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(printed(TABLES[name])) == snapshot


@pytest.mark.parametrize("name", ["two seeds", "another text"])
def test_a_comparison_is_written(name: str, snapshot: SnapshotAssertion) -> None:
    plain = replace(COMPARED[name].plain, prefill_seconds=PrefillSeconds(0.03, 0.0))
    text = json.dumps(comparison_json(replace(COMPARED[name], plain=plain)))
    found = json.loads(text, parse_float=lambda digits: round(float(digits), 4))
    parts = {name: found.pop(name) for name in ("autoregressive", "speculative", "all_seeds")}
    flat = found | {f"{part}.{name}": value for part, its in parts.items() for name, value in its.items()}
    assert "\n".join(f"{name}: {json.dumps(value)}" for name, value in flat.items()) == snapshot


def test_a_table_and_lines_are_text_as_it_is(
    printed: Printed, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    rows = [("a", 0.12345, 7), (f":cat: {ESCAPE}", None, 1234), (None, 2.0, "x")]
    lines = [*printed(output.print_table, ("name", "[b]rate", "rounds"), rows), *printed(output.print_line)]
    for line in (f"[b]{ESCAPE} :cat: 12 " + "long " * 30, Text("[i] 12", style="bold")):
        lines += printed(output.print_line, line)
    assert lines == snapshot
    assert printed(output.print_line, "word " * 30_000) == ["word " * 30_000], "no line is broken"
    output.note(f"a {ESCAPE}note")
    assert capsys.readouterr().err == "note: a ␛[31mnote\n"
    assert output.visible(" a\n\tb\x1b\x9b\u202e") == "␣a↵⇥b␛\\u009b\\u202e"
    assert output.safe(" a\n\tb\x1b\x00\x7f 日本 é “✓”") == " a\n\tb␛␀\\u007f 日本 é “✓”"


def test_a_json_goes_to_a_file_or_is_all_that_is_printed(printed: Printed, tmp_path: Path) -> None:
    file = tmp_path / "é.json"
    assert output.write_json(None, "{}")
    assert output.write_json(str(file), '"é"')
    assert file.read_bytes() == '"é"\n'.encode()
    assert printed(lambda: output.write_json("-", "{1}")) == ["{1}"]
    assert not output.write_json("-", "")
    assert refusal(lambda: output.write_file(tmp_path, "")) == f"{tmp_path} cannot be written: Is a directory."


# ---- on a terminal


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Printed:
    """The same of a narrow terminal."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")

    def call(act: Callable[..., object], *given: object) -> list[str]:
        shown = Terminal()
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(sys, name, shown)
        act(*given)
        return shown.getvalue().replace("\r", "CR").split("\n")

    return call


def print_chips() -> None:
    for status in output.STYLES:
        output.print_line(output.chip(status, " a\x1b[2J"))


def test_a_terminal_gets_our_own_colours_alone_and_whole_lines(
    terminal: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(dump_trace(hostile_trace()), encoding="utf-8")
    hostile = "\n".join(terminal(main, ["show", str(file)]))
    assert hostile.count(MARKUP) >= 3
    assert not re.search(r"\x1b(?!\[[\d;]*m)|\x1b\[31m", hostile)
    assert "note: The weights of wren-nano on this machine differ from those in this trace." in hostile
    assert "a" * 100 + "  1.000" in terminal(output.print_table, ("name", "value"), [("a" * 100, 1.0)])[1]
    coloured = terminal(print_chips)
    assert coloured[0] == "\x1b[34m✓␣a␛[2J\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    plain = terminal(print_chips)
    assert [line[:1] for line in plain] == [*(glyph for glyph, _ in output.STYLES.values()), ""]
    assert [re.sub(r"^\x1b\[[\d;]+m(.*)\x1b\[0m$", r"\1", line) for line in coloured] == plain


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
    assert capsys.readouterr() == ("", "progress: round ␛[31m1 of 2\n" if lines else "")


def test_a_terminal_has_one_line_that_overwrites_itself_and_the_notes_stay(
    terminal: Printed, snapshot: SnapshotAssertion
) -> None:
    assert [line.replace("\x1b", "ESC") for line in terminal(say_all)] == snapshot
