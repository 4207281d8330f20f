"""Draft lengths that adapt: by hand, against plain decoding, and as data that others read."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from scipy.stats import chisquare
from transformers import GenerationConfig

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter
from specviz.core.metrics import by_position, longest_draft
from specviz.core.request import RunRequest
from specviz.core.settings import DRAFT_SCHEDULES, DraftSchedule
from specviz.core.trace import DrafterInfo, Trace, dump_trace, parse_trace
from specviz.data.permalink import link_of, request_from_link
from specviz.decoding import Draft, DraftContext, Drafter, Proposer, speculative_decode
from specviz.decoding.draft_length import UNSURE_BELOW, DraftLength
from specviz.player.data import stage_data
from specviz.ui.shared.run_controls import SCHEDULE_HELP
from tests.support.tiny_models import tiny_model
from tests.tiny.test_decoding import DRAFTERS, PROMPT, TARGET, exact_joint, greedy_of_transformers


def settings_of(schedule: DraftSchedule, length: int = 4, tokens: int = 24, **others: float) -> DecodeSettings:
    return DecodeSettings(max_new_tokens=tokens, draft_length=length, draft_schedule=schedule, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "rounds", "lengths"),
    [
        (4, [(4, 4), (6, 6), (8, 3), (7, 0)], [6, 8, 7, 6]),  # 2 more after all, 1 fewer after any other
        (2, [(2, 1), (1, 0), (1, 0), (1, 1)], [1, 1, 1, 3]),  # never below 1
        (14, [(14, 14), (16, 16), (16, 15)], [16, 16, 15]),  # never above 16
        (
            5,
            [(0, 0), (3, 3), (0, 0)],
            [5, 7, 7],
        ),  # without drafted tokens no change; all accepted of fewer than asked for counts
    ],
)
def test_the_heuristic_by_hand(start: int, rounds: list[tuple[int, int]], lengths: list[int]) -> None:
    length = DraftLength(settings_of("heuristic", start))
    seen = []
    for drafted, accepted in rounds:
        length.update(drafted, accepted)
        seen.append(length.tokens)
    assert seen == lengths


@pytest.mark.parametrize("schedule", ["fixed", "confidence"])
def test_other_schedules_do_not_change_the_draft_length(schedule: DraftSchedule) -> None:
    length = DraftLength(settings_of(schedule))
    for accepted in (4, 0, 4, 2):
        length.update(4, accepted)
        assert length.tokens == 4


class Scripted(Drafter, Proposer):
    """A drafter that knows the target's output, and in each round gets a given number of tokens right."""

    info = DrafterInfo("scripted", "scripted")

    def __init__(self, written: list[int], right: list[int]) -> None:
        self._written, self._right = written, list(right)
        self.asked: list[int] = []

    def begin(self, context: DraftContext) -> Proposer:
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        at, right = len(token_ids) - len(PROMPT), self._right.pop(0)
        self.asked.append(count)
        guesses = self._written[at : at + count]
        return Draft([token if i < right else (token + 1) % 7 for i, token in enumerate(guesses)], None)


def test_the_loop_asks_for_the_heuristics_draft_length() -> None:
    drafter = Scripted(greedy_of_transformers(TARGET, PROMPT, 40), right=[9, 1, 9, 0, 9, 9, 9, 9])
    trace = speculative_decode(TARGET, drafter, PROMPT, settings_of("heuristic", length=3, tokens=40))
    # accepted: all, 1, all, none, all, all, all; then there is room for 3
    assert drafter.asked == [3, 5, 4, 6, 5, 7, 9, 3]
    assert [round.accepted for round in trace.rounds[:6]] == [3, 1, 4, 0, 5, 7]
    assert longest_draft(trace) == 9


@pytest.mark.parametrize("drafter", DRAFTERS, ids=["model", "lookup"])
@pytest.mark.parametrize("schedule", ["heuristic", "confidence"])
@pytest.mark.parametrize("length", [1, 4, 16])
def test_greedy_output_is_the_targets_own(drafter: Drafter, schedule: DraftSchedule, length: int) -> None:
    for first in range(4):
        prompt = [first, 2, 5]
        expected = greedy_of_transformers(TARGET, prompt, 24)
        trace = speculative_decode(TARGET, drafter, prompt, settings_of(schedule, length))
        assert trace.output.token_ids == expected
        assert parse_trace(dump_trace(trace)) == trace


def surest_first(trace: Trace) -> list[list[float]]:
    return [[token.draft_prob or 0.0 for token in round.drafted] for round in trace.rounds]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_with_the_confidence_schedule_the_first_unsure_token_is_the_last_one(temperature: float) -> None:
    trace = speculative_decode(TARGET, DRAFTERS[0], PROMPT, settings_of("confidence", 6, 55, temperature=temperature))
    short = full = 0
    written = 0
    for round, probs in zip(trace.rounds, surest_first(trace), strict=True):
        most = min(6, 55 - written - 1)
        assert all(prob >= UNSURE_BELOW for prob in probs[:-1])
        assert len(probs) == most or probs[-1] < UNSURE_BELOW
        short, full = short + (len(probs) < most), full + (len(probs) == most)
        written += len(round.emitted_ids)
    assert short >= 3, "no round stopped early: this shows nothing"
    assert full >= 1, "every round stopped early: this shows nothing"


def test_the_confidence_schedule_does_not_change_prompt_lookup() -> None:
    runs = [
        speculative_decode(TARGET, PromptLookupDrafter(), [1, 2, 1, 2, 1], settings_of(schedule)).rounds
        for schedule in ("fixed", "confidence")
    ]
    assert [r.drafted for r in runs[0]] == [r.drafted for r in runs[1]]


@pytest.mark.parametrize(("schedule", "temperature"), [("heuristic", 1.0), ("confidence", 1.0), ("confidence", 0.8)])
def test_sampled_text_is_distributed_as_the_targets(schedule: DraftSchedule, temperature: float) -> None:
    """chi-squared over the joint distribution of three tokens, 800 seeds, at 1 in 10,000.

    Three such tests: were the rule right and the seeds new, one of the three would fail by chance with odds of about 3
    in 10,000; with these fixed seeds it is decided once and for all.
    """
    settings = settings_of(schedule, length=2, tokens=3, temperature=temperature)
    expected = exact_joint(TARGET, PROMPT, settings, 3)
    runs = 800
    seen: Counter[tuple[int, ...]] = Counter()
    lengths: Counter[int] = Counter()
    for seed in range(runs):
        trace = speculative_decode(TARGET, DRAFTERS[0], PROMPT, replace(settings, seed=seed), record=False)
        seen[tuple(trace.output.token_ids)] += 1
        lengths[len(trace.rounds[0].drafted)] += 1
    if schedule == "confidence":
        assert min(lengths[1], lengths[2]) > runs / 20, "the confidence decides nothing here"
    assert set(seen) <= set(expected)
    common = [text for text, chance in expected.items() if chance * runs >= 5]
    observed = [*(seen[text] for text in common), runs - sum(seen[text] for text in common)]
    wanted = [*(expected[text] * runs for text in common), runs * (1 - sum(expected[text] for text in common))]
    scale = sum(observed) / sum(wanted)
    assert chisquare(observed, [value * scale for value in wanted]).pvalue > 1e-4


def test_the_schedule_is_checked_and_named() -> None:
    with pytest.raises(InputError, match="draft_schedule must be fixed, heuristic or confidence, not wild"):
        settings_of("wild")  # type: ignore[arg-type]


def growing() -> Trace:
    """A run whose rounds grow beyond the length they start from."""
    settings = settings_of("heuristic", length=1, tokens=40)
    return speculative_decode(TARGET, ModelDrafter(tiny_model(seed=1, name="twin")), PROMPT, settings)


def test_a_trace_without_a_schedule_reads_as_fixed() -> None:
    trace = speculative_decode(TARGET, DRAFTERS[0], PROMPT, settings_of("fixed"))
    old = json.loads(dump_trace(trace))
    assert old["settings"].pop("draft_schedule") == "fixed"
    assert parse_trace(json.dumps(old)) == trace


def test_a_heuristic_round_may_have_the_longest_draft_length() -> None:
    trace = growing()
    assert max(len(round.drafted) for round in trace.rounds) > 1
    assert parse_trace(dump_trace(trace)) == trace
    for schedule in ("fixed", "confidence"):
        claimed = replace(trace, settings=replace(trace.settings, draft_schedule=schedule))
        with pytest.raises(InputError, match="more than draft_length"):
            parse_trace(dump_trace(claimed))
    first = trace.rounds[-1].drafted[0]
    stuffed = replace(trace.rounds[-1], drafted=[first] * 17)
    with pytest.raises(InputError, match="drafts 17 tokens, more than 16"):
        parse_trace(dump_trace(replace(trace, rounds=[*trace.rounds[:-1], stuffed])))


def test_the_stage_and_the_figures_know_every_position_of_the_longest_round() -> None:
    trace = growing()
    longest = max(len(round.drafted) for round in trace.rounds)
    assert longest_draft(trace) == longest
    last = stage_data(trace, run_id="r", source="live", running=False)["rounds"][-1]["after"]["positions"]
    assert last == [(place.accepted, place.judged) for place in by_position(trace.rounds, longest)]
    assert sum(judged for _, judged in last) == sum(round.accepted + round.rejected for round in trace.rounds)
    assert longest_draft(replace(trace, rounds=[])) == trace.settings.draft_length


@pytest.mark.parametrize("schedule", DRAFT_SCHEDULES)
def test_a_link_carries_the_schedule(schedule: DraftSchedule) -> None:
    request = RunRequest("Once upon a time", settings=settings_of(schedule, tokens=64))
    link = link_of(request)
    assert link["schedule"] == schedule
    linked = request_from_link(link, [request.target, request.draft])
    assert linked.request == request
    assert linked.problems == []


def test_a_link_without_a_schedule_or_with_an_unknown_one_is_fixed() -> None:
    assert request_from_link({}, []).request.settings.draft_schedule == "fixed"
    linked = request_from_link({"schedule": "wild"}, [])
    assert linked.request.settings.draft_schedule == "fixed"
    assert linked.problems == ["schedule=wild is not a draft length schedule known here: using fixed."]


def test_the_texts_say_what_transformers_does_by_default() -> None:
    default = GenerationConfig._get_default_generation_params()
    assert default["num_assistant_tokens_schedule"] == "constant"  # so not the heuristic
    assert f"up to {default['num_assistant_tokens']} tokens" in SCHEDULE_HELP
    assert f"less than {default['assistant_confidence_threshold']}" in SCHEDULE_HELP
    assert default["assistant_confidence_threshold"] == UNSURE_BELOW
