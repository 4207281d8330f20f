"""The lesson about latency and throughput: its published figures, its texts, and what the browser gets of them."""

from typing import get_args

import pytest

from specviz.core.judge import NEUTRAL
from specviz.core.texts import Words, figures_in
from specviz.data.lessons.roofline import published_peaks, roofline
from specviz.ui.learn.roofline import roofline_payload
from tests.unit.test_lessons import is_plain


def test_a_published_figure_names_its_source_and_is_the_one_that_is_computed_with() -> None:
    peaks = published_peaks()
    for each in (*peaks.machines, *peaks.models):
        assert each.url.startswith("https://"), each.name
        assert "2026" in each.checked, each.name
    for machine in peaks.machines:
        assert f"{machine.teraflops:,g} teraflops" in machine.says
        bandwidths = (f"{machine.terabytes:g} TB/s", f"{1000 * machine.terabytes:,.0f} GB/s")
        assert any(said in machine.says for said in bandwidths), machine.name


def test_the_three_questions_are_answered_in_both_voices_and_what_stands_around_is_plain_too() -> None:
    texts = roofline()
    for said in (texts.title, texts.introduction, texts.limits, texts.batching.title, texts.batching.text):
        assert is_plain(said.plain), said.plain
    assert [asked.name for asked in roofline().questions] == ["batch", "context", "experts"]
    for asked in roofline().questions:
        for said in (asked.question, asked.answer):
            assert is_plain(said.plain.translate(str.maketrans("{}_", "   "))), said.plain
        speedups = {f"speedup_{place}" for place in range(1, len(asked.shows) + 1)}
        assert all(speedups <= figures_in(voice) for voice in (asked.answer.technical, asked.answer.plain))


@pytest.mark.parametrize("words", get_args(Words))
def test_the_browser_gets_the_figures_the_texts_and_the_words_of_the_judge(words: Words) -> None:
    payload = roofline_payload(words)
    assert [machine.terabytes for machine in payload["machines"]] == [2.039, 3.35, 4.8, 8.0, 5.3]
    assert payload["models"][1].experts == 8
    assert payload["questions"] == roofline().questions
    assert payload["judged"] == {"neutral": NEUTRAL, "helps": "Helps", "even": "About even", "hurts": "Hurts"}
    assert "modelled" in payload["limits"].lower()
