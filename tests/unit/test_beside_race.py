"""A kind of text in a race and in a sweep: where their words differ and why. Stored data, and rows made by hand."""

import re
from dataclasses import replace
from typing import Any

import pytest

from specviz.measure.race import RaceLap
from specviz.measure.sweep.beside_race import Beside, beside
from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.study import studies_of
from specviz.measure.sweep.table import frame_of
from specviz.ui.helps.helps_state import recorded_studies
from specviz.ui.race.race_state import recorded_race
from tests.support.fake_rows import row_at


def random_lap(speedup: float = 0.6) -> RaceLap:
    """The recorded race's lap on random words, as fast as this."""
    lap = next(lap for lap in recorded_race() if lap.name == "random-1")
    return replace(lap, speculative_seconds=[seconds / speedup for seconds in lap.plain_seconds])


def swept(*rows: SweepRow, **changes: Any) -> list[Beside]:
    """Beside the lap on random words, rows of the same pair and machine but for these changes."""
    run = random_lap().speculative
    made = {"target": run.target.name, "draft": "wren-nano", "machine": run.recorded_on.machine}
    made |= {"max_new_tokens": run.settings.max_new_tokens} | changes
    return beside([random_lap()], studies_of(frame_of(replace(row, **made) for row in rows)))


def of_random_words(alone: float, others: float, length: int = 4) -> list[SweepRow]:
    """random-1, whose guesses are seldom right, and two more prompts of its kind."""
    speeds = ((alone, 0.2), (others, 0.6), (others * 1.01, 0.6))
    return [row_at("random", length, speed, rate, number) for number, (speed, rate) in enumerate(speeds, start=1)]


def test_the_recorded_race_and_sweep_have_another_word_for_random_words_and_say_why() -> None:
    found = {each.raced.name: each for each in beside(recorded_race(), recorded_studies())}
    assert set(found) == {"story", "code", "structured", "random"}
    random = found["random"]
    assert [each.raced.name for each in found.values() if each.differs] == ["random"]
    lap = next(lap for lap in recorded_race() if lap.name == "random-1")
    assert random.sentence.startswith(
        f"Random words: {lap.speedup:.2f}× on Race (hurts), {random.swept.speedup:.2f}× on When it helps (cannot be "
        "told). Race: random-1 at γ = 4, timed 5 times. When it helps: 10 prompts at γ = 2, "
    )
    rows = recorded_studies()[0].rows.query("preset == 'random-1' and draft_length == 4 and draft_schedule == 'fixed'")
    (speedup,) = rows["speedup"]
    assert f"at γ = 4, random-1 alone has {speedup:.2f}× (21 % of the checked guesses" in random.sentence
    assert "Most of the difference is the choice of prompts, then the draft length." in random.sentence
    assert "Also different: the machine (" in random.sentence  # the race was recorded on another one


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        (of_random_words(0.6, 1.6), "the choice of prompts"),
        ([*of_random_words(0.6, 0.61), *of_random_words(1.4, 1.41, length=2)], "the draft length"),
        (of_random_words(1.5, 1.5), ""),  # timed again, the same prompt is another figure: neither explains it
    ],
)
def test_the_cause_is_what_the_sweeps_own_rows_say(rows: list[SweepRow], cause: str) -> None:
    (found,) = swept(*rows)
    assert (f"Most of the difference is {cause}." in found.sentence) == bool(cause)
    assert ("Most of the difference" in found.sentence) == bool(cause)


def test_what_was_not_measured_or_is_different_there_is_said_and_other_models_are_not_compared() -> None:
    (found,) = swept(*of_random_words(1.2, 1.3, length=2))
    assert "There γ = 4 was not measured." in found.sentence
    (found,) = swept(*of_random_words(1.2, 1.3)[1:])
    assert re.search(r"There, at γ = 4, all 2 prompts 1\.3\d×\.", found.sentence)
    (found,) = swept(*of_random_words(1.2, 1.3), machine="a toaster", max_new_tokens=16)
    assert "a toaster, 1 thread on When it helps" in found.sentence
    assert "64 on Race; 16 on When it helps" in found.sentence
    rows = of_random_words(1.2, 1.3)
    assert len(swept(*rows)) == 1
    for change in ({"draft": "another"}, {"temperature": 1.0}, {"tree": "4,2,1"}):
        assert swept(*rows, **change) == []
