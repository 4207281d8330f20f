"""The engine's work for a race, a run and a chat's game, on tiny pairs: whose turn it is, what is sent, how it ends."""

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from types import SimpleNamespace
from typing import Any
from weakref import ReferenceType, ref

import pytest
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

from specviz import DecodeSettings, InputError, autoregressive_decode, speculative_decode
from specviz.core.errors import DisturbedError
from specviz.core.languages import ENGLISH, set_language
from specviz.core.metrics import Costs
from specviz.core.request import RunRequest
from specviz.core.steps import result_of as value_of
from specviz.core.trace import dump_trace, parse_trace
from specviz.data.measured.measured_methods import Quiet
from specviz.data.measured.quiet_costs import MachineCosts, QuietCosts
from specviz.decoding import ModelDrafter
from specviz.game.game import LOOKUP, MODEL, GameRequest, Turn
from specviz.measure.race import RacePrompt, burst_texts
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel, chat_ids
from specviz.service import protocol as wire
from specviz.service.handlers import run as handler
from specviz.service.handlers.long import race_steps
from specviz.service.handlers.play import play_steps
from specviz.service.handlers.run import run_steps
from specviz.service.job import JobView, RunResult, advance
from specviz.service.limits import BudgetSpent
from specviz.service.service import say
from specviz.service.workshop import Workshop, run_in_thread
from tests.support.fake_workshop import workshop_with
from tests.support.known import known
from tests.support.pauses import listen_to_runs
from tests.support.tiny_models import ending, tiny_model, tokenizer_of, with_template, with_tokenizer

TARGET, DRAFT = tiny_model(seed=1, name="target"), tiny_model(seed=1, layers=1, name="draft")
TINY = workshop_with(TARGET, DRAFT)


def heard_of(steps: wire.JobSteps) -> list[Any]:
    """The events as the server has them: after their way through the pipe."""
    return [known(wire.parse_event(wire.dump_event(event))) for event in steps if event]


def items_of(steps: wire.JobSteps) -> list[Any]:
    return [event.item for event in heard_of(steps) if isinstance(event, wire.JobItem)]


def test_a_thread_of_a_job_speaks_its_language() -> None:
    set_language("es")
    try:
        assert value_of(run_in_thread(1, lambda: say("died"))) == say("died")
        assert say("died").startswith("El motor")
    finally:
        set_language(ENGLISH)


# ---- what a pair costs


def calibrations(monkeypatch: pytest.MonkeyPatch, *ends: Costs | None) -> list[ReferenceType[set[int]]]:
    """Each calibration from now on ends so (None: it was disturbed); returns what each has held in memory."""
    left, held = [*ends], list[ReferenceType[set[int]]]()

    def steps(*_: Any, **__: Any) -> Iterator[None]:
        assert not any(runs() is not None for runs in held), "260 MB more with 135 million parameters"
        runs: set[int] = set()
        held.append(ref(runs))
        yield
        if (costs := left.pop(0)) is None:
            raise DisturbedError("The repeats do not agree.")
        return SimpleNamespace(costs=costs)  # type: ignore[return-value]

    monkeypatch.setattr("specviz.service.workshop.calibration_steps", steps)
    return held


def calibrated(workshop: Workshop, **asked: int) -> list[wire.CostsResult]:
    return items_of(handler.calibrate_steps(wire.Calibrate(7, RunRequest(""), **asked), workshop))


FIRST, SECOND = (Costs(0.01, ratio, {1: 1.0}, 0.0) for ratio in (0.1, 0.2))


def test_costs_are_measured_again_for_a_later_attempt_only(monkeypatch: pytest.MonkeyPatch) -> None:
    calibrations(monkeypatch, FIRST, SECOND)
    workshop = workshop_with(TARGET, DRAFT)
    for attempt, costs in ((1, FIRST), (1, FIRST), (2, SECOND), (1, SECOND), (2, SECOND)):
        assert calibrated(workshop, attempt=attempt) == [wire.CostsResult(costs, attempt=attempt)]
    assert calibrated(workshop, done=1) == [], "it had its item"


def test_a_disturbed_calibration_is_tried_again_and_leaves_nothing_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    held = calibrations(monkeypatch, None, FIRST)
    assert calibrated(workshop_with(TARGET, DRAFT)) == [wire.CostsResult(FIRST)]
    assert len(held) == 2


def test_on_a_busy_machine_drafts_are_compared_by_the_costs_of_a_quiet_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = wire.GuessAlong(7, RunRequest(PROMPT, settings=DecodeSettings(max_new_tokens=8)), ["draft"])
    here = MachineCosts("", "AMD EPYC", describe_machine(), "target", "float32", Quiet(3.0), {"draft": SECOND})
    calibrations(monkeypatch, *[None] * 4)
    monkeypatch.setattr(handler, "quiet_costs", lambda: QuietCosts(1, [here]))
    (found,) = items_of(handler.guess_along_steps(asked, workshop_with(TARGET, DRAFT)))
    assert (found.costs, found.costs_of) == (SECOND, "AMD EPYC")
    monkeypatch.setattr(handler, "quiet_costs", lambda: QuietCosts(1, []))
    with pytest.raises(DisturbedError):
        list(handler.guess_along_steps(asked, workshop_with(TARGET, DRAFT)))


# ---- a race


def command(repeats: int = 2, **settings: Any) -> wire.Race:
    prompts = [RacePrompt("own-1", "w1 w2 w3"), RacePrompt("own-2", "w4 w2")]
    request = RunRequest("", settings=DecodeSettings(**{"max_new_tokens": 12, "draft_length": 3} | settings))
    return wire.Race(7, request, prompts, repeats)


def test_nothing_is_sent_on_the_clock_and_each_is_first_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def heard(name: str, *arguments: Any, **options: Any) -> None:
        said.append(name[:4])
        assert options.get("record", False) is False, "nothing is recorded on the clock"

    listen_to_runs(monkeypatch, heard)
    events = []
    for event in race_steps(command(repeats=3), TINY):
        if event:
            events.append(event)
            said.append("said")
    assert isinstance(events[0], wire.RunStarted)
    pairs = ["Auto", "Spec", "said", "Spec", "Auto", "said", "Auto", "Spec", "said"]
    assert said == ["said", *["said", "Spec", "Auto", "said", *pairs] * 2]
    assert [isinstance(event, wire.JobItem) for event in events[1:]] == [False, False, False, False, True] * 2
    assert events[2] == wire.JobProgress(7, "timing", 2, prompt="own-1", repeat=1, repeats=3)
    assert {event.total for event in events if isinstance(event, wire.JobProgress)} == {2}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_lap_on_a_tiny_pair(temperature: float) -> None:
    laps = items_of(race_steps(command(temperature=temperature), TINY))
    assert [found.name for found in laps] == ["own-1", "own-2"]
    for found in laps:
        assert len(found.ratios) == 2
        assert all(seconds > 0 for seconds in found.speculative_seconds + found.plain_seconds + found.plain_prefill)
        assert len(found.plain_tokens) == sum(map(len, burst_texts(found.speculative))) == 12
        assert found.identical is (None if temperature else True)


def in_repeat(repeat: int) -> Any:
    """The steps of a race, into the timing of this repeat of the first prompt."""
    steps = race_steps(command(repeats=5), TINY)
    while not isinstance(event := next(steps), wire.JobProgress) or event.repeat != repeat:
        pass
    next(steps)
    return steps


def test_a_race_whose_time_is_over_sends_the_repeats_it_has() -> None:
    steps = in_repeat(3)
    assert len(steps.throw(BudgetSpent(9)).item.ratios) == 2
    with pytest.raises(BudgetSpent, match="This job had its 9 seconds"):
        next(steps)
    with pytest.raises(BudgetSpent):
        in_repeat(1).throw(BudgetSpent(9))


def test_a_prompt_that_does_not_fit_is_named_before_anything_is_timed() -> None:
    short = tiny_model(seed=1, layers=1, name="draft", context=12)
    for draft, new_tokens, named in ((DRAFT, 64, "target"), (short, 12, "draft")):
        steps = race_steps(command(max_new_tokens=new_tokens), workshop_with(TARGET, draft))
        next(steps)
        with pytest.raises(InputError, match=rf"own-1: The prompt .* do not fit {named}'s context window"):
            next(steps)


# ---- a run

PROMPT = "w1 w2 w3"
OTHER = tiny_model(seed=2, layers=1, name="draft")
GREEDY = DecodeSettings(max_new_tokens=24, draft_length=3)
SAMPLED = replace(GREEDY, temperature=1.0)
ENDS = ending(TARGET, 3)


def events_of(settings: DecodeSettings, target: LoadedModel = ENDS) -> list[wire.JobEvent]:
    return heard_of(run_steps(wire.Run(7, RunRequest(PROMPT, settings=settings)), workshop_with(target, OTHER)))


def result_of(events: list[wire.JobEvent]) -> RunResult:
    return known(reduce(advance, events, JobView(7)).run)


def test_both_lanes_grow_together_and_the_last_message_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "MESSAGE_SECONDS", 0.0)  # every step is sent
    first, *going, last = heard = events_of(replace(GREEDY, stop_at_eos=False))
    assert (type(first), type(last)) == (wire.RunStarted, wire.RunDone)
    written = alone = 0
    for event in going:
        before = written
        written = len(event.output.token_ids)
        alone += len(event.plain.token_ids) if event.plain else 0
        assert alone <= written, "the target alone never is ahead"
        assert written == before or alone <= before, "a round begins when the target alone has caught up"
    assert written == alone == 24
    half = result_of(heard[: len(heard) // 2]).trace  # what is left of a run that is stopped in the middle
    assert 0 < len(known(half.autoregressive).token_ids) <= len(half.output.token_ids) < 24
    assert half.output.stopped_by is None


def test_a_runs_texts_are_those_that_each_decoder_writes_by_itself_and_the_longer_one_goes_on_alone() -> None:
    alone, stops = list[int](), set[str | None]()
    runs = [(GREEDY, ending(TARGET, 5)), (GREEDY, ENDS), *((replace(SAMPLED, seed=seed), ENDS) for seed in range(12))]
    for settings, target in runs:
        found = result_of(events_of(settings, target))
        trace, plain = found.trace, known(found.trace.autoregressive)
        ours = speculative_decode(target, ModelDrafter(OTHER), PROMPT, settings)
        single = autoregressive_decode(target, PROMPT, settings)
        assert (trace.output, plain.token_ids) == (ours.output, single.output.token_ids)
        assert (found.plain_text, plain.alternating) == (single.output.text, True)
        assert parse_trace(dump_trace(trace)) == trace
        alone.append(len(plain.token_ids) - len(trace.output.token_ids))
        stops.add(trace.output.stopped_by)
    assert alone[:2] == [0, 0]
    assert min(alone) < 0 < max(alone), "every pair happened to end alike"
    assert stops == {"eos", "length"}


CHAT_PROMPT = "w4 w6 w4"
CHAT = DecodeSettings(max_new_tokens=4, prompt_format="chat")


@pytest.fixture
def talker() -> LoadedModel:
    """Its tokenizer begins every text with a mark, as those of many chat models do."""
    made = with_template()
    mark = TemplateProcessing(single="w0 $A", special_tokens=[("w0", 0)])
    made.tokenizer.backend_tokenizer.post_processor = mark
    return made


def played(target: LoadedModel, action: Any, draft: Any = None, **ask: Any) -> Turn:
    command = wire.Play(3, RunRequest(CHAT_PROMPT, "talker", MODEL, settings=CHAT), GameRequest(action, **ask))
    draft = draft or tiny_model(seed=2, name=MODEL)
    (turn,) = items_of(play_steps(command, workshop_with(target, draft)))
    return turn


def test_a_persons_words_are_the_answer_that_the_models_own_template_begins(talker: LoadedModel) -> None:
    asked = chat_ids(talker, [("user", CHAT_PROMPT)])
    own = autoregressive_decode(talker, CHAT_PROMPT, CHAT).output.token_ids
    turn = played(talker, "guess", guess=f" w{own[0]}  w{own[1]}")
    assert (turn.round.accepted, turn.text_ids) == (2, [*asked, *own[:3]])
    assert turn.text == CHAT_PROMPT + " ".join(f"w{number}" for number in own[:3])
    assert (turn.trace.prompt.text, turn.trace.prompt.token_ids) == (CHAT_PROMPT, asked)
    assert set(turn.rivals) == {MODEL, LOOKUP}
    assert turn.rivals[MODEL].emitted_ids == own[: len(turn.rivals[MODEL].emitted_ids)], "in the same chat"
    after = played(talker, "skip", text_ids=turn.text_ids)
    assert after.text == f"{turn.text} w{own[3]}"
    assert (after.trace.prompt.text, after.round.drafted, after.rivals, after.scored) == (turn.text, [], {}, False)
    for each in (turn, after):
        assert parse_trace(dump_trace(each.trace)).settings.prompt_format == "chat"


def test_the_answer_ends_with_the_turn_and_may_be_empty(talker: LoadedModel) -> None:
    own = autoregressive_decode(talker, CHAT_PROMPT, CHAT).output.token_ids
    turn = played(ending(talker, own[1]), "guess", guess=f"w{own[0]}")
    assert turn.ended
    silent = played(ending(talker, own[0]), "skip")
    assert silent.ended
    assert silent.text.startswith(CHAT_PROMPT)


def test_a_draft_with_other_tokens_plays_through_the_text(talker: LoadedModel) -> None:
    other = tokenizer_of({f"w{number}": 6 - number for number in range(7)})
    other.backend_tokenizer.pre_tokenizer = WhitespaceSplit()
    stranger = with_tokenizer(tiny_model(seed=2, name=MODEL), other)
    own = autoregressive_decode(talker, CHAT_PROMPT, CHAT).output.token_ids
    offered = played(talker, "offer", stranger, offers=True)
    assert any(offer.token_ids[: len(own)] == own for offer in offered.offers)
    assert not offered.joins, "the answer has not begun"
    turn = played(talker, "guess", stranger, picked=own[:2])
    assert turn.rivals[MODEL].emitted_ids
