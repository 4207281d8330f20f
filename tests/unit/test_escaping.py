"""Text from files, links and models, read by a Markdown parser: it is shown as it is."""

import pytest
from rich.markdown import Markdown

from specviz.ui.shared.escaping import figure_text, file_label, plain
from tests.support.hostile import ALL_NAMES, NAME, NAMES

TEXTS = [
    *NAMES,
    NAME,
    "**b** __c__ _d_ ~~e~~ `f` ![g][h]",
    "<b>bold</b> <!-- x --> <https://evil.test> &lt; &#60;",
    "back\\slash \\* \\",
    "# head",
    "> quote",
    "- list",
    "+ list",
    "= line",
    "1. list",
    "23) list",
    "    code",
    "\tcode",
    "```fence```",
    "two\n\n# lines",
    "| a | b |\n|---|---|",
    "head\n===",
    "org/model_name-7B (float32), 12:30, 100 %",
    "a $1 and $2 price",
    "",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_shown_as_it_is(text: str) -> None:
    tokens = Markdown(f"Loaded {plain(text)}").parsed
    inline = [token for block in tokens for token in block.children or []]
    assert {token.type for token in inline} <= {"text", "text_special"}
    assert {block.type for block in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    shown = "".join(token.content for token in inline).replace("\u2060", "")
    assert shown.rstrip() == f"Loaded {text.strip()}".replace("\n", "↵").rstrip()


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_at_the_start_of_a_line_begins_no_block(text: str) -> None:
    assert {block.type for block in Markdown(plain(text)).parsed} <= {"paragraph_open", "inline", "paragraph_close"}


@pytest.mark.parametrize("text", NAMES)
def test_nothing_is_left_that_streamlit_reads_after_the_markdown(text: str) -> None:
    """A directive, an emoji, an icon or a bare address needs its colon, www or @ before the next character."""
    shown = plain(text).replace("\\", "")
    assert not any(mark in shown for mark in (":red[", ":smile", ":material/", "http:/", "javascript:a", "www."))
    assert "someone@evil.test" not in plain("someone@evil.test")


def test_what_is_plain_already_stays_as_it_is() -> None:
    assert plain(plain(NAME)) == plain(NAME)


def test_ordinary_names_need_no_escaping() -> None:
    for name in ("wren-base", "Qwen/Qwen2.5-0.5B", "AMD EPYC (2 cores), 4 GB", "The link’s gamma is 99: using 4."):
        assert plain(name) == name


def test_a_figure_shows_tags_and_template_fields_as_text() -> None:
    assert figure_text("<b>&lt;%{x}") == "&lt;b&gt;&amp;lt;%\u2060{x}"


@pytest.mark.parametrize("name", ALL_NAMES)
def test_no_text_turns_the_sentence_around_it(name: str) -> None:
    assert "\u202e" not in plain(f"a {name}") + figure_text(name) + file_label(name)


def test_a_file_name_is_short_and_on_one_line() -> None:
    assert file_label("my sweep.csv") == "my sweep.csv"
    assert file_label("a\nb\u202e.csv") == "a?b?.csv"
    assert len(file_label("x" * 10_000)) == 60
