"""The engine's work for a race, on a tiny pair: the order of runs, what is sent when, how it stops and goes on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from specviz import DecodeSettings, InputError
from specviz.core.request import RunRequest
from specviz.measure import paired_runs
from specviz.measure.race import RaceLap, RacePrompt
from specviz.service.budget import BudgetSpent
from specviz.service.handlers.race import race_steps
from specviz.service.protocol import (
    Finished,
    LapRaced,
    Progress,
    Race,
    Started,
    dump_command,
    dump_event,
    parse_command,
    parse_event,
)
from specviz.ui.race.lanes import lanes_data
from specviz.ui.race.results import quality_sentence
from tests.support.fake_workshop import workshop_with
from tests.support.tiny_models import tiny_model

TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")
TINY = workshop_with(TARGET, DRAFT)


@pytest.fixture
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def command(repeats: int = 2, **settings: Any) -> Race:
    prompts = [RacePrompt("own-1", "w1 w2 w3"), RacePrompt("own-2", "w4 w2")]
    request = RunRequest("", settings=DecodeSettings(max_new_tokens=12, draft_length=3, **settings))
    return Race(7, request, prompts, repeats)


@pytest.mark.usefixtures("one_thread")
def test_nothing_is_sent_while_the_clock_runs_and_each_is_first_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []

    def listened(name: str) -> Any:
        made = getattr(paired_runs, name)

        def make(*arguments: Any, **options: Any) -> Any:
            said.append(name[:4])
            assert options.get("record", False) is False, "nothing is recorded on the clock"
            return made(*arguments, **options)

        return make

    for name in ("AutoregressiveRun", "SpeculativeRun"):
        monkeypatch.setattr(paired_runs, name, listened(name))
    events = []
    for event in race_steps(command(repeats=3), TINY):
        if event:
            events.append(event)
            said.append("said")
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    pairs = ["Auto", "Spec", "said", "Spec", "Auto", "said", "Auto", "Spec", "said"]
    assert said == ["said", *["said", "Spec", "Auto", "said", *pairs] * 2, "said"]
    assert [isinstance(event, LapRaced) for event in events[1:-1]] == [False, False, False, False, True] * 2
    assert events[2] == Progress(7, "timing", 2, prompt="own-1", repeat=1, repeats=3)
    assert {event.total for event in events if isinstance(event, Progress)} == {2}


def laps_of(race: Race) -> list[RaceLap]:
    """The laps as the server has them: after their way through the pipe."""
    events = [event for event in race_steps(race, TINY) if event]
    return [event.item for event in map(parse_event, map(dump_event, events)) if isinstance(event, LapRaced)]


@pytest.mark.usefixtures("one_thread")
def test_a_race_goes_on_after_the_laps_already_sent() -> None:
    assert [lap.name for lap in laps_of(replace(command(repeats=1), done=1))] == ["own-2"]
    assert laps_of(replace(command(repeats=1), done=2)) == []


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_lap_on_a_tiny_pair(temperature: float) -> None:
    laps = laps_of(command(temperature=temperature))
    assert [found.name for found in laps] == ["own-1", "own-2"]
    for found in laps:
        assert len(found.ratios) == 2
        assert all(seconds > 0 for seconds in found.speculative_seconds + found.plain_seconds + found.plain_prefill)
        assert len(found.plain_tokens) == len(found.speculative_tokens) == 12
        assert found.identical is (None if temperature else True)
        assert quality_sentence(found)
        lanes_data([found], run_id="r", badge="b", place=None)


def until_repeat(steps: Any, repeat: int) -> None:
    """Into the timing of this repeat of the first prompt."""
    while True:
        event = next(steps)
        if isinstance(event, Progress) and event.repeat == repeat:
            next(steps)
            return


@pytest.mark.usefixtures("one_thread")
def test_a_race_can_be_paused_after_every_round_and_step() -> None:
    events = list(race_steps(command(repeats=2), TINY))
    assert events.count(None) > 2 * 2 * 12, "two prompts, two repeats, twelve steps of the target alone; and the rounds"


@pytest.mark.usefixtures("one_thread")
def test_a_race_that_had_to_stop_goes_on_after_its_last_whole_repeat() -> None:
    workshop = workshop_with(TARGET, DRAFT)
    stopped = race_steps(command(repeats=3), workshop)
    until_repeat(stopped, 3)
    stopped.close()
    events = [event for event in race_steps(command(repeats=3), workshop) if event]
    timed = [event.repeat for event in events if isinstance(event, Progress) and event.phase == "timing"]
    assert timed == [3, 1, 2, 3]
    assert [len(event.item.ratios) for event in events if isinstance(event, LapRaced)] == [3, 3]


@pytest.mark.usefixtures("one_thread")
def test_a_race_whose_time_is_over_sends_the_repeats_it_has() -> None:
    steps = race_steps(command(repeats=5), workshop_with(TARGET, DRAFT))
    until_repeat(steps, 3)
    event = steps.throw(BudgetSpent(9))
    assert isinstance(event, LapRaced)
    assert len(event.item.ratios) == 2
    with pytest.raises(BudgetSpent, match="one job 9 seconds, and they are over"):
        next(steps)
    steps = race_steps(command(repeats=5), workshop_with(TARGET, DRAFT))
    until_repeat(steps, 1)
    with pytest.raises(BudgetSpent):
        steps.throw(BudgetSpent(9))


def test_a_prompt_that_does_not_fit_is_named_before_anything_is_timed() -> None:
    short = tiny_model(seed=1, layers=1, name="draft", context=12)
    for draft, new_tokens, named in ((DRAFT, 64, "target"), (short, 12, "draft")):
        race = replace(command(), request=RunRequest("", settings=DecodeSettings(max_new_tokens=new_tokens)))
        steps = race_steps(race, workshop_with(TARGET, draft))
        next(steps)
        with pytest.raises(InputError, match=rf"own-1: The prompt .* do not fit {named}'s context window"):
            next(steps)


def test_a_race_command_is_read_by_the_engine_as_it_was_written() -> None:
    assert parse_command(dump_command(command())) == command()
    assert command().texts == ["w1 w2 w3", "w4 w2"]
    with pytest.raises(ValueError, match="repeats"):
        parse_command(dump_command(command()).replace(b'"repeats":2', b'"repeats":2000'))
