"""The command line without models: its options, what it does with them, and its errors. Printed: `test_printed.py`."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import typer
from syrupy.assertion import SnapshotAssertion

from specviz import __version__
from specviz.cli import sweep, traces
from specviz.cli.main import app
from specviz.cli.options import PROGRAM
from specviz.core.errors import NoNodeLeft
from specviz.core.settings import DecodeSettings
from specviz.data.prompts.workloads import ALL_WORKLOADS
from tests.support.commands import PAIR, PROMPT, SHORT, Cli, command_line, parsed
from tests.support.fake_rows import row_at


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cli:
    return command_line(capsys)


# Several prompts: rows as they would be measured

FIRST, SECOND = {"number": 1, "text_hash": "1" * 8}, {"number": 2, "text_hash": "2" * 8}
ROWS = [
    row_at("tales", 2, 1.25, 0.75, **FIRST),
    row_at("tales", 4, 1.5, 0.5, **FIRST),
    row_at("tales", 2, 0.75, 0.25, **SECOND, identical=False),
    row_at("tales", 4, 0.5, 0.125, **SECOND, temperature=1.0, identical=None),
]
Compared = Callable[..., tuple[int, str, str]]


@pytest.fixture
def compared(run: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compared:
    """A comparison of two prompts that measures so many of `ROWS`, and then ends with `stop`."""
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "Once upon a time", "name": "mine"}\n{"prompt": 7}\n{"prompt": "One day"}\n')

    def call(*given: object, rows: int = 4, stop: BaseException | None = None) -> tuple[int, str, str]:
        def measured(*_: object) -> Iterator[Any]:
            yield from ROWS[:rows]
            if stop:
                raise stop

        monkeypatch.setattr(sweep, "_rows", measured)
        status, out, err = run("compare", *SHORT, "--prompts-file", prompts, "--draft-lengths", "2,4", *given)
        return status, *(text.replace(str(tmp_path), "FOLDER") for text in (out, err))

    return call


def test_rows_end_with_a_conclusion_and_name_what_was_left_out(
    compared: Compared, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    rows = tmp_path / "rows.csv"
    assert compared("--csv", rows) == snapshot
    assert len(rows.read_text().splitlines()) == 1 + len(ROWS)
    assert compared("--csv", rows, rows=0)[1].startswith("Nothing left to measure: FOLDER/rows.csv holds all rows.\n")
    assert compared("--json", tmp_path / "rows.json")[0] == 0
    written = (tmp_path / "rows.json").read_text().replace(str(tmp_path), "FOLDER")
    assert compared("--json", "-")[1] == written
    result = json.loads(written)
    assert [row["speedup"] for row in result["rows"]] == [1.25, 1.5, 0.75, 0.5]
    assert result["conclusion"][-1].startswith("FOLDER/prompts.jsonl: Line 2 is left out: ")


@pytest.mark.parametrize(
    ("stop", "status"),
    [(KeyboardInterrupt(), 130), (NoNodeLeft("No node is left"), 2), (OSError(28, "The disk is full"), 2)],
)
def test_what_ends_early_says_how_to_go_on(
    stop: BaseException, status: int, compared: Compared, tmp_path: Path
) -> None:
    saved = compared("--csv", tmp_path / "rows.csv", rows=3, stop=stop)
    assert saved[:2] == (status, "")
    assert saved[2].endswith("; FOLDER/rows.csv has 3 of 4 rows; the same command measures the rest.\n")
    assert "; nothing is saved: with --csv PATH every row is saved" in compared(rows=3, stop=stop)[2]


PLANNED = {
    "compare": (["wren-nano"], (1, 2, 4, 8), (0.0,), ("fixed",), 1),
    "compare --draft-length 3 --repeats 2 --temperature 0.7": (["wren-nano"], (3,), (0.7,), ("fixed",), 2),
    "compare --draft-lengths 5,2 --draft-schedule heuristic": (["wren-nano"], (5, 2), (0.0,), ("heuristic",), 1),
    "sweep --draft-length 6": (["wren-nano"], (6,), (0.0,), ("fixed",), 1),
    "sweep --draft prompt-lookup --draft-lengths 2 --temperatures 0,1 --schedules fixed,heuristic": (
        ["wren-nano", "lookup"], (2,), (0.0, 1.0), ("fixed", "heuristic"), 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("given", PLANNED)
def test_a_file_of_prompts_is_measured_as_the_options_say(
    given: str, run: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, prompts, (command, *options) = Mock(), tmp_path / "prompts.jsonl", shlex.split(given)
    prompts.write_text('{"prompt": "Once upon a time", "name": "mine", "workload": "tales"}\n')
    monkeypatch.setattr(sweep, "measure_all", measure)
    assert run(command, *SHORT, "--prompts-file", prompts, *options) == (0, "", "")
    _, plan = measure.call_args.args
    assert [(each.workload, each.name, each.text) for each in plan.prompts] == [("tales", "mine", "Once upon a time")]
    drafts = [pair.draft for pair in plan.pairs]
    assert (drafts, plan.draft_lengths, plan.temperatures, plan.schedules, plan.repeats) == PLANNED[given]


# Options


def commands(group: Any, called: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{called}{name} ")
        else:
            yield f"{called}{name}", command


def test_every_option_says_what_it_does_and_every_example_can_be_given() -> None:
    found = dict(commands(typer.main.get_command(app)))
    assert [f"{name} {option.name}" for name, each in found.items() for option in each.params if not option.help] == []
    assert len(found) > 13
    for name in found.keys() - {"app"}:
        _, _, listed = found[name].epilog.partition("examples:\n")
        assert listed, f"{name} has no examples"
        for example in listed.splitlines():
            assert example.startswith(f"  {PROGRAM} {name}")
            parsed(example.removeprefix(f"  {PROGRAM} "))


def test_a_sweep_takes_every_workload_and_names_it(run: Cli) -> None:
    """Several after one option, as in README. Before: those of chats could be given, and nothing said so."""
    names = [workload.name for workload in ALL_WORKLOADS]
    given = f"--workload {names[0]} {names[1]} --workload {' '.join(names[2:])}"
    assert parsed(f"sweep --target t --draft d {given} --csv x.csv")["workload"] == names
    assert parsed(f"bench {given}")["workload"] == names
    refused = run("sweep", "--target", "wren-base", "--draft", "lookup", "--workload", "chats")
    helped = run("sweep", "--help")
    assert (refused[0], helped[0]) == (2, 0)
    assert all(re.search(rf"\b{name}\b", said) for name in names for said in (refused[2], helped[1]))


SETTINGS_GIVEN = {
    "": {},
    "--tree 4,2,1": {"tree": "4,2,1", "draft_length": 3},  # a fixed shape says how long the draft is
    "--tree dynamic:9": {"tree": "dynamic:9", "draft_length": 4},
    "--tree 2,2 --draft-length 2": {"tree": "2,2", "draft_length": 2},
    "--ignore-eos --seed 3 --temperature 0.7": {"stop_at_eos": False, "seed": 3, "temperature": 0.7},
    "--max-new-tokens 5 --top-k 9 --top-p 0.8": {"max_new_tokens": 5, "top_k": 9, "top_p": 0.8},
    "--draft-sampling argmax --verification block": {"draft_sampling": "argmax", "verification": "block"},
}


@pytest.mark.parametrize("given", SETTINGS_GIVEN)
def test_options_become_settings(given: str, run: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    load = Mock(side_effect=MemoryError)
    monkeypatch.setattr(traces, "load_pair", load)
    out_of_memory = "specviz: stopped before it was done: the memory is full.\n"
    assert run("run", *PAIR, *PROMPT, *shlex.split(given)) == (1, "", out_of_memory)
    options, settings, _ = load.call_args.args
    assert settings == DecodeSettings(**SETTINGS_GIVEN[given])
    assert (options.target, options.draft, options.prompt) == ("wren-base", "wren-nano", "Once upon a time")


@pytest.mark.parametrize(("given", "address"), [([], "localhost"), (["--host", "0.0.0.0"], "0.0.0.0")])
def test_streamlit_gets_the_app_the_address_and_the_port(
    given: list[str], address: str, run: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    execute = Mock()
    monkeypatch.setattr(os, "execv", execute)
    monkeypatch.setattr("specviz.cli.main.APP_FOLDER", tmp_path)
    assert run("app", "--port", "9000", *given)[0] == 0
    where = ["--server.address", address, "--server.port", "9000"]
    command = [sys.executable, "-m", "streamlit", "run", str(tmp_path / "serve.py"), *where]
    execute.assert_called_once_with(sys.executable, command)
    assert (tmp_path / "static").is_dir()


def test_the_version_and_an_error_that_is_no_bad_input(run: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad input: tests/bundled/test_cli_input.py."""
    assert run("--version") == (0, f"specviz {__version__}\n", "")
    monkeypatch.setattr(traces, "read_trace", Mock(side_effect=RuntimeError("a\nstory\x1b of two lines")))
    assert run("show", "x.json") == (1, "", "specviz: unexpected RuntimeError: a story␛ of two lines\n")
