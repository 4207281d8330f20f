"""The glossary: every word of the field that the app uses, and texts that show the explanations."""

from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from specviz.data.lessons.glossary import GLOSSARY, explained, find_word
from specviz.data.lessons.steps import STEPS
from specviz.data.lessons.story import facts_of, fill
from specviz.data.lessons.word import Word
from specviz.ui.learn.state import Learning, take
from specviz.ui.learn.vocabulary import entry
from tests.unit.test_lessons import PLAIN

WORDS = """draft model, target model, round, draft length, accepted, rejected, discarded, correction, bonus, own token,
acceptance rate, per-judgement rate, tokens per target call, overhead, prefill, speedup,
greedy, p, q, judged, modelled, target pass, near-tie, own token, temperature, dice roll, leftover,
head, EAGLE, Medusa, MTP, early exit, tree, node, depth, not taken, block verification, argmax draft"""
SYMBOLS = ["γ", "c", "v(k)", "o", "u", "(p − q)₊"]


class Reader(HTMLParser):
    """What a browser would make of it: text, elements, and ids."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []
        self.described: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.described += [given["aria-describedby"] or ""] if "aria-describedby" in given else []

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.mark.parametrize("name", [name.strip() for name in WORDS.split(",")])
def test_every_word_of_the_design_is_there(name: str) -> None:
    assert find_word(name) is not None


def test_every_symbol_of_the_design_is_there() -> None:
    assert set(SYMBOLS) <= {word.symbol for word in GLOSSARY}


@pytest.mark.parametrize("word", GLOSSARY, ids=lambda word: word.id)
class TestWord:
    def test_it_has_a_short_explanation_in_each_voice(self, word: Word) -> None:
        for said in (word.says.technical, word.says.plain):
            assert said.endswith(".")
            assert len(said.split()) <= 30
        assert PLAIN.fullmatch(word.says.plain), word.says.plain

    def test_its_picture_is_of_a_recorded_run(self, word: Word) -> None:
        picture = entry(word, "technical")["picture"]
        assert bool(picture) == bool(word.picture)
        if picture is None:
            return
        assert picture["alt"]
        if picture["kind"] == "times":
            assert picture["bars"]
            assert all(ms > 0 for _, ms, _ in picture["bars"])
        else:
            assert picture["chips"]
            assert not word.marked or picture["ringed"], f"nothing in the picture is {word.marked}"

    def test_its_figure_is_filled_and_its_link_leads_to_a_step(self, word: Word) -> None:
        assert "{" not in fill(word.figure, facts_of("round"))
        address = urlsplit(entry(word, "plain")["link"]["href"])
        assert address.path == "./learn"
        state = Learning()
        assert take(state, {name: values[0] for name, values in parse_qs(address.query).items()}) == []
        assert STEPS[state.lesson].name == word.lesson
        assert state.words == "plain"


def test_ids_are_unique() -> None:
    assert len({word.id for word in GLOSSARY}) == len(GLOSSARY)


def test_a_word_explains_itself_once_and_the_text_stays_the_same() -> None:
    text = "Rejected once, rejected twice; the acceptance rate is no draft-length-model and no <b>round</b>."
    reader = read(explained(text, "here"))
    assert reader.described == ["tip-here-rejected", "tip-here-acceptance-rate", "tip-here-round"]
    assert reader.described == reader.ids
    assert set(reader.tags) == {"button", "span"}
    shown = "".join(reader.text)
    assert "<b>" in shown
    for word in ("rejected", "acceptance rate", "round"):
        found = find_word(word)
        assert found is not None
        assert shown.count(found.says.technical) == 1


def test_a_token_that_the_target_owns_is_not_the_own_token_of_a_round_without_a_draft() -> None:
    assert read(explained("an own token here", "k")).described == ["tip-k-own-token"]
    assert read(explained("the target’s own token, its own tokens", "k")).described == []


def test_a_text_without_such_words_is_only_escaped() -> None:
    assert explained("a < b & c", "k") == "a &lt; b &amp; c"


def test_plain_words_explain_in_plain_words() -> None:
    assert "intern" in explained("the draft model", "k", "plain")
