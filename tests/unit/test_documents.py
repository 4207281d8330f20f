"""The documents: what they name exists, and what they promise to list is complete."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(ROOT.glob("docs/*.md"))
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")  # to a file of the repository


def test_the_readmes_first_sentence_is_short() -> None:
    first = next(line for line in README.splitlines() if line and not line.startswith("#"))
    assert first.endswith(".")
    assert 30 < len(first) < 100


def tree(text: str) -> Iterator[str]:
    """The paths in a drawn tree: a name per line, two spaces deeper inside a folder."""
    folders: list[str] = []
    for line in text.splitlines():
        name, depth = line.split()[0], (len(line) - len(line.lstrip())) // 2
        folders[depth:] = [name]
        yield "".join(folders)


def test_the_readmes_tree_is_the_real_one() -> None:
    [drawn] = re.findall(r"## Where things are\n\n```\n(.*?)```", README, re.DOTALL)
    named = set(tree(drawn))
    assert len(named) > 30
    assert {path for path in named if not (ROOT / path).exists()} == set()
    layers = {f"specviz/{path.name}/" for path in (ROOT / "specviz").iterdir() if any(path.glob("*.py"))}
    assert layers - named == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_to_files_lead_somewhere(document: Path) -> None:
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_make_targets_in_a_document_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", document.read_text(encoding="utf-8"), re.MULTILINE))
    assert named - targets == set()


def test_operating_lists_every_variable_that_the_code_reads() -> None:
    code = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "specviz").rglob("*.py"))
    read = set(re.findall(r"\bSPECVIZ_[A-Z_]+", code))
    listed = re.findall(r"^\| `(SPECVIZ_[A-Z_]+)`", (ROOT / "docs/operating.md").read_text(), re.MULTILINE)
    assert len(read) >= 3
    assert read == set(listed)
