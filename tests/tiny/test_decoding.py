"""The two loops on tiny random models: the same output, the same distribution, nothing read twice."""

from collections import Counter
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter
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
from specviz.models.loaded_model import LoadedModel
from tests.support.counted_reads import CountedReads
from tests.support.joint import FALSE_ALARM, exact_joint, p_value
from tests.support.tiny_models import ending, tiny_model

PROMPT = [1, 2, 3]
TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")  # starts from the target's own weights, so agrees now and then
DRAFTERS = [ModelDrafter(DRAFT), PromptLookupDrafter()]


def greedy_of_transformers(target: LoadedModel, prompt: Sequence[int], tokens: int) -> list[int]:
    written = target.model.generate(
        torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt)), max_new_tokens=tokens, do_sample=False
    )
    return list(written[0, len(prompt) :].tolist())


@pytest.mark.parametrize("drafter", DRAFTERS, ids=["model", "lookup"])
@pytest.mark.parametrize("draft_length", [1, 2, 3, 5, 16])
def test_greedy_output_is_the_targets_own(drafter: Drafter, draft_length: int) -> None:
    settings = DecodeSettings(max_new_tokens=24, draft_length=draft_length)
    for first in range(6):
        prompt = [first, 2, 5]
        expected = greedy_of_transformers(TARGET, prompt, 24)
        assert autoregressive_decode(TARGET, prompt, settings).output.token_ids == expected
        assert speculative_decode(TARGET, drafter, prompt, settings).output.token_ids == expected


def test_the_tiny_pair_accepts_some_and_rejects_some() -> None:
    trace = speculative_decode(TARGET, DRAFTERS[0], PROMPT, DecodeSettings(max_new_tokens=40))
    statuses = Counter(token.status for round in trace.rounds for token in round.drafted)
    assert min(statuses["accepted"], statuses["rejected"], statuses["discarded"]) >= 3


@pytest.mark.parametrize("drafter", DRAFTERS, ids=["model", "lookup"])
@pytest.mark.parametrize(
    "warping", [{"temperature": 1.0}, {"temperature": 0.7, "top_k": 4}, {"temperature": 1.3, "top_p": 0.8}]
)
def test_sampled_text_is_distributed_as_the_targets(drafter: Drafter, warping: dict[str, float]) -> None:
    """chi-squared over the joint distribution of three tokens, 800 seeds, at 1 in 10,000.

    Six such tests with fixed seeds: were the rule right and the seeds new, one of the six would fail by chance with
    odds of about 6 in 10,000; with these seeds it is decided once and for all.
    """
    settings = DecodeSettings(max_new_tokens=3, draft_length=2, **warping)
    prompt = [1, 2, 1, 2, 1]  # so that prompt lookup has something to find
    expected = exact_joint(TARGET, prompt, settings, 3)
    runs = 800
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(runs):
        one = DecodeSettings(max_new_tokens=3, draft_length=2, seed=seed, **warping)
        seen[tuple(speculative_decode(TARGET, drafter, prompt, one, record=False).output.token_ids)] += 1
    assert p_value(seen, expected) > FALSE_ALARM


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


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("drafter", DRAFTERS, ids=["model", "lookup"])
def test_same_seed_same_trace_and_a_written_trace_reads_back(drafter: Drafter, temperature: float) -> None:
    settings = DecodeSettings(max_new_tokens=20, temperature=temperature, seed=5)
    one, other = (speculative_decode(TARGET, drafter, PROMPT, settings) for _ in range(2))
    assert untimed(one) == untimed(other)
    assert parse_trace(dump_trace(one)) == one
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    speculative_decode(TARGET, drafter, PROMPT, settings)
    assert torch.equal(before, torch.random.get_rng_state()), "the global generator was touched"


def untimed(trace: Trace) -> list[object]:
    return [(round.index, round.drafted, round.emitted) for round in trace.rounds]


def test_recorded_probabilities_are_the_rules_own() -> None:
    trace = speculative_decode(
        TARGET, DRAFTERS[0], PROMPT, DecodeSettings(max_new_tokens=40, temperature=1.0, top_k=5, seed=3)
    )
    judged = [token for round in trace.rounds for token in round.drafted if token.status != "discarded"]
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
            assert round.drafted[round.accepted].id not in [r.id for r in round.emitted.residual_top]
        else:
            assert all(c.q is None for c in round.emitted.candidates)


def test_recording_changes_nothing_but_what_is_recorded() -> None:
    for temperature in (0.0, 1.0):
        settings = DecodeSettings(max_new_tokens=30, temperature=temperature)
        on = speculative_decode(TARGET, DRAFTERS[0], PROMPT, settings)
        off = speculative_decode(TARGET, DRAFTERS[0], PROMPT, settings, record=False)
        assert off.output == on.output
        assert [r.accepted for r in off.rounds] == [r.accepted for r in on.rounds]
        assert off.rounds[0].drafted[0].target_prob is None


class OddOnly:
    """A constraint: odd token ids alone."""

    def allowed(self, text: Sequence[int]) -> Tensor:
        return torch.arange(7) % 2 == 1


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_constraint_binds_both_models(temperature: float) -> None:
    settings = DecodeSettings(max_new_tokens=20, temperature=temperature)
    plain = autoregressive_decode(TARGET, PROMPT, settings, constraint=OddOnly())
    trace = speculative_decode(TARGET, DRAFTERS[0], PROMPT, settings, constraint=OddOnly())
    written = [token.id for round in trace.rounds for token in round.drafted] + trace.output.token_ids
    assert all(token % 2 for token in written)
    if temperature == 0:
        assert trace.output.token_ids == plain.output.token_ids


def test_rounds_come_one_by_one() -> None:
    rounds = iter_speculative_decode(TARGET, DRAFTERS[0], PROMPT, DecodeSettings(max_new_tokens=20))
    assert next(rounds).index == 0
    assert next(rounds).index == 1


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


def test_the_context_window_may_be_filled_to_the_last_token() -> None:
    settings = DecodeSettings(max_new_tokens=61)
    assert len(speculative_decode(TARGET, DRAFTERS[0], PROMPT, settings).output.token_ids) == 61


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
