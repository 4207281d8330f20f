"""One judge: every page that has the same numbers says the same word."""

import math
from dataclasses import replace

import pytest

from specviz.core import verdict as verdicts
from specviz.core.intervals import student_t
from specviz.core.judge import LOOKS, NEUTRAL, ONE_RUN, VerdictWord, judge
from specviz.core.verdict import verdict_of_ratios, verdict_of_run
from specviz.measure.sweep.rows import frame_of
from specviz.measure.sweep.study import conclusions, studies_of, workload_sentence
from specviz.ui.shared.parts import headline
from tests.support.fake_rows import row_at
from tests.support.known import known
from tests.support.measured_methods import on_kind
from tests.unit.test_race import timed
from tests.unit.test_verdict import in_turns

CASES: list[tuple[float, float, VerdictWord]] = [  # low, high
    (1.026, 1.034, "helps"),  # was "helps" in Race, "even" in When it helps
    (1.002, 1.2, "helps"),
    (0.96, 0.99, "hurts"),
    (0.97, 1.03, "about even"),
    (1 / NEUTRAL + 1e-9, NEUTRAL - 1e-9, "about even"),
    (0.99, 1.06, "too close to call"),
    (0.3, 1.2, "too close to call"),
]


def two_ratios(low: float, high: float) -> list[float]:
    """Two ratios with this 95 % interval: half of it is `student_t(1)` standard errors."""
    middle, half = math.sqrt(low * high), math.log(high / low) / 2
    return [middle * math.exp(-half / student_t(1)), middle * math.exp(half / student_t(1))]


@pytest.mark.parametrize(("low", "high", "word"), CASES)
def test_all_pages_say_the_same_word(
    low: float, high: float, word: VerdictWord, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratios, middle = two_ratios(low, high), math.sqrt(low * high)
    assert judge(middle, (low, high)).word == word

    timing = low * ONE_RUN, high / ONE_RUN  # of a run whose interval, widened, is this one
    monkeypatch.setattr(verdicts, "speedup_interval", lambda trace: timing)
    monkeypatch.setattr(verdicts.metrics, "speedup", lambda trace: middle)
    monkeypatch.setattr(verdicts, "WIDE", 10)  # the machine counts as quiet
    watch, race = known(verdict_of_run(in_turns())), verdict_of_ratios(ratios, None)
    compare = timed("story-1", *ratios).verdict
    assert watch.headline == race.headline == compare.headline == f"{word[0].upper()}{word[1:]}, {middle:.2f}×"
    for verdict in (watch, race, compare):
        assert verdict.label == LOOKS[word].label
        assert verdict.certain == (word != "too close to call")
        assert f":material/{LOOKS[word].icon}: :{LOOKS[word].color}[" in headline(verdict)
        assert verdict.said == word  # as a finished prompt of a race says it

    rows = frame_of([row_at("story", 4, ratio, number=number) for number, ratio in enumerate(ratios)])
    (point,) = studies_of(rows)[0].points.itertuples()
    assert point.outcome == word
    assert point.low == pytest.approx(low, rel=1e-3)
    assert word in workload_sentence(studies_of(rows)[0].fair).lower()
    assert f"{word[0].upper()}{word[1:]}." in " ".join(conclusions(rows))

    assert replace(on_kind(middle, 0.1).best, low=low, high=high).judged.word == word


def test_without_an_interval_the_size_decides_and_the_words_say_so() -> None:
    found = [verdict_of_ratios([speedup], None) for speedup in (1.051, 1.04, 0.96, 0.95)]
    looks = ["Looks like it helps, 1.05×", "Looks about even, 1.04×", "Looks about even, 0.96×"]
    assert [each.headline for each in found] == [*looks, "Looks like it hurts, 0.95×"]
    assert not any(each.certain for each in found)
