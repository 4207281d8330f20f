"""What the documents name exists, and their examples work. Their figures: `test_written.py`."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.core.trace import parse_trace
from specviz.measure.endpoints import result as bench
from specviz.measure.endpoints.pairs import pair_answers
from specviz.systems import SYSTEMS, RecordOptions, import_run
from tests.support.commands import parsed
from tests.support.records import FakeTokenizer

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(ROOT.glob("docs/*.md"))
TEXTS = {file.stem: file.read_text(encoding="utf-8") for file in DOCUMENTS}
TRACES = TEXTS["traces"]
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")  # to a file of the repository, perhaps to a part of it


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_make_targets_of_a_document_exist(document: Path) -> None:
    text = TEXTS[document.stem]
    links = LINK.findall(text)
    assert [link for link, _ in links if not (document.parent / link).exists()] == []
    parts = [(document.parent / link if link else document, part) for link, part in links if part]
    assert [f"{file.name}#{part}" for file, part in parts if part not in anchors(file)] == []
    targets = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z0-9]+)", text, re.MULTILINE)) - targets == set()


def anchors(document: Path) -> set[str]:
    """The names under which GitHub links to the headings of a document."""
    headings = re.findall(r"^#+ (.*)", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_smallest_trace_is_valid_and_has_no_field_too_many() -> None:
    [smallest] = re.findall(r"```json\n(.*?)```", TRACES, re.DOTALL)
    fields = json.loads(smallest)
    assert len(parse_trace(smallest).rounds) == 1
    for field in fields.keys() - {"schema"}:
        with pytest.raises(InputError, match=f"not valid at {field}: Field required"):
            parse_trace(json.dumps({name: value for name, value in fields.items() if name != field}))


def test_the_smallest_bench_is_valid_and_every_field_of_a_bench_is_explained() -> None:
    [smallest] = re.findall(r"```json\n(.*?)```", TEXTS["bench"], re.DOTALL)
    result = bench.read_result(smallest.encode())
    assert len(pair_answers(result).pairs) == 1
    for name in (fields := json.loads(smallest)).keys() - {"schema", "answers", "prompts", "without"}:
        less = {field: value for field, value in fields.items() if field != name}
        with pytest.raises(InputError, match=f"{name}: Field required|at {name}"):
            bench.read_result(json.dumps(less).encode())
    named = set(re.findall(r"`(\w+)`", TEXTS["bench"]))
    kinds = (bench.BenchResult, bench.Server, bench.BenchPrompt, bench.BenchSettings)
    kinds += (bench.Accepted, bench.Answer, bench.Span)
    fields = {field.name.rstrip("_") for kind in kinds for field in dataclasses.fields(kind)}
    assert fields - named == set()


def test_traces_md_has_a_record_of_each_system_and_each_is_read() -> None:
    records = dict(re.findall(r"--from (\S+) (?:(?!--from).)*?```text\n(.*?)```", TRACES, re.DOTALL))
    assert records.keys() == set(SYSTEMS)
    for system, record in records.items():
        given = RecordOptions(tokenizer=FakeTokenizer() if system == "transformers" else None)
        trace = import_run(record.encode(), system, given)
        assert trace.output.text.startswith("Once upon a time,")
        assert any(round.accepted for round in trace.rounds)


def commands_in(text: str) -> list[str]:
    """The command lines of `specviz` in the blocks of a document, each with its continuation lines."""
    blocks = re.findall(r"^```\n(.*?)^```|^((?:    .*\n)+)", text.replace("\\\n", " "), re.DOTALL | re.MULTILINE)
    lines = "".join(block for found in blocks for block in found)
    return re.findall(r"^\s*(?:\.venv/bin/|python -m )?specviz (.*)$", lines, re.MULTILINE)


def test_every_command_in_the_documents_can_be_given() -> None:
    found = {name: commands_in(text) for name, text in TEXTS.items()}
    assert len(found["README"]) == 6
    for command in [command for commands in found.values() for command in commands]:
        assert parsed(command), command
