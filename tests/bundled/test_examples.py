"""The examples run as their first lines say, and show what they promise."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support.notebooks import values_of

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)


def test_there_are_examples_and_each_is_tested_here() -> None:
    files = {file.stem for file in (ROOT / "examples").glob("*.py")} - {"__init__"}
    assert files == {"own_drafter", "read_trace"}


def test_a_drafter_of_your_own_is_lossless_and_some_of_its_guesses_are_accepted() -> None:
    done = run("examples.own_drafter")
    assert done.returncode == 0, done.stderr
    assert "same output as the target alone: True" in done.stdout
    accepted = int(done.stdout.split("accepted ")[1].split(",")[0])
    assert accepted > 0
    assert "acceptance rate " in done.stdout


def test_a_saved_trace_is_printed_as_rounds_and_as_a_frame() -> None:
    done = run("examples.read_trace")
    assert done.returncode == 0, done.stderr
    assert "round 0: drafted " in done.stdout
    assert "'accepted'" not in done.stdout.split("round 0")[0]
    assert "status" in done.stdout
    assert "accepted" in done.stdout


def test_a_file_that_is_not_a_trace_gets_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"schema": 1}', encoding="utf-8")
    done = run("examples.read_trace", str(file))
    assert done.returncode == 1
    assert done.stderr.startswith("The trace is not valid")
    assert "Traceback" not in done.stderr


def test_the_notebook_runs_and_plays_both_runs() -> None:
    ours, theirs, frame = values_of(ROOT / "examples/notebook.ipynb")
    for shown, drafter in ((ours, "wren-nano"), (theirs, "wren-nano")):
        assert shown.title == f"A run of wren-base with {drafter}"
        assert shown._repr_html_().startswith("<iframe srcdoc=")
    assert set(frame["status"]) <= {"accepted", "rejected", "discarded", "correction", "bonus"}


def test_the_notebook_is_saved_without_outputs() -> None:
    notebook = json.loads((ROOT / "examples/notebook.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in code] == [([], None)] * 3
