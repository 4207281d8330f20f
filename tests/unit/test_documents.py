"""The documents: what they name exists, and what they promise to list is complete."""

import ast
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


def names_in_the_code() -> set[str]:
    """Functions, classes, methods, parameters and fields in Python; words in JavaScript."""
    names: set[str] = set()
    for file in [*(ROOT / "specviz").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
    for script in (ROOT / "assets").rglob("*.js"):
        names |= set(re.findall(r"\b[A-Za-z]+\b", script.read_text(encoding="utf-8")))
    return names


def test_every_name_in_the_architecture_exists() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    now, _, _before = text.partition("## The structure before and after")
    quoted = set(re.findall(r"`([^`\n]+)`", now))
    paths = {name for name in quoted if "/" in name or name.endswith(".py")}
    names = {part for name in quoted - paths for part in name.split(".")}
    assert len(paths) > 5
    assert len(names) > 40
    assert {path for path in paths if not (ROOT / path).exists()} == set()
    folders = {path.name for path in (ROOT / "specviz").rglob("*") if path.is_dir()}
    assert names - names_in_the_code() - folders == set()


def test_paths_in_contributing_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:specviz|tests|docs|pages|examples)/[^`\s]*|[a-z]+\.py)`", text)
    assert len(paths) > 10
    assert [path for path in paths if not list(ROOT.rglob(path)) and not (ROOT / path).exists()] == []
