"""The engine's work for a run, on a tiny pair: whose turn it is, what is sent when, and how it ends."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from specviz import DecodeSettings, autoregressive_decode, speculative_decode
from specviz.core.request import RunRequest
from specviz.core.trace import Round, dump_trace, parse_trace
from specviz.decoding import AutoregressiveRun, ModelDrafter, SpeculativeRun, take_turns
from specviz.models.loaded_model import LoadedModel
from specviz.service.handlers import run as handler
from specviz.service.handlers.run import run_steps
from specviz.service.job import JobView, advance
from specviz.service.protocol import Done, JobEvent, Rounds, Run, Started, dump_event, parse_event
from specviz.service.results import RunResult
from tests.support.fake_workshop import workshop_with
from tests.support.tiny_models import ending, tiny_model

PROMPT = "w1 w2 w3"
DRAFT = tiny_model(seed=2, layers=1, name="draft")
GREEDY = DecodeSettings(max_new_tokens=24, draft_length=3)
SAMPLED = replace(GREEDY, temperature=1.0)


def ending_at(token_id: int) -> LoadedModel:
    """A target whose texts end at this token."""
    return ending(tiny_model(seed=1, name="target"), token_id)


TARGET = ending_at(3)


@pytest.fixture(autouse=True)
def every_step_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "MESSAGE_SECONDS", 0.0)


def steps(settings: DecodeSettings, target: LoadedModel = TARGET) -> Iterator[JobEvent | None]:
    return run_steps(Run(7, RunRequest(PROMPT, settings=settings)), workshop_with(target, DRAFT))


def events_of(settings: DecodeSettings, target: LoadedModel = TARGET) -> list[JobEvent]:
    """What the server hears."""
    heard = [parse_event(dump_event(event)) for event in steps(settings, target) if event]
    assert all(heard)
    return heard  # type: ignore[return-value]


def result_of(events: list[JobEvent]) -> RunResult:
    view = JobView(7)
    for event in events:
        view = advance(view, event)
    assert isinstance(view.result, RunResult)
    return view.result


def test_after_each_round_the_target_alone_writes_as_many_tokens() -> None:
    settings = replace(GREEDY, stop_at_eos=False)
    runs = SpeculativeRun(TARGET, ModelDrafter(DRAFT), PROMPT, settings), AutoregressiveRun(TARGET, PROMPT, settings)
    made = list(take_turns(*runs))
    turns = [len(each.emitted_ids) if isinstance(each, Round) else 0 for each in made]
    expected = [number for turn in turns if turn for number in [turn, *[0] * turn]]
    assert turns == expected
    assert sum(turns) == 24


def test_both_lanes_grow_together_and_the_last_message_is_the_end() -> None:
    first, *going, last = events_of(replace(GREEDY, stop_at_eos=False))
    assert isinstance(first, Started)
    assert isinstance(last, Done)
    written = alone = 0
    for event in going:
        assert isinstance(event, Rounds)
        before = written
        written = len(event.output.token_ids)
        alone += len(event.plain.token_ids) if event.plain else 0
        assert alone <= written, "the target alone never is ahead"
        assert written == before or alone <= before, "a round begins when the target alone has caught up"
    assert written == alone == 24


@pytest.mark.parametrize(("end", "stopped_by"), [(5, "eos"), (3, "length")])
def test_a_greedy_run_is_what_both_decoders_write_by_themselves(end: int, stopped_by: str) -> None:
    target = ending_at(end)
    found = result_of(events_of(GREEDY, target))
    plain = autoregressive_decode(target, PROMPT, GREEDY)
    assert found.trace.autoregressive
    assert found.trace.autoregressive.token_ids == plain.output.token_ids == found.trace.output.token_ids
    assert found.trace.autoregressive.alternating
    assert found.plain_text == plain.output.text
    assert found.trace.output.stopped_by == plain.output.stopped_by == stopped_by
    assert parse_trace(dump_trace(found.trace)) == found.trace


def test_sampled_texts_are_those_of_separate_runs_and_the_longer_one_goes_on_alone() -> None:
    longer = shorter = 0
    for seed in range(12):
        settings = replace(SAMPLED, seed=seed)
        trace = result_of(events_of(settings)).trace
        assert trace.autoregressive
        assert (
            trace.output.token_ids == speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings).output.token_ids
        )
        assert trace.autoregressive.token_ids == autoregressive_decode(TARGET, PROMPT, settings).output.token_ids
        assert parse_trace(dump_trace(trace)) == trace
        alone = len(trace.autoregressive.token_ids) - len(trace.output.token_ids)
        longer, shorter = longer + (alone > 0), shorter + (alone < 0)
    assert min(longer, shorter) > 0, "every pair happened to end alike"


def test_a_run_stopped_in_the_middle_keeps_what_both_have_written() -> None:
    settings = replace(GREEDY, stop_at_eos=False)
    heard = [event for event in islice(steps(settings), 12) if event]
    trace = result_of(heard).trace
    assert trace.autoregressive
    assert 0 < len(trace.autoregressive.token_ids) <= len(trace.output.token_ids) < 24
    assert trace.output.stopped_by is None
