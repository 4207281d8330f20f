"""The engine's work for the game, on the bundled models: a person's words in a real round."""

from typing import Any

import pytest

from specviz import DecodeSettings, InputError, autoregressive_decode
from specviz.core.request import RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.trace import DrafterInfo, dump_trace, parse_trace
from specviz.game.game import LOOKUP, MODEL, OFFERS, GamePlan, GameRequest, Turn
from specviz.game.words import branches
from specviz.models.loaded_model import LoadedModel
from specviz.service.handlers.play import guess_ids, play_steps
from specviz.service.protocol import JobItem, Play, RunStarted, dump_event, parse_event
from tests.support.fake_workshop import workshop_with
from tests.support.tiny_models import tiny_model

PROMPT = "It was a hot day. Tim and his dog went to the beach. They built a big"


@pytest.fixture
def play(target: LoadedModel, nano: LoadedModel) -> Any:
    def turn(action: Any = "guess", prompt: str = PROMPT, seed: int = 0, **ask: Any) -> Turn:
        command = Play(3, RunRequest(prompt, settings=DecodeSettings(seed=seed)), GameRequest(action, **ask))
        events = [event for event in play_steps(command, workshop_with(target, nano)) if event]
        assert isinstance(events[0], RunStarted)
        (played,) = [event for event in events if isinstance(event, JobItem)]
        assert parse_event(dump_event(played)) == played
        return played.item

    return turn


def own_words(target: LoadedModel, prompt: str, tokens: int) -> list[int]:
    return autoregressive_decode(target, prompt, DecodeSettings(max_new_tokens=tokens)).output.token_ids


def test_a_wrong_word_is_corrected_with_the_traces_own_figures(play: Any, target: LoadedModel) -> None:
    turn = play(guess="sandbox by the sea")
    assert [token.text for token in turn.round.drafted] == [" sand", "box", " by", " the", " sea"]
    assert [token.status for token in turn.round.drafted] == ["accepted", "rejected", *["discarded"] * 3]
    assert (turn.round.emitted.kind, turn.round.emitted_ids) == ("correction", own_words(target, PROMPT, 2))
    rejected = turn.round.drafted[1]
    assert rejected.draft_prob == 1, "a person names one token: a point mass"
    assert max(rejected.candidates, key=lambda c: c.p).id == turn.round.emitted.id
    trace = parse_trace(dump_trace(turn.trace))
    assert trace.drafter == DrafterInfo("person", "you")
    assert trace.settings.greedy
    assert trace.target.dtype == "float32"
    assert trace.prompt.text == PROMPT


def test_a_second_guess_is_checked_in_the_same_pass(play: Any, target: LoadedModel) -> None:
    """One round of the real loop with real tree verification; the text stays the target's own."""
    own = own_words(target, PROMPT, 5)
    words = str(target.tokenizer.decode(own[:4])).strip()
    turn = play(guess="xylophone by the sea", second=words)
    round = turn.round
    assert round.is_tree
    assert len(turn.trace.rounds) == 1
    first, second = branches(round)
    assert first.accepted == 0
    assert [(token.id, token.status) for token in second.drafted] == [(token, "accepted") for token in own[:4]]
    assert round.emitted_ids == own
    assert turn.text == PROMPT + str(target.tokenizer.decode(own))
    # beside two guesses the model drafts a tree of as many tokens
    turn = play(guess="sandbox by the sea", second="castle of sand")
    mine, model, lookup = turn.round, turn.rivals[MODEL], turn.rivals[LOOKUP]
    assert (model.is_tree, lookup.is_tree, len(model.drafted)) == (True, False, len(mine.drafted))
    assert max(model.depth, len(lookup.drafted)) <= mine.depth
    own = own_words(target, PROMPT, mine.depth + 1)
    for round in (mine, model, lookup):
        assert round.emitted_ids == own[: len(round.emitted_ids)], "all three are checked against the same text"


def test_a_draft_holds_sixteen_tokens(play: Any) -> None:
    turn = play(guess="castle and they were all very happy and they went home and had a big cake for Tim")
    assert len(turn.round.drafted) == MAX_DRAFT_LENGTH
    assert turn.cut == 2
    assert len(turn.rivals[MODEL].drafted) == MAX_DRAFT_LENGTH


def test_words_are_cut_as_the_tokenizer_cuts_the_whole_text(target: LoadedModel) -> None:
    ids = list(target.tokenizer(PROMPT)["input_ids"])
    for words in ("sandbox", " sandbox", "sandcastle.", ", red house", "n't", '"Hello," said Tim'):
        got = guess_ids(target, ids, words)
        added = words if words.startswith((" ", ",")) else f" {words}"
        assert ids + got == list(target.tokenizer(PROMPT + added)["input_ids"])
    ids = list(target.tokenizer("The children made a")["input_ids"])
    open_word = [*ids, *guess_ids(target, ids, "b")]
    got = guess_ids(target, open_word, "ig dog", inside_word=True)
    assert target.tokenizer.decode(got) == "ig dog"
    whole = list(target.tokenizer("The children made a big dog")["input_ids"])
    assert [*open_word, *got] != whole, "the tokenizer would join them across the seam, and the text stays"


OPENERS = (  # one of them leaves the target inside a word; which, depends on the weights
    (PROMPT, "sandbox"),
    ("Tim and Anna were at the beach. They took the sand and made a tall", "sand cat"),
    ("Tim and Anna were at the beach. They took the sand and made a tall", "sandbox"),
    ("Anna went to the park. She saw a big", "butterball"),
)


def test_an_unfinished_word_is_marked_and_continued(play: Any, target: LoadedModel) -> None:
    turns = ((prompt, play(prompt=prompt, guess=guess)) for prompt, guess in OPENERS)
    prompt, turn = next((prompt, turn) for prompt, turn in turns if turn.joins)
    own = autoregressive_decode(target, turn.text_ids, DecodeSettings(max_new_tokens=3)).output
    assert own.text[0].isalpha(), "the word goes on"
    after = play(prompt=prompt, text_ids=turn.text_ids, guess=own.text, joins=True)
    assert after.text.startswith(f"{turn.text}{own.text}")
    assert [token.id for token in after.round.drafted] == own.token_ids
    assert after.round.accepted == len(after.round.drafted)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (GameRequest("guess", guess="日本語"), "Latin alphabet"),
        (GameRequest("guess", guess="castle", second="<|endoftext|>"), "a mark that models use"),
        (GameRequest("guess", text_ids=[600] * 511, guess="sandbox"), "context window of 512"),
    ],
)
def test_bad_input_is_refused(ask: GameRequest, says: str, target: LoadedModel, nano: LoadedModel) -> None:
    steps = play_steps(Play(3, RunRequest(PROMPT), ask), workshop_with(target, nano))
    with pytest.raises(InputError, match=says):
        assert not any(isinstance(event, JobItem) for event in steps)
    tiny = tiny_model(seed=1)  # knows w0 to w6; any other word becomes w0
    with pytest.raises(InputError, match="no tokens that spell this"):
        guess_ids(tiny, [1, 2], "zebra")
    assert guess_ids(target, [1, 2], "zebra"), "a tokenizer of bytes spells everything"


def test_candidates_are_real_differ_and_hold_the_targets_own_at_a_place_that_gives_nothing_away(
    play: Any, target: LoadedModel
) -> None:
    places, own = set(), own_words(target, PROMPT, 8)
    assert play("offer", seed=1, offers=True).offers == play("offer", seed=1, offers=True).offers, "for a whole class"
    for seed in range(6):
        offers = play("offer", seed=seed, offers=True).offers
        places.add(next(i for i, offer in enumerate(offers) if own[: len(offer.token_ids)] == offer.token_ids))
    assert len(places) >= 3
    for preset in GamePlan().prompts:
        turn = play("offer", prompt=preset.text, offers=True)
        assert turn.trace is None
        assert len(turn.offers) == OFFERS
        assert len({offer.text.strip().lower() for offer in turn.offers}) == OFFERS
        own = own_words(target, preset.text, 8)
        right = [offer for offer in turn.offers if own[: len(offer.token_ids)] == offer.token_ids]
        assert right, "one of them is accepted whole"
        assert len(right) < OFFERS
        played = play(prompt=preset.text, picked=right[0].token_ids, offers=True)
        assert played.round.emitted.kind == "bonus"
        assert played.offers
