"""Pages in another language, by AppTest: figures as it writes them, and a link whose language is not there."""

import re
from collections.abc import Iterator

import pytest

from specviz.core.languages import languages, set_language
from specviz.core.texts import join_choices
from specviz.data.links.page_names import IN_MENU
from specviz.ui.shared.parts import localized_table, numbers
from tests.support.app_pages import opened, opened_in_app, texts
from tests.support.drawn import drawn
from tests.support.hostile import strings_in
from tests.support.payloads import stage_payload_of as stage_of

POINT = re.compile(r"(?<![\w.])\d+\.\d{1,2}(?![\w.])")  # 1.41, and not the three digits of 12.345
ENGLISH = re.compile(r"\b(the|of|and|are|is|with|from|this|that|which|each|was|were|have|by)\b", re.IGNORECASE)
MARKED = re.compile(r"<bdi.*?</bdi>|<[^>]*>|…[^▸]*▸.*")  # of a model, and markup
NUMBERED = re.compile(r"arXiv \S+|https?://\S+|teorema [\d.]+|theorem [\d.]+|vLLM [\d.]+|specviz [\d.]+")


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    set_language("en")


def test_the_result_has_a_decimal_comma() -> None:
    sent = stage_of(opened(lang="es"))
    (shown,) = drawn(sent, language="es")
    said = shown["result"]
    assert "1,53" in said["says"]
    assert said["where"].startswith("medid")
    assert POINT.findall(" ".join(strings_in([said, sent["result"]]))) == []


@pytest.mark.parametrize("name", IN_MENU)
def test_no_sentence_of_a_spanish_page_has_a_decimal_point_or_is_english(name: str) -> None:
    page = opened_in_app(name, lang="es")
    said = texts(page)
    if name == "watch":  # its figures are on the stage
        said = "\n".join([said, *strings_in(stage_of(page)["result"])])
    own = [line for line in said.splitlines() if "](https://" not in line]  # what others published is still English
    assert re.search(r"\d,\d", said) or name == "be_the_draft", "there are figures"
    assert [line for line in own if POINT.search(NUMBERED.sub("", line))] == []
    by_models = {line for text in page.text for line in text.value.splitlines()}
    assert [line for line in own if line not in by_models and ENGLISH.search(MARKED.sub("", line))] == []


@pytest.mark.parametrize("name", ["race", "when_it_helps"])
def test_what_a_server_keeps_of_a_page_is_not_shown_in_another_visitors_language(name: str) -> None:
    """Found: why two pages differ was kept in the first visitor's language."""
    shown = [texts(opened_in_app(name, lang=language)).lower() for language in ("en", "es")]
    assert ["random words" in each for each in shown] == [True, False]


def test_a_table_shows_numbers_as_the_language_writes_them_and_still_holds_numbers() -> None:
    rows, columns = {"speedup": [1.5, None], "name": ["a.b", "c"]}, numbers("%.2f×", "speedup")
    assert localized_table(rows, columns) == (rows, columns)
    set_language("es")
    shown, config = localized_table(rows, columns)
    assert (shown.data["speedup"][0], "format" in config["speedup"]["type_config"]) == (1.5, False)
    assert [text in shown.to_html() for text in ("1,50×", "a.b", "–")] == [True] * 3


def test_an_unknown_language_is_said_and_the_visitors_own_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    [line] = opened(lang="xx").warning
    assert line.value == f"lang=xx is not one of {join_choices([*languages()], 'and')}: using English."
    monkeypatch.setenv("SPECVIZ_LANG", "es")
    page = opened(lang="<b>xx")
    assert [len(page.warning), page.selectbox(key="language").value] == [1, "es"]
    assert {"English", "Español", "中文 (简体)"} <= {*page.selectbox(key="language").options}
