"""Drafts with other tokens than the target's: the output stays the target's own, and nothing is read twice.

Where the draft's tokens are the first of the target's, or the other way round, the pair is lossless at any temperature:
chi-squared over the joint distribution of three tokens, see `tests.support.joint`. With another tokenizer it drafts by
way of the text, at temperature 0.
"""

import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from specviz import DecodeSettings, ModelDrafter, PromptLookupDrafter, make_drafter
from specviz.core.metrics import count
from specviz.core.trace import Trace
from specviz.decoding import TranslatedDrafter, autoregressive_decode, fit_drafter, speculative_decode
from specviz.decoding.drafters.translated import TextTokens
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import check_pair, same_numbers
from tests.support.counted_reads import CountedReads
from tests.support.grids import grid
from tests.support.joint import FALSE_ALARM, p_value_of_loop
from tests.support.strategies import refusal
from tests.support.tiny_models import ending, greedy_of_transformers, save, tiny_model, tokenizer_of, with_tokenizer
from tests.support.tokenizers import (
    CODE,
    KINDS,
    LETTERS,
    STORY,
    learned_model,
    random_model,
    taught,
    tokenizer,
)

# ---- fewer tokens, or more

FEW, MANY = 5, 9
TARGET = tiny_model(seed=1, vocabulary=MANY, name="target")
DRAFT = tiny_model(seed=1, vocabulary=FEW, layers=1, name="draft")
PROMPT = [1, 7, 2, 1]  # with a token that the draft does not have
RUNS = 1000
WAYS: dict[str, dict[str, object]] = {
    "a chain": {},
    "top-k": {"top_k": 7},  # more than the draft has
    "block verification": {"verification": "block"},
    "a tree with more children than the draft has tokens": {"tree": "8,1", "draft_length": 2},
    "the best paths": {"tree": "dynamic:12"},
}


def settings_of(way: str) -> DecodeSettings:
    return DecodeSettings(**({"draft_length": 3, "temperature": 0.8} | WAYS[way]))  # type: ignore[arg-type]


@pytest.mark.parametrize("way", grid(WAYS, ("a chain",)))
def test_a_draft_with_fewer_tokens_leaves_the_targets_distribution(way: str) -> None:
    assert p_value_of_loop(TARGET, ModelDrafter(DRAFT), PROMPT, settings_of(way), runs=RUNS) > FALSE_ALARM


@pytest.mark.parametrize("way", grid([way for way in WAYS if way != "top-k"], ("block verification",)))
def test_a_draft_with_more_tokens_leaves_the_targets_distribution(way: str) -> None:
    assert p_value_of_loop(DRAFT, ModelDrafter(TARGET), [1, 2, 1], settings_of(way), runs=RUNS) > FALSE_ALARM


def test_a_constraint_may_allow_only_tokens_that_the_draft_does_not_have() -> None:
    mask = torch.tensor([token in (6, 8) for token in range(MANY)])
    pair, only = (TARGET, ModelDrafter(DRAFT)), SimpleNamespace(allowed=lambda _: mask)
    assert p_value_of_loop(*pair, PROMPT, settings_of("a chain"), runs=RUNS, constraint=only) > FALSE_ALARM


def test_q_of_the_other_tokens_is_0_and_the_target_writes_them() -> None:
    settings = DecodeSettings(max_new_tokens=40, temperature=0.8)
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    drafted = [token for round in trace.rounds for token in round.drafted]
    assert {each.q for token in drafted for each in token.candidates if each.id >= FEW} == {0}
    assert max(trace.output.token_ids) >= FEW > max(token.id for token in drafted)


@pytest.mark.parametrize("few_first", [False, True])
@pytest.mark.parametrize("marks", [False, True])
def test_such_a_pair_drafts_in_tokens_where_it_can(few_first: bool, marks: bool, tmp_path: Path) -> None:
    """Of words that one of them lacks, a greedy draft can still make a text."""
    words = tokenizer_of({f"w{i}": i for i in range(FEW)})
    words.add_special_tokens({"additional_special_tokens": [f"w{i}" for i in range(FEW, MANY)]})
    pair = (DRAFT, TARGET) if few_first else (TARGET, DRAFT)
    target, draft = (with_tokenizer(each, words) if marks and each is TARGET else each for each in pair)
    names = [str(save(each, tmp_path / each.name)) for each in (target, draft)]
    for temperature in (0.0, 0.8):
        direct = marks or temperature > 0
        drafter = make_drafter(names[1], target, DecodeSettings(temperature=temperature))
        assert isinstance(drafter, ModelDrafter if direct else TranslatedDrafter)
        assert bool(check_pair(*names, greedy=temperature == 0)[1]) == (not direct)


def test_the_same_numbers_mean_the_same_tokens() -> None:
    words = {f"w{i}": i for i in range(6)}
    alike = [words, {**words, "a": 6, "b": 7}, {**words, "a": 8}, {"w0": 0, "w1": 1}]  # 7 stands for nothing
    others = [{**words, "w1": 2, "w2": 1}, {**words, "w5": 6, "a": 5}, {"w0": 0, "w2": 2}]
    ours = tokenizer_of(words)
    for theirs in (*alike, *others):
        other = tokenizer_of(theirs)
        assert same_numbers(ours, other) == same_numbers(other, ours) == (theirs in alike)


# ---- another tokenizer


def translated(target: LoadedModel, draft: LoadedModel, prompt: str | list[int], **settings: int) -> Trace:
    drafter = fit_drafter(target, draft, DecodeSettings())
    assert isinstance(drafter, TranslatedDrafter)
    return speculative_decode(target, drafter, prompt, DecodeSettings(**settings))


@pytest.mark.parametrize("text", [STORY, LETTERS])
@pytest.mark.parametrize(
    ("target", "draft"),
    [("story", "bare"), ("bare", "story"), ("code", "spaces"), ("spaces", "story"), ("story", "code")],
)
def test_two_models_that_know_one_text_agree_on_it_in_different_tokens(target: str, draft: str, text: str) -> None:
    """Accents, emoji and other scripts included: in both tokenizers a token may be a part of a character.

    The prompt is two words, which end where a token ends in both tokenizers. Elsewhere the draft would read tokens it
    has never seen, and what it guesses after them depends on how its training went.
    """
    big, small = learned_model(target, text), learned_model(draft, text)
    ours, begun = TextTokens(big.tokenizer), " ".join(text.split()[:2])
    prompt, whole = ours.open(begun), ours.open(text)
    rest = whole[len(prompt) :]
    assert whole == [*prompt, *rest]
    trace = translated(big, small, prompt, max_new_tokens=len(rest), draft_length=6)
    assert trace.output.token_ids == rest == greedy_of_transformers(big, prompt, len(rest))
    assert big.tokenizer.decode([*prompt, *trace.output.token_ids], skip_special_tokens=True) == text
    counts = count(trace.rounds)
    assert counts.accepted >= 0.6 * len(rest)
    assert counts.rejected < counts.accepted / 2


@pytest.mark.parametrize(("target", "draft"), [("story", "bare"), ("code", "spaces")])
def test_no_token_is_read_twice(target: str, draft: str) -> None:
    big, good, bad = learned_model(target, STORY), learned_model(draft, STORY), random_model(draft, seed=2)
    for small in (good, bad):
        ours, theirs = CountedReads(big), CountedReads(small)
        trace = translated(ours.loaded, theirs.loaded, STORY[:9], max_new_tokens=24, draft_length=4)
        assert ours.lengths[1:] == [len(round.drafted) + 1 for round in trace.rounds]
        assert ours.again == theirs.again == 0
        said = TextTokens(small.tokenizer).spell(theirs.text[: theirs.lengths[0]])
        assert STORY.startswith(said)
        assert max(theirs.lengths[1:]) <= 8  # what the target changed and added, never the whole text again


def test_the_drafts_end_of_text_is_proposed_as_the_targets() -> None:
    texts = {kind: [*TextTokens(tokenizer(kind)).open("Once upon a time"), 0] for kind in ("story", "code")}
    big, small = (ending(taught(kind, ids), 0) for kind, ids in texts.items())  # </s> in both
    trace = translated(big, small, "Once upon", max_new_tokens=40, draft_length=12)
    assert (trace.output.stopped_by, trace.output.text) == ("eos", " a time")
    last = trace.rounds[-1]
    assert (last.drafted[-1].text, last.drafted[-1].status, last.emitted.kind) == ("</s>", "accepted", "none")
    assert last.draft_tokens[-1] == "</s>"
    assert trace.output.token_ids == autoregressive_decode(big, "Once upon", trace.settings).output.token_ids


def test_a_pair_gets_the_drafter_that_fits_it_and_sampling_and_another_target_are_refused_unread() -> None:
    big, small = random_model("story"), random_model("code")
    assert isinstance(fit_drafter(big, random_model("story", seed=2), DecodeSettings()), ModelDrafter)
    assert isinstance(fit_drafter(big, None, DecodeSettings(temperature=1)), PromptLookupDrafter)
    ours, theirs = CountedReads(big), CountedReads(small)
    drafter, sampled = TranslatedDrafter(theirs.loaded, ours.loaded), DecodeSettings(temperature=0.3)
    for refused in (
        lambda: fit_drafter(ours.loaded, theirs.loaded, sampled),
        lambda: speculative_decode(ours.loaded, drafter, STORY, sampled),
    ):
        assert refusal(refused).startswith("code can draft for story at temperature 0 only")
    said = refusal(lambda: speculative_decode(random_model("bare"), drafter, STORY))
    assert said.startswith("code was made for another model than bare")
    assert ours.lengths == theirs.lengths == []


NARROW = with_tokenizer(tiny_model(seed=1, vocabulary=258, name="narrow"), tokenizer("bare"))  # 64 tokens


def test_a_text_must_fit_both_context_windows_in_their_own_tokens() -> None:
    wide, text, settings = random_model("story"), STORY[:60], DecodeSettings(max_new_tokens=8)
    said = refusal(lambda: speculative_decode(wide, TranslatedDrafter(NARROW, wide), text, settings))
    assert "60 tokens) and 8 new tokens do not fit" in said
    assert "64 tokens" in said
    said = refusal(lambda: speculative_decode(NARROW, TranslatedDrafter(wide, NARROW), text, settings))
    assert "do not fit narrow's context window" in said


def test_a_draft_whose_window_fills_up_stops_drafting() -> None:
    """Its tokens are shorter than the target's, so the text may outgrow its window though the prompt fits."""
    big, reads = learned_model("story", STORY), CountedReads(NARROW)
    prompt = TextTokens(big.tokenizer).open(STORY)[:3]
    trace = translated(big, reads.loaded, prompt, max_new_tokens=20, draft_length=4)
    assert trace.output.token_ids == greedy_of_transformers(big, prompt, 20)
    assert len(big.tokenizer.decode([*prompt, *trace.output.token_ids])) > 64 >= len(reads.text)
    assert trace.rounds[-2].draft_tokens == []


def test_the_trace_stores_both_tokenizations_and_no_q_and_a_constraint_binds_the_target() -> None:
    big, small = learned_model("code", STORY), learned_model("spaces", STORY)
    trace = translated(big, small, "Once upon", max_new_tokens=12, draft_length=6)
    first = trace.rounds[0]
    assert first.draft_tokens == [" a", " time"]
    assert [token.text for token in first.drafted] == [" ", "a", " ", "t", "i", "m"]
    assert (trace.drafter.kind, trace.drafter.name) == ("model", "spaces")
    for token in first.drafted:
        assert (token.draft_prob, {candidate.q for candidate in token.candidates}) == (None, {None})
        assert token.target_prob is not None
    unrecorded = speculative_decode(big, TranslatedDrafter(small, big), "Once upon", trace.settings, record=False)
    assert [round.draft_tokens for round in unrecorded.rounds] == [round.draft_tokens for round in trace.rounds]
    settings, ids = replace(trace.settings, stop_at_eos=False), torch.arange(len(big.tokenizer))
    even = SimpleNamespace(allowed=lambda text: ids % 2 == 0)
    plain = autoregressive_decode(big, "Once upon", settings, constraint=even)
    bound = speculative_decode(big, TranslatedDrafter(small, big), "Once upon", settings, constraint=even)
    assert bound.output.token_ids == plain.output.token_ids
    assert all(token % 2 == 0 for token in bound.output.token_ids)


@pytest.mark.parametrize("kind", KINDS)
def test_a_growing_text_is_tokenized_like_the_whole_text(kind: str) -> None:
    tokens, text, rng = TextTokens(tokenizer(kind)), (STORY + LETTERS + CODE) * 3, random.Random(7)
    place, cuts = 1, tokens.open(text[:1])
    while place < len(text):
        grown = min(len(text), place + rng.randint(1, 12))
        gone, new = tokens.extend(text[:place], text[place:grown])
        assert cuts[len(cuts) - len(gone) :] == gone
        cuts, place = cuts[: len(cuts) - len(gone)] + new, grown
        assert cuts == tokens.open(text[:place])


@pytest.mark.parametrize(
    ("kind", "start"), [("story", []), ("code", ["<s>"]), ("spaces", ["<s>"]), ("words", ["[CLS]"])]
)
def test_a_text_gets_the_tokenizers_first_special_tokens_but_not_its_last(kind: str, start: list[str]) -> None:
    made, tokens = tokenizer(kind), TextTokens(tokenizer(kind))
    ids = tokens.open("the park")
    assert made.convert_ids_to_tokens(ids)[: len(start)] == start
    assert tokens.spell(ids) == "the park"
    assert made.convert_ids_to_tokens(ids[-1:]) != ["[SEP]"]


def test_a_special_token_spelled_out_is_text() -> None:
    tokens = TextTokens(tokenizer("code"))
    assert tokenizer("code").eos_token_id not in tokens.open("a</s>")
    assert tokens.spell(tokens.open("a</s>")) == "a</s>"


@pytest.mark.parametrize("kind", ["bare", "spaces"])
def test_an_unfinished_character_waits_but_broken_bytes_do_not(kind: str) -> None:
    tokens = TextTokens(tokenizer(kind))
    ids = tokens.split("duck 🦆")
    assert tokens.spell_whole(ids) == ("duck 🦆", len(ids))
    for missing in (1, 2, 3):
        assert tokens.spell_whole(ids[:-missing]) == ("duck ", len(ids) - 4)
    assert tokens.spell_whole([ids[-1]] * 5) == ("\ufffd" * 5, 5)  # bytes that continue nothing
