"""Learn, part "Under load", by AppTest: what is on the page, and the links that lead there."""

from typing import get_args

import pytest

from specviz.data.lessons.roofline import published_peaks, roofline
from specviz.data.texts import Words
from tests.support.app_pages import opened, texts
from tests.support.payloads import payload_of

LINK = "(./learn?part=load)"


@pytest.mark.parametrize("words", get_args(Words))
def test_the_lesson_has_its_picture_continuous_batching_and_every_source(words: Words) -> None:
    page = opened("pages/learn.py", part="load", words=words)
    assert not page.exception
    assert not page.warning
    shown, payload = texts(page), payload_of(page.get_by_key("learn-roofline"))
    assert f"## {roofline().title.in_(words)}" in shown
    assert f"### {roofline().batching.title.in_(words)}" in shown
    assert payload["words"] == words
    assert len(payload["questions"]) == 3
    sources = [*published_peaks().machines, *published_peaks().models]
    assert all(f"**{each.name}**" in shown and each.url in shown and each.checked in shown for each in sources)


def test_the_questions_and_the_worksheets_batch_lead_to_it() -> None:
    assert LINK in texts(opened("pages/learn.py", part="why"))
    assert LINK in texts(opened("pages/worksheet.py"))
