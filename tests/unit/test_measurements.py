"""Figures in the documents are those of the stored measurements."""

import json
import re
from math import ceil
from typing import Any

from scripts.write_measured_tables import machine_of, methods_section, page
from specviz.data.measured.measured_methods import FILE, read_methods
from tests.support.measured_methods import measured
from tests.unit.test_documents import ROOT, TEXTS

README, OPERATING, MEASUREMENTS = (TEXTS[name] for name in ("README", "operating", "measurements"))
SIZES = OPERATING.partition("## How large a server")[2].partition("\n## ")[0]
SIZE = re.compile(r"^\| (.+) \| ([0-9.]+)(?: (s|ms|MB))? \| `(\w+)\.json` \| `([\w.]+)` \|$", re.MULTILINE)
BUSIEST = 0.7  # share of the time in which an engine or a server may work


def stored_figure(file: str, key: str) -> float:
    value: Any = json.loads((ROOT / f"benchmarks/results/{file}.json").read_text(encoding="utf-8"))
    for name in key.split("."):
        value = value[name]
    return float(value)


def cells_of(text: str) -> list[list[str]]:
    """The cells of each row of the tables in a text, without their heads."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [cells for cells in rows if cells[0] not in ("what", "---")]


def test_the_measurements_are_the_stored_ones() -> None:
    assert page() == MEASUREMENTS, "python -m scripts.write_measured_tables"


def test_the_rows_of_the_readme_are_rows_of_the_measurements() -> None:
    shown = cells_of(README.partition("| what | figure |")[2])
    rows = [cells[:3] for cells in cells_of(MEASUREMENTS)]
    assert len(shown) == 5
    assert [cells for cells in shown if cells not in rows] == []


def test_a_machine_is_named_with_what_tells_its_figures_apart_from_others() -> None:
    amd, avx2 = "AMD EPYC, 2 cores, Linux", {"machine": "AMD EPYC, 2 cores, Linux", "instructions": "avx2"}
    found = [machine_of("app", amd), machine_of("vllm_rounds", avx2), machine_of("app", "Intel(R) Xeon(R), Linux")]
    assert found == ["AMD", "AMD, AVX2 †", "Intel"]
    assert machine_of("methods", read_methods(FILE).machine.machine) == "AMD"


def test_a_method_has_its_costs_and_its_speedup_with_an_interval() -> None:
    assert "| wren-nano (tree) | 2.00 | 0.10 | 1.50 | 1.00× [0.90–1.10] |" in methods_section(measured())


# In sentences: the words before and after a figure, its file and key, and how it is written.
SAID = [
    ("operating", "Server and engine need {:.0f} MB together", "app", "memory.together_mb"),
    ("operating", "no run lost (`soak.json`)", "soak", "lost"),
    ("teaching", "server and engine need {:.0f} MB", "app", "memory.together_mb"),
    ("teaching", "95 % have their whole run within {:.1f} s", "classroom", "same.whole_run_seconds.p95"),
    ("teaching", "first rounds within {:.1f} s", "classroom", "own.first_round_seconds.p95"),
    ("teaching", "the last whole run after {:.1f} s", "classroom", "own.whole_run_seconds.max"),
]


def test_figures_in_sentences_are_the_stored_ones() -> None:
    found = [(name, words.format(stored_figure(file, key))) for name, words, file, key in SAID]
    assert [said for name, said in found if said not in " ".join(TEXTS[name].split())] == []
    assert stored_figure("soak", "lost") == 0


def test_sizes_of_a_server_are_stored_figures_and_the_advice_keeps_every_process_at_most_70_per_cent_busy() -> None:
    sizes = SIZE.findall(SIZES)
    assert len(sizes) == len(cells_of(SIZES)) - 1 > 0
    for what, figure, unit, file, key in sizes:
        assert round(stored_figure(file, key), len(figure.partition(".")[2])) == float(figure), what
        assert {"s": "seconds", "ms": "milliseconds", "MB": "_mb", "": ""}[unit] in key, what
    reasoned = " ".join(SIZES.partition("What follows is only reasoned")[2].split())
    an_engine = stored_figure("classroom", "own.whole_run_seconds.max") / 30
    least, a_server = sorted(
        stored_figure("classroom", f"{part}.server_milliseconds_a_run") / 1000 for part in ("own", "lesson")
    )
    for visitors in (100, 300):
        engines, servers = (ceil(visitors / 60 * seconds / BUSIEST) for seconds in (an_engine, a_server))
        both = f"{engines} engines and {servers} app server{'s' if servers > 1 else ''}"
        assert f"{both}, so {engines + servers} cores" in reasoned
    assert f"about {60 / an_engine:.0f} runs a minute" in reasoned
    assert f"{least:.2f} to {a_server:.2f} s of its one core" in reasoned
    assert f"about {int(BUSIEST * 60 / an_engine)} visitors who each ask for a new run every minute" in reasoned
