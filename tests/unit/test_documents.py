"""What the documents name exists, and their examples work. Their figures: `test_project.py`."""

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.core.trace import parse_trace
from specviz.measure.endpoints import result
from specviz.systems import SYSTEMS, RecordOptions, import_run
from tests.support.commands import parsed
from tests.support.records import FakeTokenizer

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(ROOT.glob("docs/*.md"))
TEXTS = {file.stem: file.read_text(encoding="utf-8") for file in DOCUMENTS}
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")  # to a file of the repository, perhaps to a part of it


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_make_targets_of_a_document_exist(document: Path) -> None:
    text = TEXTS[document.stem]
    for link, part in LINK.findall(text):
        file = document.parent / link if link else document
        assert file.exists(), link
        assert not part or part in anchors(file), f"{link}#{part}"
    targets = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z0-9]+)", text, re.MULTILINE)) - targets == set()


def anchors(document: Path) -> set[str]:
    """The names under which GitHub links to the headings of a document."""
    headings = re.findall(r"^#+ (.*)", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


READERS: dict[str, Callable[[str], object]] = {
    "traces": parse_trace,
    "bench": lambda text: result.read_result(text.encode()),
}
OPTIONAL = {"schema", "answers", "prompts", "without"}


@pytest.mark.parametrize("document", READERS)
def test_the_smallest_file_is_valid_and_has_no_field_too_many(document: str) -> None:
    read = READERS[document]
    [smallest] = re.findall(r"```json\n(.*?)```", TEXTS[document], re.DOTALL)
    read(smallest)
    fields = json.loads(smallest)
    assert fields.keys() - OPTIONAL
    for name in fields.keys() - OPTIONAL:
        less = {field: value for field, value in fields.items() if field != name}
        with pytest.raises(InputError, match=f"{name}: Field required|at {name}"):
            read(json.dumps(less))


def test_every_field_of_a_bench_is_explained() -> None:
    named = set(re.findall(r"`(\w+)`", TEXTS["bench"]))
    kinds = [each for each in vars(result).values() if getattr(each, "__module__", "") == result.__name__]
    assert {
        field.name.rstrip("_") for kind in filter(dataclasses.is_dataclass, kinds) for field in dataclasses.fields(kind)
    } - named == set()


def test_traces_md_has_a_record_of_each_system_and_each_is_read() -> None:
    records = dict(re.findall(r"--from (\S+) (?:(?!--from).)*?```text\n(.*?)```", TEXTS["traces"], re.DOTALL))
    assert records.keys() == set(SYSTEMS)
    for system, record in records.items():
        given = RecordOptions(tokenizer=FakeTokenizer() if system == "transformers" else None)
        trace = import_run(record.encode(), system, given)
        assert trace.output.text.startswith("Once upon a time,")
        assert any(round.accepted for round in trace.rounds)


def test_every_command_in_the_documents_can_be_given() -> None:
    found = []
    for text in TEXTS.values():
        blocks = re.findall(r"^```\n(.*?)^```|^((?:    .*\n)+)", text.replace("\\\n", " "), re.DOTALL | re.MULTILINE)
        lines = "".join(block for each in blocks for block in each)
        found += re.findall(r"^\s*(?:\.venv/bin/|python -m )?specviz (.*)$", lines, re.MULTILINE)
    assert len(found) > 6
    for command in found:
        assert parsed(command), command
