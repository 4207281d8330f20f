"""Drafts with another tokenizer: the output stays the target's own, the text survives, nothing is read twice."""

import random
from dataclasses import replace
from unittest.mock import Mock

import pytest
import torch

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter
from specviz.core.metrics import count
from specviz.core.trace import Trace
from specviz.decoding import TranslatedDrafter, autoregressive_decode, fit_drafter, speculative_decode
from specviz.decoding.drafters.translated import TextTokens
from specviz.models.loaded_model import LoadedModel
from tests.support.counted_reads import CountedReads
from tests.support.tiny_models import ending, greedy_of_transformers, tiny_model, with_tokenizer
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

    The prompt ends where a token ends in both tokenizers. Elsewhere the draft would read tokens it has never seen, and
    what it guesses after them depends on how its training went.
    """
    big, small = learned_model(target, text), learned_model(draft, text)
    whole = TextTokens(big.tokenizer).open(text)
    start = shared_boundary(big, small, text)
    prompt, rest = whole[:start], whole[start:]
    trace = translated(big, small, prompt, max_new_tokens=len(rest), draft_length=6)
    assert trace.output.token_ids == rest == greedy_of_transformers(big, prompt, len(rest))
    assert big.tokenizer.decode([*prompt, *trace.output.token_ids], skip_special_tokens=True) == text
    counts = count(trace.rounds)
    assert counts.accepted >= 0.6 * len(rest)
    assert counts.rejected < counts.accepted / 2


def shared_boundary(target: LoadedModel, draft: LoadedModel, text: str) -> int:
    """The fewest of the target's tokens, at least two, that end where a token of the draft ends."""
    ours, theirs = TextTokens(target.tokenizer), TextTokens(draft.tokenizer)
    whole, draft_ids = ours.open(text), theirs.open(text)
    for length in range(2, len(whole)):
        known, spelled = ours.spell_whole(whole[:length])
        start = theirs.open(known)
        if spelled == length and start == draft_ids[: len(start)]:
            return length
    raise AssertionError("The two tokenizers share no boundary in this text.")


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
    big, small = (
        ending(taught(kind, [*TextTokens(tokenizer(kind)).open("Once upon a time"), 0]), 0)  # </s> in both
        for kind in ("story", "code")
    )
    trace = translated(big, small, "Once upon", max_new_tokens=40, draft_length=12)
    assert trace.output.stopped_by == "eos"
    assert trace.output.text == " a time"
    last = trace.rounds[-1]
    assert (last.drafted[-1].text, last.drafted[-1].status, last.emitted.kind) == ("</s>", "accepted", "none")
    assert last.draft_tokens[-1] == "</s>"
    assert trace.output.token_ids == autoregressive_decode(big, "Once upon", trace.settings).output.token_ids


def test_a_pair_gets_the_drafter_that_fits_it_and_sampling_and_another_target_are_refused_unread() -> None:
    big, small = random_model("story"), random_model("code")
    assert isinstance(fit_drafter(big, random_model("story", seed=2), DecodeSettings()), ModelDrafter)
    assert isinstance(fit_drafter(big, None, DecodeSettings(temperature=1)), PromptLookupDrafter)
    settings = DecodeSettings(temperature=0.3)
    sentence = r"^code can draft for story at temperature 0 only"
    ours, theirs = CountedReads(big), CountedReads(small)
    with pytest.raises(InputError, match=sentence):
        fit_drafter(ours.loaded, theirs.loaded, settings)
    with pytest.raises(InputError, match=sentence):
        speculative_decode(ours.loaded, TranslatedDrafter(theirs.loaded, ours.loaded), STORY, settings)
    with pytest.raises(InputError, match=r"^code was made for another model than bare"):
        speculative_decode(random_model("bare"), TranslatedDrafter(theirs.loaded, ours.loaded), STORY)
    assert ours.lengths == theirs.lengths == []


def test_a_text_must_fit_both_context_windows_in_their_own_tokens() -> None:
    narrow = with_tokenizer(tiny_model(seed=1, vocabulary=258, name="narrow"), tokenizer("bare"))  # 64 tokens
    wide = random_model("story")
    drafter = TranslatedDrafter(narrow, wide)
    with pytest.raises(InputError, match=r"96 tokens. and 8 new tokens do not fit .* 64 tokens"):
        speculative_decode(wide, drafter, STORY + "..", DecodeSettings(max_new_tokens=8))
    with pytest.raises(InputError, match="do not fit narrow's context window"):
        speculative_decode(narrow, TranslatedDrafter(wide, narrow), STORY, DecodeSettings(max_new_tokens=8))


def test_a_draft_whose_window_fills_up_stops_drafting() -> None:
    """Its tokens are shorter than the target's, so the text may outgrow its window though the prompt fits."""
    big = learned_model("story", STORY)
    small = with_tokenizer(tiny_model(seed=1, vocabulary=258, name="narrow"), tokenizer("bare"))
    prompt = TextTokens(big.tokenizer).open(STORY)[:3]
    reads = CountedReads(small)
    trace = translated(big, reads.loaded, prompt, max_new_tokens=20, draft_length=4)
    assert trace.output.token_ids == greedy_of_transformers(big, prompt, 20)
    assert len(big.tokenizer.decode([*prompt, *trace.output.token_ids])) > 64
    assert len(reads.text) <= 64
    assert trace.rounds[-2].draft_tokens == []


def test_the_trace_stores_both_tokenizations_and_no_q_and_a_constraint_binds_the_target() -> None:
    big, small = learned_model("code", STORY), learned_model("spaces", STORY)
    trace = translated(big, small, "Once upon", max_new_tokens=12, draft_length=6)
    first = trace.rounds[0]
    assert first.draft_tokens == [" a", " time"]
    assert [token.text for token in first.drafted] == [" ", "a", " ", "t", "i", "m"]
    assert (trace.drafter.kind, trace.drafter.name) == ("model", "spaces")
    for token in first.drafted:
        assert token.draft_prob is None
        assert token.target_prob is not None
        assert all(candidate.q is None for candidate in token.candidates)
    unrecorded = speculative_decode(big, TranslatedDrafter(small, big), "Once upon", trace.settings, record=False)
    assert [round.draft_tokens for round in unrecorded.rounds] == [round.draft_tokens for round in trace.rounds]
    settings, even = replace(trace.settings, stop_at_eos=False), Mock()
    even.allowed = lambda text: torch.arange(len(big.tokenizer)) % 2 == 0
    plain = autoregressive_decode(big, "Once upon", settings, constraint=even)
    bound = speculative_decode(big, TranslatedDrafter(small, big), "Once upon", settings, constraint=even)
    assert bound.output.token_ids == plain.output.token_ids
    assert all(token % 2 == 0 for token in bound.output.token_ids)


@pytest.mark.parametrize("kind", KINDS)
def test_a_growing_text_is_tokenized_like_the_whole_text(kind: str) -> None:
    tokens = TextTokens(tokenizer(kind))
    text = (STORY + LETTERS + CODE) * 3
    rng = random.Random(7)
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
    made = tokenizer(kind)
    ids = TextTokens(made).open("the park")
    assert made.convert_ids_to_tokens(ids)[: len(start)] == start
    assert TextTokens(made).spell(ids) == "the park"
    assert made.convert_ids_to_tokens(ids[-1:]) != ["[SEP]"]
    spelled = TextTokens(tokenizer("code")).open("a</s>")
    assert tokenizer("code").eos_token_id not in spelled, "a special token spelled out is text"
    assert TextTokens(tokenizer("code")).spell(spelled) == "a</s>"


@pytest.mark.parametrize("kind", ["bare", "spaces"])
def test_an_unfinished_character_waits_but_broken_bytes_do_not(kind: str) -> None:
    made = tokenizer(kind)
    tokens = TextTokens(made)
    ids = tokens.split("duck 🦆")
    assert tokens.spell_whole(ids) == ("duck 🦆", len(ids))
    for missing in (1, 2, 3):
        text, spelled = tokens.spell_whole(ids[:-missing])
        assert text == "duck "
        assert spelled == len(ids) - 4
    broken = [ids[-1]] * 5  # bytes that continue nothing
    assert tokens.spell_whole(broken) == ("\ufffd" * 5, 5)
