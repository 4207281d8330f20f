"""The loops on tiny random models: draft lengths that adapt, nothing read twice, ends, what is recorded and refused."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from transformers import GenerationConfig

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter
from specviz.core.metrics import by_position
from specviz.core.settings import SETTINGS, UNSURE_BELOW, DraftSchedule
from specviz.core.trace import DrafterInfo, Trace, dump_trace, parse_trace
from specviz.decoding import (
    Draft,
    DraftContext,
    Drafter,
    Proposer,
    autoregressive_decode,
    iter_speculative_decode,
    speculative_decode,
)
from specviz.decoding.draft_length import DraftLength
from specviz.models.loaded_model import LoadedModel
from tests.support.counted_reads import CountedReads
from tests.support.drawn import drawn_traces
from tests.support.tiny_models import ending, greedy_of_transformers, tiny_model

PROMPT = [1, 2, 3]
TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")  # starts from the target's own weights, so agrees now and then
DRAFTERS = [ModelDrafter(DRAFT), PromptLookupDrafter()]


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
    assert max(round.depth for round in trace.rounds) == 9


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_with_the_confidence_schedule_the_first_unsure_token_is_the_last_one(temperature: float) -> None:
    trace = speculative_decode(
        TARGET, ModelDrafter(DRAFT), PROMPT, settings_of("confidence", 6, 55, temperature=temperature)
    )
    short = full = 0
    written = 0
    for round in trace.rounds:
        probs = [token.draft_prob or 0.0 for token in round.drafted]
        most = min(6, 55 - written - 1)
        assert all(prob >= UNSURE_BELOW for prob in probs[:-1])
        assert len(probs) == most or probs[-1] < UNSURE_BELOW
        short, full = short + (len(probs) < most), full + (len(probs) == most)
        written += len(round.emitted_ids)
    assert short >= 3, "no round stopped early: this shows nothing"
    assert full >= 1, "every round stopped early: this shows nothing"


def test_the_schedule_is_checked_and_named() -> None:
    with pytest.raises(InputError, match="draft_schedule must be fixed, heuristic or confidence, not wild"):
        settings_of("wild")  # type: ignore[arg-type]


def growing() -> Trace:
    """A run whose rounds grow beyond the length they start from."""
    settings = settings_of("heuristic", length=1, tokens=40)
    return speculative_decode(TARGET, ModelDrafter(tiny_model(seed=1, name="twin")), PROMPT, settings)


def test_a_trace_without_a_schedule_reads_as_fixed() -> None:
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings_of("fixed"))
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
    (data,) = drawn_traces(trace)
    last = data["rounds"][-1]["after"]["positions"]
    assert last == [[place.accepted, place.judged] for place in by_position(trace.rounds, longest)]
    assert sum(judged for _, judged in last) == sum(round.accepted + round.rejected for round in trace.rounds)


def test_the_texts_say_what_transformers_does_by_default() -> None:
    default = GenerationConfig._get_default_generation_params()
    assert default["num_assistant_tokens_schedule"] == "constant"  # so not the heuristic
    assert f"up to {default['num_assistant_tokens']} tokens" in SETTINGS["draft_schedule"].help
    assert f"less than {default['assistant_confidence_threshold']}" in SETTINGS["draft_schedule"].help
    assert default["assistant_confidence_threshold"] == UNSURE_BELOW


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_model_that_drafts_for_itself_is_always_accepted(temperature: float) -> None:
    settings = DecodeSettings(max_new_tokens=30, draft_length=4, temperature=temperature)
    trace = speculative_decode(TARGET, ModelDrafter(TARGET), PROMPT, settings)
    assert all(token.status == "accepted" for round in trace.rounds for token in round.drafted)
    assert len(trace.rounds) == 6  # 30 tokens, 5 a round


@pytest.mark.parametrize(("draft", "full_accepts"), [(DRAFT, False), (tiny_model(seed=1, name="twin"), True)])
def test_no_token_is_read_twice_and_the_draft_reads_one_token_a_step(draft: LoadedModel, full_accepts: bool) -> None:
    target_reads, draft_reads = CountedReads(TARGET), CountedReads(draft)
    settings = DecodeSettings(max_new_tokens=40)
    trace = speculative_decode(target_reads.loaded, ModelDrafter(draft_reads.loaded), PROMPT, settings)
    assert target_reads.lengths == [2, *(len(round.drafted) + 1 for round in trace.rounds)]
    expected = [2]
    previous_full = False
    for round in trace.rounds:
        if round.drafted:
            expected += [2 if previous_full else 1] + [1] * (len(round.drafted) - 1)
        previous_full = round.emitted.kind == "bonus"
    assert draft_reads.lengths == expected
    assert (2 in expected[1:]) == full_accepts


class Parrot(Drafter, Proposer):
    """A drafter that proposes the same tokens in every round."""

    info = DrafterInfo("parrot", "parrot")

    def __init__(self, repeated: list[int]) -> None:
        self._repeated = repeated

    def begin(self, context: DraftContext) -> Proposer:
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        return Draft(self._repeated[:count], None)


def test_a_drafter_needs_only_info_and_begin_and_a_proposer_only_propose() -> None:
    """`Parrot` inherits everything else from the protocols."""
    parrot = Parrot([3])
    assert {name for name in vars(Parrot) if not name.startswith("_")} == {"info", "begin", "propose"}
    settings = DecodeSettings(max_new_tokens=12, draft_length=3)
    trace = speculative_decode(TARGET, parrot, PROMPT, settings)
    assert trace.output.token_ids == greedy_of_transformers(TARGET, PROMPT, 12)
    assert trace.drafter == Parrot.info
    assert parrot.loaded is None
    assert parrot.guess_along(TARGET, PROMPT, trace.output.token_ids) is None
    with pytest.raises(InputError, match="prompt is empty"):
        parrot.set_up(TARGET, [], settings)


def ending_target(end: int) -> LoadedModel:
    return ending(tiny_model(seed=1, name="target"), end)


def test_an_accepted_end_of_text_ends_the_output_inside_the_block() -> None:
    written = greedy_of_transformers(TARGET, PROMPT, 6)
    end = next(token for token in written[1:] if token not in written[:1])
    place = written.index(end)
    target = ending_target(end)
    drafted = written[:6]
    trace = speculative_decode(target, Parrot(drafted), PROMPT, DecodeSettings(max_new_tokens=10, draft_length=6))
    assert trace.output.token_ids == written[: place + 1]
    assert trace.output.stopped_by == "eos"
    only = trace.rounds[0]
    assert [token.status for token in only.drafted] == ["accepted"] * (place + 1) + ["discarded"] * (5 - place)
    assert (only.emitted.kind, only.emitted.id) == ("none", None)
    assert all(token.accept_prob is None for token in only.drafted[place + 1 :])
    assert trace.output.token_ids == autoregressive_decode(target, PROMPT, trace.settings).output.token_ids
    assert parse_trace(dump_trace(trace)) == trace

    ignoring = DecodeSettings(max_new_tokens=10, draft_length=6, stop_at_eos=False)
    assert len(speculative_decode(target, Parrot(drafted), PROMPT, ignoring).output.token_ids) == 10


@pytest.mark.parametrize(("tree", "depth"), [(None, 4), ("4,2,1", 3)])
def test_recorded_probabilities_are_the_rules_own(tree: str | None, depth: int) -> None:
    settings = DecodeSettings(40, draft_length=depth, tree=tree, temperature=1.0, top_k=5, seed=3)
    trace = speculative_decode(TARGET, DRAFTERS[0], PROMPT, settings)
    drafted = [(round, place, token) for round in trace.rounds for place, token in enumerate(round.drafted)]
    assert all((token.u is not None) == (token.status in ("accepted", "rejected")) for _, _, token in drafted)
    judged = [  # a later sibling is judged by what is left of p
        token
        for round, place, token in drafted
        if token.u is not None and not (tree and any(other.parent == token.parent for other in round.drafted[:place]))
    ]
    assert {token.status for token in judged} == {"accepted", "rejected"}
    for token in judged:
        assert token.target_prob is not None
        assert token.draft_prob
        assert token.accept_prob == pytest.approx(min(1, token.target_prob / token.draft_prob), rel=1e-5)
        assert token.u is not None
        assert (token.u < token.accept_prob) == (token.status == "accepted")
        mine = next(c for c in token.candidates if c.id == token.id)
        assert (mine.p, mine.q) == (token.target_prob, token.draft_prob)
        assert sum(c.p for c in token.candidates) <= 1 + 1e-5
    for round in trace.rounds:
        assert any(c.id == round.emitted.id for c in round.emitted.candidates)
        if round.emitted.kind == "correction":
            assert round.emitted.residual_top
            assert tree or round.drafted[round.accepted].id not in [r.id for r in round.emitted.residual_top]
        else:
            assert all(c.q is None for c in round.emitted.candidates)


def test_prompt_lookup_takes_the_longest_and_then_the_latest_match() -> None:
    lookup = PromptLookupDrafter(longest=3)
    #       0  1  2  3  4  5  6  7  8  9
    text = [1, 2, 3, 9, 5, 2, 3, 8, 2, 3]
    assert lookup.propose(text, 4).token_ids == [8, 2, 3]  # "2 3" last seen at 5
    assert lookup.propose([1, 2, 3, 9, 4, 2, 3, 8, 1, 2, 3], 2).token_ids == [9, 4]  # "1 2 3" beats the later "2 3"
    assert lookup.propose([1, 2, 3], 4).token_ids == []
    assert lookup.propose([1], 4).token_ids == []


@pytest.mark.parametrize(
    ("prompt", "tokens", "sentence"),
    [
        ("", 5, "prompt is empty"),
        ([], 5, "prompt is empty"),
        ([99], 5, "outside 0 to 6"),
        ([1] * 60, 5, "do not fit"),
    ],
)
def test_bad_input_is_one_sentence(prompt: str | list[int], tokens: int, sentence: str) -> None:
    settings = DecodeSettings(max_new_tokens=tokens)
    with pytest.raises(InputError, match=sentence):
        autoregressive_decode(TARGET, prompt, settings)
    with pytest.raises(InputError, match=sentence):
        iter_speculative_decode(TARGET, DRAFTERS[0], prompt, settings)


def test_every_setting_outside_its_range_is_named() -> None:
    wrong = {
        "max_new_tokens": 0,
        "draft_length": 17,
        "temperature": float("nan"),
        "top_k": 0,
        "top_p": 1.5,
        "seed": -1,
    }
    for name, value in wrong.items():
        with pytest.raises(InputError, match=name):
            DecodeSettings(**{name: value})


def test_different_tokenizers_are_refused_by_the_first_token_that_differs() -> None:
    stranger = tiny_model(seed=3, vocabulary=9, name="stranger")
    with pytest.raises(InputError, match=r"stranger cannot draft for target.*token 7"):
        speculative_decode(TARGET, ModelDrafter(stranger), PROMPT)
