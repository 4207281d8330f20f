"""What a browser gets: the built programs, with their texts."""

import re

import pytest

from specviz.core.files import BROWSER
from specviz.player.html_file import program

PARTS = sorted(path.relative_to(BROWSER / "dist").with_suffix("").as_posix() for path in BROWSER.glob("dist/*/*.js"))
ENGLISH = re.compile(r'"[A-Za-z ,.’:]*\b(?:the|of|and|are|is|with|which|that|each|was|by)\b [^"]*"')


@pytest.mark.parametrize("part", PARTS)
def test_a_program_ends_no_script_element_imports_nothing_and_takes_its_sentences_from_the_tables(part: str) -> None:
    script = program(part)
    assert "</script" not in script
    assert "<!--" not in script
    assert not re.search(r"^import\b", script, re.MULTILINE)
    code = script.partition("\n")[2]  # after the texts in the visitor's language
    errors = re.sub(r"Error\([^)]*\)", "", code)
    assert [said[0] for said in ENGLISH.finditer(errors)] == []


def test_no_text_becomes_html() -> None:
    sources = [path for path in BROWSER.glob("*/*.ts*") if re.search("[iI]nnerHTML", path.read_text(encoding="utf-8"))]
    assert sources == []


def test_no_underline_has_a_shorthand_that_webkit_does_not_read() -> None:
    styles = "\n".join(path.read_text(encoding="utf-8") for path in BROWSER.glob("*/*.css"))
    assert re.findall(r"text-decoration: *[\w-]+ +[^;}]+", styles) == []
    assert "text-decoration-style: dotted" in styles
