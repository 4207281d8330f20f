"""The command line as people and scripts use it: what is printed, in which shape, with which exit status."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import pytest

from specviz.core.metrics import Costs
from specviz.core.settings import DecodeSettings
from specviz.core.trace import dump_trace, parse_trace, read_trace
from specviz.measure.sweep import measure
from tests.conftest import ROOT
from tests.support.commands import LOOKUP, MARKUP, PAIR, PROMPT, SHORT, Cli, hostile_trace, without_progress
from tests.support.fake_traces import fake_trace
from tests.support.grids import grid

# What each command says


def test_run_prints_every_status_and_writes_a_trace_that_show_takes(ok: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    shown = ok("run", *PAIR, "--max-new-tokens", "24", *PROMPT, "--json", file)
    assert "\x1b" not in shown
    assert "wren-base + wren-nano" in shown
    assert "Once␣upon␣a␣time" in shown
    assert re.search(r"^ +1    [✓✗]", shown, re.MULTILINE)
    counted = r"^24 tokens in \d+ target passes: \d+ drafted, \d+ accepted, \d+ rejected, \d+ discarded;"
    assert re.search(counted, shown, re.MULTILINE)
    assert "Identical: both wrote the same 24 tokens." in shown
    trace = read_trace(file)
    assert trace.prompt.text == "Once upon a time"
    assert trace.autoregressive.token_ids == trace.output.token_ids
    assert ok("show", file) == shown
    assert parse_trace(ok("show", file, "--json", "-")) == trace


@pytest.mark.parametrize("costs", [None, Costs(1e-6, 0.1, {1: 1.0, 5: 1.25}, 0.1)], ids=["disturbed", "far slower"])
@pytest.mark.parametrize("command", ["run", "compare"])
def test_on_a_busy_machine_there_is_no_verdict(
    command: str, costs: Costs | None, ok: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found at a load of 35: `run` said "Helps, 2.01×" of steps that took twenty times as long as usual."""
    monkeypatch.setattr("specviz.measure.compare.measure_costs", lambda *_: costs)
    file = tmp_path / "found.json"
    shown = ok(command, *SHORT, *PROMPT, "--json", file)
    last = shown.splitlines()[-1]
    assert last.startswith("Not trusted, ")
    assert last.endswith("This machine is busy: the measured speed cannot be trusted.")
    assert not re.search("(?i)helps|hurts|even", shown)
    if command == "run":
        assert ok("show", file) == shown


def test_every_setting_reaches_the_trace(ok: Callable[..., str]) -> None:
    given = ["--max-new-tokens", "5", "--draft-length", "2", "--temperature", "0.7", "--top-k", "9", "--top-p", "0.8"]
    more = ["--seed", "3", "--ignore-eos", "--target-dtype", "bfloat16", "--draft-dtype", "float32"]
    trace = parse_trace(ok("run", *PAIR, *PROMPT, *given, *more, "--json", "-"))
    assert trace.settings == DecodeSettings(5, 2, 0.7, 9, 0.8, 3, stop_at_eos=False)
    assert (trace.target.dtype, trace.drafter.dtype) == ("bfloat16", "float32")
    assert trace.recorded_on.threads == 1
    self_drafting = ["--target", "wren-nano", "--draft", "wren-nano", "--max-new-tokens", "2"]
    both = parse_trace(ok("run", *self_drafting, *PROMPT, "--dtype", "bfloat16", "--threads", "2", "--json", "-"))
    assert (both.target.dtype, both.drafter.dtype, both.recorded_on.threads) == ("bfloat16", "bfloat16", 2)


def test_a_prompt_may_come_from_a_file_and_one_that_looks_like_a_list_gets_a_note(run: Cli, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text('{"prompt": "Once"}\n{"prompt": "One day"}\n')
    status, _, err = run("run", *LOOKUP, "--prompt-file", file, "--json", "-")
    assert status == 0
    assert err.startswith(f"note: {file} looks like a list of 2 prompts, and all of it is read as one prompt.")
    file.write_text("Ein Mädchen,\n“日本”", encoding="utf-8")
    status, out, err = run("run", *LOOKUP, "--prompt-file", file, "--json", "-")
    assert (status, err) == (0, "")
    trace = parse_trace(out)
    assert trace.prompt.text == "Ein Mädchen,\n“日本”"
    assert (trace.drafter.kind, trace.drafter.parameters) == ("prompt-lookup", None)


KEYS = """target draft draft_length draft_sampling verification tree prompt_format temperature seed seeds target_dtype
draft_dtype threads prompt_tokens new_tokens autoregressive speculative speedup speedup_low speedup_high
predicted_speedup predicted_low predicted_high calibrated identical quality verdict all_seeds"""
OF_A_DECODER = "seconds seconds_all new_tokens_all prefill_seconds token_ids text"
OF_ROUNDS = """rounds drafted accepted rejected discarded acceptance_rate per_judgement_rate tokens_per_target_call
draft_seconds verify_seconds overhead_seconds"""


def test_compare_has_the_contracts_shape_and_its_figures_agree(ok: Callable[..., str], tmp_path: Path) -> None:
    """That of a sampled run: tests/tiny/test_compare.py."""
    file = tmp_path / "compare.json"
    shown = ok("compare", *SHORT, *PROMPT, "--repeats", "3", "--json", file)
    result = json.loads(file.read_text())
    plain, ours = result["autoregressive"], result["speculative"]
    assert set(result) == set(KEYS.split())
    assert set(plain) == set(OF_A_DECODER.split())
    assert set(ours) == set(plain) | set(OF_ROUNDS.split())
    assert set(result["verdict"]) == {"label", "reason"}
    assert result["verdict"]["label"] in {"helps", "neutral", "hurts"}
    for decoder in (plain, ours):
        assert len(decoder["seconds_all"]) == 3
        assert decoder["seconds"] == median(decoder["seconds_all"]) > 0
        assert decoder["prefill_seconds"] > 0
    assert ours["drafted"] == ours["accepted"] + ours["rejected"] + ours["discarded"]
    assert len(ours["token_ids"]) == pytest.approx(ours["tokens_per_target_call"] * ours["rounds"]) == 8
    parts = ours["draft_seconds"] + ours["verify_seconds"] + ours["overhead_seconds"]
    assert any(parts == pytest.approx(seconds) for seconds in ours["seconds_all"])
    seconds = zip(plain["seconds_all"], ours["seconds_all"], strict=True)
    assert result["speedup"] == pytest.approx(geometric_mean(alone / both for alone, both in seconds))
    assert result["speedup_low"] < result["speedup"] < result["speedup_high"]
    named = [result[key] for key in ("target", "draft", "draft_length", "temperature", "seed", "seeds", "threads")]
    assert named == ["wren-base", "wren-nano", 4, 0.0, 0, [0], 1]
    assert (result["target_dtype"], result["draft_dtype"]) == ("float32", "float32")
    assert (result["prompt_tokens"], result["new_tokens"], result["identical"]) == (5, 8, True)
    assert (plain["token_ids"], plain["text"]) == (ours["token_ids"], ours["text"])
    assert result["quality"].pop("kind") == "greedy"
    assert {*result["quality"].values()} == {None}
    assert result["predicted_speedup"] > 0
    assert result["all_seeds"]["drafted"] == ours["drafted"]
    said = ("target alone", "speculative", ") measured, ", ") modelled", "Identical: both", result["verdict"]["reason"])
    assert [words for words in said if words not in shown] == []


def test_sweep_varies_drafts_temperatures_schedules_and_your_own_prompts(run: Cli, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "Once upon a time", "name": "mine", "workload": "tales"}\n{"prompt": 7}\n')
    arguments = ["--draft", "prompt-lookup", "--prompts-file", prompts, "--draft-lengths", "2"]
    varied = ["--temperatures", "0,1", "--schedules", "fixed,heuristic"]
    status, out, err = run("sweep", *SHORT, *arguments, *varied, "--json", "-")
    left_out = 'Line 2 is left out: its "prompt" cannot be used: '
    assert status == 0
    assert without_progress(err).startswith(f"note: {left_out}")
    result = json.loads(out)
    assert result["conclusion"][-1].startswith(f"{prompts}: {left_out}")
    rows = result["rows"]
    assert {(row["workload"], row["preset"]) for row in rows} == {("tales", "mine")}
    found = [(row["draft_dtype"], row["temperature"], row["draft_schedule"]) for row in rows]
    assert found == list(product(("float32", None), (0.0, 1.0), ("fixed", "heuristic")))


MANY = ["compare", *SHORT, "--prompts-file"]


def prompts_file(folder: Path) -> Path:
    file = folder / "prompts.txt"
    file.write_text("Once upon a time\nThe little dog\nOne day, Tom\n")
    return file


def test_after_ctrl_c_the_same_command_goes_on(
    run: Cli, ok: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, command = tmp_path / "rows.csv", [*MANY, prompts_file(tmp_path), "--draft-lengths", "2"]
    measured = measure.measure

    def stopped_at_the_second(models: Any, group: Any) -> Any:
        if group[0].prompt.name == "line-2":
            raise KeyboardInterrupt
        return measured(models, group)

    monkeypatch.setattr(measure, "measure", stopped_at_the_second)
    status, out, err = run(*command, "--csv", rows)
    said = f"{rows} has 1 of 3 rows; the same command measures the rest."
    assert (status, out) == (130, "")
    assert without_progress(err) == f"specviz: stopped before it was done; {said}\n"
    status, _, err = run(*command)
    assert (status, "nothing is saved: with --csv PATH every row is saved" in err) == (130, True)
    monkeypatch.undo()
    shown = ok(*command, "--csv", rows)
    assert [line.split()[0] for line in shown.splitlines()[1:4]] == ["line-1", "line-2", "line-3"]


def test_a_conversation_that_cannot_be_written_is_refused_before_anything_is_measured(run: Cli, tmp_path: Path) -> None:
    """Found: twelve of sixteen rows were measured first, and the line was not named."""
    file, rows = tmp_path / "prompts.jsonl", tmp_path / "rows.csv"
    file.write_text('{"prompt": "Once"}\n{"messages": [{"role": "user", "content": "Hello"}]}\n')
    status, out, err = run(*MANY, file, "--draft-lengths", "2", "--csv", rows)
    assert (status, out) == (2, "")
    said = "specviz: Prompt line-2: wren-base has no chat template: its prompts must be texts, not messages."
    assert without_progress(err).splitlines() == [said]
    assert not rows.exists() or len(rows.read_text().splitlines()) <= 1


def test_calibrate(ok: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    shown = ok("calibrate", "--target", "wren-mini", "--draft", "wren-nano", "--json", file)
    costs = json.loads(file.read_text())
    assert set(costs) == {
        "target", "target_dtype", "draft", "draft_dtype", "threads", "step_seconds", "cost_ratio", "verification",
        "overhead", "tree_verification", "blocks", "intervals", "dtypes",
    }  # fmt: skip
    assert list(costs["verification"]) == [str(k) for k in range(1, 18)]
    assert list(costs["tree_verification"]) == ["2", "4", "6", "8", "12", "16", "20", "32", "48", "64"]
    for role, name in (("target", "wren-mini"), ("draft", "wren-nano")):
        choice = costs["dtypes"][role]
        assert choice["model"] == name
        assert {dtype: list(taken) for dtype, taken in choice["seconds"].items()} == {
            dtype: [str(k) for k in range(1, 18)] for dtype in ("float32", "bfloat16")
        }
        total = {dtype: taken["1"] + taken["5"] for dtype, taken in choice["seconds"].items()}
        assert choice["dtype"] == min(total, key=lambda dtype: total[dtype])
        assert choice["reason"] in shown
    assert costs["verification"]["1"] == 1
    low, high = costs["intervals"]["cost_ratio"]
    assert f"c                {costs['cost_ratio']:.3f}   {low:.3f} to {high:.3f}" in shown
    assert list(costs["intervals"]["verification"]) == list(costs["verification"])


# Text that tries to steer a terminal


def test_markup_is_shown_as_text(ok: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(dump_trace(hostile_trace()), encoding="utf-8")
    shown = ok("show", file)
    assert shown.count(MARKUP) >= 3  # target, machine, output
    controls = {char for char in shown if ord(char) < 32 or 127 <= ord(char) < 160 or char == "\u202e"}
    assert controls == {"\n"}
    assert "␛[31m" in shown
    assert "<script>alert(1)</script>" in shown
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    on_a_terminal = ok("show", file)
    assert on_a_terminal.count(MARKUP) >= 3
    assert "\x1b]8" not in on_a_terminal  # a link
    assert "\x1b[31m" not in on_a_terminal  # red


def test_progress_is_for_a_terminal_only(run: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    status, out, err = run("run", *LOOKUP, *PROMPT, "--json", "-")
    assert status == 0
    parse_trace(out)
    assert "loading wren-nano" in err
    assert err.endswith("\x1b[2K")  # the line is erased at the end


def test_show_of_a_plain_run_says_if_the_weights_changed(ok: Callable[..., str], tmp_path: Path) -> None:
    file, trace = tmp_path / "plain.json", replace(fake_trace(tokens=8), drafter=None, rounds=[])
    file.write_text(dump_trace(trace), encoding="utf-8")  # its weights hash is not that of wren-base
    shown = ok("show", file)
    assert trace.output.text.split()[0] in shown
    assert "note: The weights of wren-base on this machine differ from those in this trace." in shown


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


@pytest.mark.parametrize("way", WAYS)
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
    rows = json.loads(ok("sweep", *BASE, *WAYS[way], *plan, "--json", "-"))["rows"]
    assert len(rows) == 1
    assert rows[0]["drafted"] > 0
    asked = dict(zip(WAYS[way][::2], WAYS[way][1::2], strict=True))
    for name, default in (("draft-sampling", "sample"), ("verification", "token"), ("tree", None)):
        assert rows[0][name.replace("-", "_")] == asked.get(f"--{name}", default)


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
