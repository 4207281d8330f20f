"""A race under way: what is said of it, and when there is something new to draw. No engine."""

from dataclasses import replace

import pytest

from specviz.measure.race import RaceLap, RacePrompt
from specviz.service.job import JobView
from specviz.service.protocol import Failed, LapRaced, Progress, Race, Stopped
from specviz.ui.race.link import Entry
from specviz.ui.race.measuring import progress_line, race_left, race_share, race_step, rows_so_far
from specviz.ui.race.state import Racing, recorded_race
from tests.support.fake_service import FakeService

WARMING = Progress(1, "warming up", 4, prompt="story-1", repeats=5)
TIMING = replace(WARMING, phase="timing", repeat=3)


def racing() -> Racing:
    found = Racing(Entry(), started=Entry())
    found.slot.start(lambda job: Race(job, Entry().request, Entry().prompts))
    return found


def recorded() -> list[RaceLap]:
    found = recorded_race()
    assert len(found) == 4
    return found


def timed(plain: list[float], speculative: list[float]) -> RaceLap:
    """A prompt with these seconds of each repeat, and none for reading it."""
    none = [0.0] * len(plain)
    seconds = {"plain_seconds": plain, "speculative_seconds": speculative}
    return replace(recorded()[0], plain_prefill=none, speculative_prefill=none, **seconds)


def test_the_bar_moves_with_every_repeat() -> None:
    """From the parts of the progress, whatever the sentence for the visitor is."""
    first, last = replace(WARMING, phase="timing", repeat=1), replace(WARMING, phase="timing", repeat=5)
    assert [race_share(WARMING), race_share(first), race_share(None)] == [0.0, 0.0, 0.0]
    assert race_share(last) == pytest.approx(0.8 / 4)
    assert race_share(Progress(1, "timing", 4, done=2, repeat=3, repeats=4)) == pytest.approx(0.625)


def test_it_says_what_is_measured_now() -> None:
    assert race_step(WARMING) == "Prompt 1 of 4, story-1: warming up both decoders, not timed"
    assert race_step(TIMING) == "Prompt 1 of 4, story-1: repeat 3 of 5, both decoders in turns"


def test_it_says_what_it_waits_for() -> None:
    assert progress_line(JobView(1, place=2), ()) == "Waiting: place 2 in the queue; nothing is measured yet."
    paused = progress_line(JobView(1, place=1, progress=TIMING), recorded()[:2])
    assert paused == "Waiting: place 1 in the queue; 2 prompts are measured so far."
    assert progress_line(JobView(1, state="running"), ()) == "Starting: nothing is measured yet."


def test_the_time_left_goes_by_the_finished_prompts() -> None:
    assert race_left(TIMING, ()) is None
    one = timed([4.5, 5.5], [2.0, 8.0])
    halfway = replace(TIMING, total=2, done=1, repeat=1, repeats=2)  # one prompt of two repeats is to come
    assert race_left(halfway, [one]) == pytest.approx(2 * 10.0)
    assert "About 20 s of measuring left." in progress_line(JobView(1, "running", progress=halfway), [one])


def test_rows_come_prompt_by_prompt() -> None:
    laps, prompts = recorded(), [RacePrompt(lap.name, "") for lap in recorded()]
    assert [row["so far"] for row in rows_so_far((), prompts)] == ["next", "to come", "to come", "to come"]
    some = rows_so_far(laps[:2], prompts)
    assert [row["prompt"] for row in some] == [lap.name for lap in laps]
    assert [row["so far"] for row in some][2:] == ["next", "to come"]
    assert some[0]["speedup"].startswith(f"{laps[0].speedup:.2f}×")
    assert some[3]["speedup"] == ""


def test_no_row_says_faster_or_slower_before_its_interval_does() -> None:
    prompt = [RacePrompt("story-1", "")]
    sure, unsure, one = (
        timed([2.0, 2.02, 2.0], [1.0, 1.0, 1.01]),
        timed([2.0] * 3, [1.0, 3.0, 1.0]),
        timed([2.0], [1.0]),
    )
    said = [rows_so_far([each], prompt)[0]["so far"] for each in (sure, unsure, one)]
    assert said == ["faster", "not clear", "not clear"]


def test_a_look_finds_more_only_when_another_prompt_is_finished(service: FakeService) -> None:
    """Then alone is the table drawn again; any other look draws one line."""
    page = racing()
    service.tell(WARMING)
    assert not page.look()
    service.tell(replace(TIMING, job=1))
    assert not page.look()
    service.tell(LapRaced(1, recorded()[0]))
    assert page.look()
    assert not page.look()


def test_a_cancelled_race_shows_what_was_finished(service: FakeService) -> None:
    page = racing()
    service.tell(WARMING, LapRaced(1, recorded()[0]), Stopped(1))
    page.look()
    assert page.finished == "Cancelled: the 1 of 4 prompts that were finished are shown."
    assert page.laps == recorded()[:1]


def test_a_failed_race_says_why_and_what_is_shown(service: FakeService) -> None:
    page = racing()
    service.tell(WARMING, LapRaced(1, recorded()[0]), Failed(1, "The engine ended."))
    page.look()
    assert page.message == "The engine ended."
    assert page.finished == "The 1 of 4 prompts that were finished are shown."
