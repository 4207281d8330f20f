"""The command line with the bundled models: what a command measures is what it saves, shows and exports."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specviz.cli.traces import print_costs
from specviz.core.metrics import Costs
from specviz.core.settings import DecodeSettings
from specviz.core.trace import parse_trace, read_trace
from specviz.measure.calibration import LONGEST_PASS, TREE_NODES
from tests.conftest import ROOT
from tests.support.commands import LOOKUP, PAIR, PROMPT, SHORT, Cli, without_progress
from tests.support.grids import grid


def test_a_run_is_written_as_show_prints_it_with_every_setting(ok: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    shown = ok("run", *PAIR, "--max-new-tokens", "24", *PROMPT, "--json", file)
    assert "Identical: both wrote the same 24 tokens." in shown
    assert ok("show", file) == shown
    trace = read_trace(file)
    assert (trace.prompt.text, trace.recorded_on.threads) == ("Once upon a time", 1)
    assert (trace.target.dtype, trace.drafter.dtype) == ("float32", "float32")
    given = ["--draft-length", "2", "--temperature", "0.7", "--seed", "3", "--ignore-eos", "--target-dtype", "bfloat16"]
    sampled = parse_trace(ok("run", *PAIR, *PROMPT, "--max-new-tokens", "5", *given, "--json", "-"))
    assert sampled.settings == DecodeSettings(5, 2, 0.7, seed=3, stop_at_eos=False)
    assert (sampled.target.dtype, sampled.drafter.dtype) == ("bfloat16", "float32")
    self_drafting = ["--target", "wren-nano", "--draft", "wren-nano", "--max-new-tokens", "2"]
    both = parse_trace(ok("run", *self_drafting, *PROMPT, "--dtype", "bfloat16", "--threads", "2", "--json", "-"))
    assert (both.target.dtype, both.drafter.dtype, both.recorded_on.threads) == ("bfloat16", "bfloat16", 2)


@pytest.mark.parametrize(
    ("command", "costs"), [("run", Costs(1e-6, 0.1, {1: 1.0, 5: 1.25}, 0.1)), ("compare", None)], ids=["run", "compare"]
)
def test_on_a_busy_machine_there_is_no_verdict(
    command: str, costs: Costs | None, ok: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found at a load of 35: `run` said "Helps, 2.01×" of steps that took twenty times as long as usual."""
    monkeypatch.setattr("specviz.measure.compare.measure_costs", lambda *_: costs)
    last = ok(command, *SHORT, *PROMPT).splitlines()[-1]
    assert last.startswith("Not trusted, ")
    assert last.endswith("This machine is busy: the measured speed cannot be trusted.")


def test_a_prompt_may_come_from_a_file(run: Cli, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("Ein Mädchen,\n“日本”", encoding="utf-8")
    status, out, err = run("run", *LOOKUP, "--prompt-file", file, "--json", "-")
    assert (status, err) == (0, "")
    trace = parse_trace(out)
    assert trace.prompt.text == "Ein Mädchen,\n“日本”"
    assert (trace.drafter.kind, trace.drafter.parameters) == ("prompt-lookup", None)


def test_a_conversation_that_cannot_be_written_is_refused_before_anything_is_measured(run: Cli, tmp_path: Path) -> None:
    """Found: twelve of sixteen rows were measured first, and the line was not named."""
    file, rows = tmp_path / "prompts.jsonl", tmp_path / "rows.csv"
    file.write_text('{"prompt": "Once"}\n{"messages": [{"role": "user", "content": "Hello"}]}\n')
    status, out, err = run("compare", *SHORT, "--prompts-file", file, "--draft-lengths", "2", "--csv", rows)
    assert (status, out) == (2, "")
    said = "specviz: Prompt line-2: wren-base has no chat template: its prompts must be texts, not messages."
    assert without_progress(err).splitlines() == [said]
    assert not rows.exists() or len(rows.read_text().splitlines()) <= 1


def test_calibrate(ok: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "costs.json"
    shown = ok("calibrate", "--target", "wren-mini", "--draft", "wren-nano", "--json", file)
    costs = json.loads(file.read_text())
    print_costs(costs)
    assert shown == capsys.readouterr().out
    assert [len(costs[name]) for name in ("verification", "tree_verification")] == [LONGEST_PASS, len(TREE_NODES)]
    assert {role: choice["model"] for role, choice in costs["dtypes"].items()} == {
        "target": costs["target"],
        "draft": costs["draft"],
    }


# Every way to draft and to verify, in every command that measures, saves or shows a run

BASE = ["--target", "wren-base", "--max-new-tokens", "8"]
SAMPLED = ["--temperature", "1"]
WAYS = {
    "a head with a tree": ["--draft", "wren-eagle", "--tree", "2,2"],
    "several heads": ["--draft", "wren-medusa", "--draft-length", "3"],
    "early exit with a dynamic tree": ["--draft", "early-exit:2", "--tree", "dynamic:6"],
    "a tree": ["--draft", "wren-nano", "--tree", "4,2,1"],
    "most probable drafts": ["--draft", "wren-nano", "--draft-sampling", "argmax", *SAMPLED],
    "block verification": ["--draft", "wren-nano", "--verification", "block", *SAMPLED],
}


@pytest.mark.parametrize("way", grid(WAYS, ("early exit with a dynamic tree", "most probable drafts")))
def test_a_run_with_a_grammar_is_saved_shown_and_exported(ok: Callable[..., str], tmp_path: Path, way: str) -> None:
    file, page = tmp_path / "run.json", tmp_path / "run.html"
    grammar = ["--prompt", "Number: ", "--regex", "[0-9]{6}", "--ignore-eos"]
    ok("run", *BASE, *WAYS[way], *grammar, "--json", file)
    trace = read_trace(file)
    assert trace.drafter.name == WAYS[way][1]
    assert trace.output.text[:6].isdigit()
    assert sum(len(round.drafted) for round in trace.rounds) > 0
    assert ("├" in ok("show", file)) == bool(trace.settings.tree)
    ok("export", file, "-o", page)
    assert trace.drafter.name in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("way", grid(WAYS, ("block verification",)))
def test_it_is_compared_and_swept(ok: Callable[..., str], way: str) -> None:
    compared = json.loads(ok("compare", *BASE, *WAYS[way], *PROMPT, "--repeats", "2", "--json", "-"))
    assert compared["speedup"] > 0
    assert compared["identical"] is (None if SAMPLED[0] in WAYS[way] else True)
    plan = ["--workload", "copy", "--prompts", "1", "--draft-lengths", "2"]
    [row] = json.loads(ok("sweep", *BASE, *WAYS[way], *plan, "--json", "-"))["rows"]
    assert row["drafted"] > 0
    asked = dict(zip(WAYS[way][::2], WAYS[way][1::2], strict=True))
    for name, default in (("draft-sampling", "sample"), ("verification", "token"), ("tree", None)):
        assert row[name.replace("-", "_")] == asked.get(f"--{name}", default)


# As a process of its own


def process(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(ROOT), **options.pop("env", {})}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([sys.executable, "-m", "specviz", *arguments], env=environment, **pipes)


def test_as_a_process_from_any_folder_also_on_a_terminal_without_the_glyphs(tmp_path: Path) -> None:
    done = process("run", *SHORT, *PROMPT, "--json", "run.json", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    out, err = done.communicate()
    assert (done.returncode, err) == (0, b"")
    assert b"?" in out
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]
    assert read_trace(tmp_path / "run.json").prompt.text == "Once upon a time"


def test_a_reader_that_ends_early_causes_no_error_message() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = process("models", stdout=writing)
    os.close(writing)
    assert done.communicate()[1] == b""
    assert done.returncode == 1
