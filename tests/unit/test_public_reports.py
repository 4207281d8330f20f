"""Inputs made after public reports (`tests/fixtures/reports`): what is read in each of them, and what is refused.

`expected.yaml` beside the inputs has the right answers for texts that are pasted on the Worksheet, `prompts.yaml` those
for files of prompts.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from specviz.core.errors import InputError
from specviz.data.serving_counters import read_counters
from specviz.measure.sweep.prompt_files import read_prompts
from tests.support.strategies import assert_one_sentence
from tests.unit.test_serving_counters import assert_gives

FOLDER = Path(__file__).parents[1] / "fixtures/reports"
PROMPTS: dict[str, Any] = yaml.safe_load((FOLDER / "prompts.yaml").read_text("utf-8"))
EXPECTED: dict[str, Any] = yaml.safe_load((FOLDER / "expected.yaml").read_text("utf-8"))


def report(name: str) -> Path:
    """The file “NN/file” in the folder whose name begins with NN."""
    number, _, file = name.partition("/")
    [folder] = FOLDER.glob(f"{number}-*")
    return folder / file


@pytest.mark.parametrize("name", EXPECTED)
def test_the_counters_in_a_pasted_report(name: str) -> None:
    assert_gives(read_counters(report(name).read_text("utf-8")), EXPECTED[name])


@pytest.mark.parametrize("kind", PROMPTS)
def test_the_prompts_in_a_file(kind: str) -> None:
    expected = PROMPTS[kind]
    content = expected["text"].encode() if "text" in expected else report(f"40/{expected['file']}").read_bytes()
    if "says" in expected:
        with pytest.raises(InputError) as refused:
            read_prompts(content)
        assert expected["says"] in str(refused.value)
        assert_one_sentence(str(refused.value))
        return
    found = read_prompts(content)
    assert [prompt.text for prompt in found.prompts] == expected["prompts"]
    assert list(found.problems) == expected.get("problems", [])
    assert list(found.notes) == expected.get("notes", [])


def test_each_prompts_file_of_the_reports_has_its_answer() -> None:
    answered = {expected["file"] for expected in PROMPTS.values() if "file" in expected}
    assert answered == {file.name for file in report("40/x").parent.iterdir()}
