"""Inputs made after public reports (`tests/fixtures/reports`): what is read in each of them, and what is refused.

`expected.yaml` beside the inputs has the right answers for texts that are pasted on the Worksheet.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from specviz.data.serving_counters import read_counters
from tests.unit.test_serving_counters import assert_gives

FOLDER = Path(__file__).parents[1] / "fixtures/reports"
EXPECTED: dict[str, Any] = yaml.safe_load((FOLDER / "expected.yaml").read_text("utf-8"))


def report(name: str) -> Path:
    """The file “NN/file” in the folder whose name begins with NN."""
    number, _, file = name.partition("/")
    [folder] = FOLDER.glob(f"{number}-*")
    return folder / file


@pytest.mark.parametrize("name", EXPECTED)
def test_the_counters_in_a_pasted_report(name: str) -> None:
    assert_gives(read_counters(report(name).read_text("utf-8")), EXPECTED[name])
