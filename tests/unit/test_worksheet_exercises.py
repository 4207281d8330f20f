"""The exercise sheet: answers come from the run, and its page is safe to open."""

import re
from decimal import Decimal
from html.parser import HTMLParser

import pytest

from specviz.core import metrics
from specviz.core.trace import Trace
from specviz.data.first_run import first_trace
from specviz.measure.worksheet.exercises import exercises, sheet
from tests.support.fake_traces import fake_trace


def answers(trace: Trace) -> str:
    return "\n".join(exercise.answer for exercise in exercises(trace))


def questions(trace: Trace) -> str:
    return "\n".join(exercise.question for exercise in exercises(trace))


def three(rate: float | None) -> str:
    """Rounded as by hand."""
    assert rate is not None
    return str((Decimal(rate) + Decimal("1e-9")).quantize(Decimal("0.001")))


@pytest.mark.parametrize("draft_length", [1, 4, 16])
@pytest.mark.parametrize("greedy", [False, True])
def test_the_key_is_computed_from_the_run(draft_length: int, greedy: bool) -> None:
    trace = fake_trace(draft_length=draft_length, greedy=greedy)
    counts = metrics.count(trace.rounds)
    key = answers(trace)
    assert f"{counts.accepted} / {counts.drafted} = {three(counts.acceptance_rate)}" in key
    assert f"{counts.accepted} / ({counts.accepted} + {counts.rejected}) = {three(counts.per_judgement_rate)}" in key
    assert f"{counts.emitted} / {counts.rounds} = {counts.tokens_per_target_call:.2f}" in key
    assert f"Measured: {metrics.speedup(trace):.2f}×" in key
    assert ("greedy" in questions(trace)) == greedy


def test_the_break_even_is_compared_like_with_like() -> None:
    trace = fake_trace()
    counts = metrics.count(trace.rounds)
    answer = next(each.answer for each in exercises(trace) if "breaks even" in each.question)
    assert re.search(r"α = 0\.\d{3} per judgement, which at γ = 4 is 0\.\d{3} accepted / drafted", answer)
    assert f"had {three(counts.per_judgement_rate)} and {three(counts.acceptance_rate)}" in answer


def test_a_rejected_token_is_asked_about_with_its_own_p_q_and_u() -> None:
    trace = fake_trace()
    asked = next(each for each in exercises(trace) if "rejected token" in each.question)
    p, q, u = map(float, re.findall(r"(?:p|q|u) = (\d\.\d{4})", asked.question))
    accept = float(re.search(r"= (\d\.\d{4}); u", asked.answer)[1])  # type: ignore[index]
    assert accept == pytest.approx(min(1, p / q), abs=2e-3)
    assert u >= accept - 1e-4


def test_questions_a_run_cannot_answer_are_left_out() -> None:
    assert "target step takes" in questions(fake_trace())
    assert "target step takes" not in questions(fake_trace(plain=False))
    assert "rejected token" not in questions(fake_trace(record=False))
    assert exercises(fake_trace(tokens=1)) == []  # one token left to write: nothing is drafted


def test_the_recorded_run_can_be_asked_about() -> None:
    recorded = first_trace()
    assert recorded is not None
    assert len(exercises(recorded)) >= 9


def test_the_sheet_leaves_room_and_the_key_fills_it() -> None:
    trace = fake_trace()
    blank, key = (sheet(trace, "Exercises", "measured here", key=key) for key in (False, True))
    number = len(exercises(trace))
    assert blank.count("<div class=room>") == number
    assert "class=answer" not in blank
    assert key.count("<p class=answer>") == number
    assert "answer key" in key


class Tags(HTMLParser):
    """The tags a browser would see, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_text_from_models_is_text() -> None:
    written = ""
    for seed in range(8):
        tags = Tags()
        tags.feed(sheet(fake_trace(hostile=True, sharpness=0.5, seed=seed), "<i>t</i>", "<u>s</u>", key=True))
        assert tags.seen == {"html", "meta", "title", "style", "h1", "p", "q", "ul", "ol", "li", "b"}
        assert "<i>t</i>" in tags.text
        written += tags.text
    assert "<script>alert(1)</script>" in written
