"""The sizing table of docs/operating.md: each measured figure is the one in its file."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs/operating.md").read_text(encoding="utf-8").partition("## How large a server")[2]
ROW = re.compile(r"^\| (.+) \| ([0-9.]+)(?: (s|ms|MB))? \| `(\w+\.json)` \| `([\w.]+)` \|$", re.MULTILINE)
ROWS = ROW.findall(SECTION.partition("\n## ")[0])


def found(file: str, key: str) -> float:
    value: Any = json.loads((ROOT / "benchmarks/results" / file).read_text(encoding="utf-8"))
    for name in key.split("."):
        value = value[name]
    return float(value)


def test_every_row_of_the_table_is_read() -> None:
    table = SECTION.partition("\nWhat follows")[0]
    assert len(ROWS) == sum(line.startswith("| ") for line in table.splitlines()) - 2
    assert len(ROWS) > 10


@pytest.mark.parametrize(("what", "figure", "unit", "file", "key"), ROWS, ids=[row[4] for row in ROWS])
def test_a_figure_is_the_measured_one(what: str, figure: str, unit: str, file: str, key: str) -> None:
    digits = len(figure.partition(".")[2])
    assert round(found(file, key), digits) == float(figure), what
    endings = {"s": "seconds", "ms": "milliseconds", "MB": "_mb"}
    assert not unit or endings[unit] in key


def test_what_was_only_reasoned_is_said_to_be_and_follows_from_the_figures() -> None:
    reasoned = SECTION.partition("What follows is only reasoned")[2].partition("\n## ")[0]
    assert "Nothing of it was measured" in reasoned
    runs_a_second = 30 / found("classroom.json", "own.whole_run_seconds.max")
    assert f"about {60 * runs_a_second:.0f} runs a minute" in reasoned
    a_run = [found("classroom.json", f"{part}.server_milliseconds_a_run") / 1000 for part in ("own", "lesson")]
    assert f"{a_run[0]:.2f} to {a_run[1]:.2f} s of its one core" in reasoned
    assert f"about {1 / a_run[1]:.1f} to {1 / a_run[0]:.1f} new runs a second" in reasoned
    engines = [1 / seconds / runs_a_second for seconds in a_run]
    assert f"what {engines[1]:.1f} to {engines[0]:.1f} engines decode" in reasoned
