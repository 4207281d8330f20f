"""What the documents name exists, and their examples work. Their figures: `test_measurements.py`."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.core.trace import parse_trace
from specviz.data.lessons import plans
from specviz.data.lessons.recorded_runs import METHOD_RUNS, STORY, STORY_RUNS
from specviz.data.links.hidden import hidden_texts
from specviz.measure.endpoints.pairs import pair_answers
from specviz.measure.endpoints.result import (
    Accepted,
    Answer,
    BenchPrompt,
    BenchResult,
    BenchSettings,
    Server,
    Span,
    read_result,
)
from specviz.models.draft_menu import offered_names
from specviz.systems import SYSTEMS, RecordOptions, import_run
from tests.support.commands import parsed
from tests.support.known import known
from tests.support.records import FakeTokenizer

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(ROOT.glob("docs/*.md"))
TEXTS = {file.stem: file.read_text(encoding="utf-8") for file in DOCUMENTS}
CONTRIBUTING, ARCHITECTURE, TEACHING, TRACES = (
    TEXTS[name] for name in ("CONTRIBUTING", "architecture", "teaching", "traces")
)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")  # to a file of the repository, perhaps to a part of it
CODE = ("specviz", "pages", "benchmarks/batching", "assets")


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


def code_of(files: str, *folders: str) -> str:
    found = (file for folder in folders for file in (ROOT / folder).rglob(files))
    return "\n".join(file.read_text(encoding="utf-8") for file in found)


def paths_in_tree(text: str) -> set[str]:
    """The paths in a drawn tree: a name per line, two spaces deeper inside a folder."""
    folders: list[str] = []
    paths = set()
    for line in text.splitlines():
        folders[(len(line) - len(line.lstrip())) // 2 :] = [line.split()[0]]
        paths.add("".join(folders))
    return paths


def test_paths_names_and_tests_that_documents_name_exist() -> None:
    [drawn] = re.findall(r"## Where things are\n\n```\n(.*?)```", ARCHITECTURE, re.DOTALL)
    quoted = set(re.findall(r"`([^`\n]+)`", ARCHITECTURE))
    quoted |= set(re.findall(r"`((?:specviz|tests|docs|pages|examples)/[^`\s]*)`", CONTRIBUTING))
    paths = {name for name in quoted if "/" in name}
    assert paths
    assert {path for path in paths | paths_in_tree(drawn) if not (ROOT / path).exists()} == set()
    code = set(re.findall(r"\w+", "".join(code_of(kind, *CODE) for kind in ("*.py", "*.js", "*.ts", "*.tsx"))))
    files = {path.name for folder in CODE for path in (ROOT / folder).rglob("*")}
    assert {name for name in quoted - paths - files if not {*name.split(".")} <= code | files} == set()
    tests = set(re.findall(r"def (test_\w+)", code_of("*.py", "tests")))
    tests |= {file.stem for file in (ROOT / "tests").rglob("test_*.py")}
    assert {*re.findall(r"\btest_\w+", code_of("*.md", "docs") + CONTRIBUTING)} - tests == set()


def test_the_example_of_a_plan_is_one_and_true() -> None:
    [found] = re.findall(r"```yaml\n(.*?)```", TEACHING, re.DOTALL)
    moment = plans.parse_plan(found.encode(), "example", offered_names()).moments[0]
    round, phase = divmod(moment.screen.step, 3)
    token = known(moment.screen.run).rounds[round].drafted[2]
    assert (phase, token.text, token.status) == (1, " because", "rejected")
    chance = known(token.target_prob) / known(token.draft_prob)
    assert f"here {chance:.2f}: mostly yes" in moment.answer
    assert f"the draw was {known(token.u):.2f}" in moment.answer


def test_teaching_names_the_controls_lessons_and_runs_that_there_are() -> None:
    assert hidden_texts().items() <= {*re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", TEACHING, re.MULTILINE)}
    addresses = re.findall(r"\?lesson=([a-z0-9-]+)&moment=([0-9]+)", TEACHING)
    assert addresses
    assert all(1 <= int(moment) <= len(known(plans.find_plan(name)).moments) for name, moment in addresses)
    runs = {plans.FIRST, *METHOD_RUNS, *(f"{STORY}{name}" for name in STORY_RUNS)}
    assert {*re.findall(r"`run=([a-z-]+)`", TEACHING)} == runs


def test_the_smallest_trace_is_valid_and_has_no_field_too_many() -> None:
    [smallest] = re.findall(r"```json\n(.*?)```", TRACES, re.DOTALL)
    trace, fields = parse_trace(smallest), json.loads(smallest)
    assert (len(trace.rounds), trace.output.text) == (1, " upon a")
    for field in fields.keys() - {"schema"}:
        less = {name: value for name, value in fields.items() if name != field}
        with pytest.raises(InputError, match=f"not valid at {field}: Field required"):
            parse_trace(json.dumps(less))


def test_the_smallest_bench_is_valid_and_every_field_of_a_bench_is_explained() -> None:
    [smallest] = re.findall(r"```json\n(.*?)```", TEXTS["bench"], re.DOTALL)
    result = read_result(smallest.encode())
    assert len(pair_answers(result).pairs) == 1
    for name in json.loads(smallest).keys() - {"schema", "answers", "prompts", "without"}:
        less = {field: value for field, value in json.loads(smallest).items() if field != name}
        with pytest.raises(InputError, match=f"{name}: Field required|at {name}"):
            read_result(json.dumps(less).encode())
    named = set(re.findall(r"`(\w+)`", TEXTS["bench"]))
    kinds = (BenchResult, Server, BenchPrompt, BenchSettings, Accepted, Answer, Span)
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
