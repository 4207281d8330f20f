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
from tests.support.commands import PAIR, PROMPT, SHORT, Cli, without_progress

Ok = Callable[..., str]


def test_a_run_is_written_as_show_prints_it_with_every_setting(ok: Ok, tmp_path: Path) -> None:
    file, prompt = tmp_path / "run.json", tmp_path / "prompt.txt"
    prompt.write_text("Ein Mädchen,\n“日本”", encoding="utf-8")
    shown = ok("run", *PAIR, "--max-new-tokens", "24", "--prompt-file", prompt, "--json", file)
    assert "Identical: both wrote the same 24 tokens." in shown
    assert ok("show", file) == shown
    trace = read_trace(file)
    assert (trace.prompt.text, trace.recorded_on.threads) == ("Ein Mädchen,\n“日本”", 1)
    assert (trace.target.dtype, trace.drafter.dtype) == ("float32", "float32")
    given = ["--draft-length", "2", "--temperature", "0.7", "--seed", "3", "--ignore-eos", "--target-dtype", "bfloat16"]
    sampled = parse_trace(ok("run", *PAIR, *PROMPT, "--max-new-tokens", "5", *given, "--json", "-"))
    assert sampled.settings == DecodeSettings(5, 2, 0.7, seed=3, stop_at_eos=False)
    assert (sampled.target.dtype, sampled.drafter.dtype) == ("bfloat16", "float32")
    itself = ["--target", "wren-nano", "--draft", "wren-nano", "--max-new-tokens", "2"]
    both = parse_trace(ok("run", *itself, *PROMPT, "--dtype", "bfloat16", "--threads", "2", "--json", "-"))
    assert (both.target.dtype, both.drafter.dtype, both.recorded_on.threads) == ("bfloat16", "bfloat16", 2)


@pytest.mark.parametrize(
    ("command", "costs"), [("run", Costs(1e-6, 0.1, {1: 1.0, 5: 1.25}, 0.1)), ("compare", None)], ids=["run", "compare"]
)
def test_on_a_busy_machine_there_is_no_verdict(command: str, costs: Any, ok: Ok, monkeypatch: Any) -> None:
    """Found at a load of 35: `run` said "Helps, 2.01×" of steps that took twenty times as long as usual."""
    monkeypatch.setattr("specviz.measure.compare.measure_costs", lambda *_: costs)
    last = ok(command, *SHORT, *PROMPT).splitlines()[-1]
    assert last.startswith("Not trusted, ")
    assert last.endswith("This machine is busy: the measured speed cannot be trusted.")


def test_a_conversation_that_cannot_be_written_is_refused_before_anything_is_measured(run: Cli, tmp_path: Path) -> None:
    """Found: twelve of sixteen rows were measured first, and the line was not named."""
    file, rows = tmp_path / "prompts.jsonl", tmp_path / "rows.csv"
    file.write_text('{"prompt": "Once"}\n{"messages": [{"role": "user", "content": "Hello"}]}\n')
    status, out, err = run("compare", *SHORT, "--prompts-file", file, "--draft-lengths", "2", "--csv", rows)
    said = "specviz: Prompt line-2: wren-base has no chat template: its prompts must be texts, not messages.\n"
    assert (status, out, without_progress(err)) == (2, "", said)
    assert not rows.exists() or len(rows.read_text().splitlines()) <= 1


def test_calibrate(ok: Ok, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "costs.json"
    shown = ok("calibrate", "--target", "wren-mini", "--draft", "wren-nano", "--json", file)
    costs = json.loads(file.read_text())
    print_costs(costs)
    assert shown == capsys.readouterr().out
    assert [len(costs[name]) for name in ("verification", "tree_verification")] == [LONGEST_PASS, len(TREE_NODES)]
    assert [costs["dtypes"][role]["model"] for role in ("target", "draft")] == [costs["target"], costs["draft"]]


def test_a_run_with_a_grammar_and_a_tree_is_saved_shown_and_exported(ok: Ok, tmp_path: Path) -> None:
    file, page = tmp_path / "run.json", tmp_path / "run.html"
    tree = ["--draft", "early-exit:2", "--tree", "dynamic:6", "--max-new-tokens", "8"]
    ok("run", "--target", "wren-base", *tree, "--prompt", "Number: ", "--regex", "[0-9]{6}", "--json", file)
    trace = read_trace(file)
    assert (trace.drafter.name, trace.settings.tree) == ("early-exit:2", "dynamic:6")
    assert trace.output.text[:6].isdigit()
    assert any(round.is_tree for round in trace.rounds)
    assert "├" in ok("show", file)
    ok("export", file, "-o", page)
    assert "early-exit:2" in page.read_text(encoding="utf-8")


def test_a_way_to_sample_is_compared_and_swept(ok: Ok) -> None:
    way = [*SHORT, "--verification", "block", "--draft-sampling", "argmax", "--temperature", "1"]
    compared = json.loads(ok("compare", *way, *PROMPT, "--repeats", "2", "--json", "-"))
    assert (compared["speedup"] > 0, compared["identical"]) == (True, None)
    plan = ["--workload", "copy", "--prompts", "1", "--draft-lengths", "2"]
    [row] = json.loads(ok("sweep", *way, *plan, "--json", "-"))["rows"]
    assert row["drafted"] > 0
    assert [row[name] for name in ("verification", "draft_sampling", "tree")] == ["block", "argmax", None]


# As a process of its own


def process(*arguments: str, env: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[bytes]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": own | {"PYTHONPATH": str(ROOT)} | (env or {})}
    return subprocess.Popen([sys.executable, "-m", "specviz", *arguments], **pipes | options)


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
    assert (done.communicate()[1], done.returncode) == (b"", 1)
