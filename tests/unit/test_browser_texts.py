"""The texts of the browser's modules: each is said in its folder, and each can be translated."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz.core.files import BROWSER, PACKAGE, TEXTS
from specviz.data.texts import browser_texts
from specviz.data.translating import texts_to_translate

TABLES = sorted((TEXTS / "browser").glob("*.json"))
FORM = "(?:_plain)?(?:_tree|_block)?"  # of a text: for other words, for another kind of draft
NAMED = re.compile(r'"([a-z]\w*)"|\[\[(\w+)\]\]')
BEGUN = re.compile(r"`([a-z]\w*(?:\$\{[^{}`]*\}\w*)+)`")  # a name with a part that is known later
LATER = re.compile(r"\$\{[^{}]*\}")


def names_in(folder: Path) -> Iterator[str]:
    """What the files of a folder may say, each as a pattern; what Python says too is "result"."""
    by_python = [PACKAGE / "core/result.py", PACKAGE / "core/verdict.py"] if folder.name == "result" else []
    for file in (*folder.glob("*.ts*"), *folder.glob("*.html"), *by_python):
        text = file.read_text(encoding="utf-8")
        yield from (said or marked for said, marked in NAMED.findall(text))
        yield from (LATER.sub(r"\\w+", begun) for begun in BEGUN.findall(text))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.stem)
def test_each_text_is_said_in_its_folder(table: Path) -> None:
    names = "|".join(set(names_in(BROWSER / table.stem)))
    texts = browser_texts(table.stem).read().content
    unused = [name for name in texts if not re.fullmatch(rf"(?:{names}){FORM}", name)]
    assert texts
    assert not unused


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.stem)
def test_each_text_with_words_is_translated(table: Path) -> None:
    file = browser_texts(table.stem).read()
    left_out = set(file.content) - set(dict(texts_to_translate(file, f"browser/{table.stem}")))
    assert not [name for name in left_out if re.search(r"[^\W\d]", re.sub(r"\{\w+\}", "", file.content[name]))]
