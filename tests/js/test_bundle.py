"""What a browser gets: the built programs, with their texts."""

import re

import pytest

from specviz.core.files import BROWSER
from specviz.player.html_file import program

PARTS = sorted(path.relative_to(BROWSER / "dist").with_suffix("").as_posix() for path in BROWSER.glob("dist/*/*.js"))


@pytest.mark.parametrize("part", PARTS)
def test_a_program_ends_no_script_element_and_imports_nothing(part: str) -> None:
    script = program(part)
    assert "</script" not in script
    assert "<!--" not in script
    assert not re.search(r"^import\b", script, re.MULTILINE)


def test_no_text_becomes_html() -> None:
    sources = [
        path for path in BROWSER.glob("*/*.ts*") if "InnerHTML" in (text := path.read_text()) or "innerHTML" in text
    ]
    assert sources == []


def test_no_underline_has_a_shorthand_that_webkit_does_not_read() -> None:
    styles = [path.read_text(encoding="utf-8") for path in BROWSER.glob("*/*.css")]
    assert [found for style in styles for found in re.findall(r"text-decoration: *[\w-]+ +[^;}]+", style)] == []
    assert any("text-decoration-style: dotted" in style for style in styles)
