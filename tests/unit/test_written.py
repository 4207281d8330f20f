"""What a script writes from stored figures or from types is what the repository holds."""

import json
import re
from types import ModuleType

import pytest

from scripts.write import WRITERS
from specviz.core.files import APP_FOLDER, RESULTS


@pytest.mark.parametrize("script", WRITERS, ids=lambda script: script.__name__)
def test_a_file_is_what_its_script_writes(script: ModuleType) -> None:
    pages = script.pages()
    assert pages
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, "python -m scripts.write"


def test_the_readmes_rows_are_those_of_the_measurements() -> None:
    readme = (APP_FOLDER / "README.md").read_text(encoding="utf-8").partition("| what | figure |")[2]
    rows = [line for line in readme.partition("\n\n")[0].splitlines() if line.startswith("| ") and "---" not in line]
    assert rows
    measurements = (APP_FOLDER / "docs/measurements.md").read_text(encoding="utf-8")
    assert [row for row in rows if row.removesuffix(" |") not in measurements] == []


SIZE = re.compile(r"^\| (.+) \| ([0-9.]+)(?: (?:s|ms|MB))? \| `(\w+)\.json` \| `([\w.]+)` \|$", re.MULTILINE)


def test_sizes_of_a_server_are_stored_figures() -> None:
    sizes = SIZE.findall((APP_FOLDER / "docs/operating.md").read_text(encoding="utf-8"))
    assert sizes
    for what, figure, file, key in sizes:
        stored = json.loads((RESULTS / f"{file}.json").read_text(encoding="utf-8"))
        for name in key.split("."):
            stored = stored[name]
        assert round(stored, len(figure.partition(".")[2])) == float(figure), what
