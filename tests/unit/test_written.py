"""What a script writes from stored figures or from types is what the repository holds."""

import json
import re
from typing import Any

import pytest

from scripts import write_measured_tables, write_payload_types
from scripts.write_cards import measured_sections, with_section
from specviz.core.files import APP_FOLDER, RESULTS
from specviz.models.catalogue import MODELS_FOLDER

DOCS = APP_FOLDER / "docs"
CARDS = ("wren-base", "wren-small", "wren-mini", "wren-nano", "smol-eagle", "wren-eagle", "wren-medusa")


def stored_figure(file: str, key: str) -> float:
    value: Any = json.loads((RESULTS / f"{file}.json").read_text(encoding="utf-8"))
    for name in key.split("."):
        value = value[name]
    return float(value)


def test_the_measurements_are_the_stored_ones_and_the_readme_s_rows_are_theirs() -> None:
    measurements = (DOCS / "measurements.md").read_text(encoding="utf-8")
    assert write_measured_tables.page() == measurements, "python -m scripts.write_measured_tables"
    readme = (APP_FOLDER / "README.md").read_text(encoding="utf-8").partition("| what | figure |")[2]
    rows = [line for line in readme.partition("\n\n")[0].splitlines() if line.startswith("| ") and "---" not in line]
    assert rows
    assert [row for row in rows if row.removesuffix(" |") not in measurements] == []


def test_the_javascript_types_are_those_of_the_python_types() -> None:
    assert write_payload_types.FILE.read_text(encoding="utf-8") == write_payload_types.payload_types()


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_what_was_measured(name: str) -> None:
    card = (MODELS_FOLDER / name / "README.md").read_text(encoding="utf-8")
    sections = measured_sections(name)
    assert sections
    for title, body in sections.items():
        assert with_section(card, title, body) == card, f"{title}: python -m scripts.write_cards"


SIZE = re.compile(r"^\| (.+) \| ([0-9.]+)(?: (?:s|ms|MB))? \| `(\w+)\.json` \| `([\w.]+)` \|$", re.MULTILINE)


def test_sizes_of_a_server_are_stored_figures() -> None:
    sizes = SIZE.findall((DOCS / "operating.md").read_text(encoding="utf-8"))
    assert sizes
    for what, figure, file, key in sizes:
        assert round(stored_figure(file, key), len(figure.partition(".")[2])) == float(figure), what
