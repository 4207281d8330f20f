"""The engine's work for the game with a chat model: a person writes its answer. Small models made here."""

from typing import Any

import pytest
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.core.trace import dump_trace, parse_trace
from specviz.decoding import autoregressive_decode
from specviz.game.game import LOOKUP, MODEL, GameRequest, Turn
from specviz.models.loaded_model import LoadedModel, chat_ids
from specviz.service.handlers.play import play_steps
from specviz.service.protocol import JobItem, Play
from tests.support.fake_workshop import workshop_with
from tests.support.tiny_models import ending, tiny_model, tokenizer_of, with_template, with_tokenizer

PROMPT = "w4 w6 w4"
CHAT = DecodeSettings(max_new_tokens=4, prompt_format="chat")


@pytest.fixture
def talker() -> LoadedModel:
    """Its tokenizer begins every text with a mark, as those of many chat models do."""
    made = with_template()
    mark = TemplateProcessing(single="w0 $A", special_tokens=[("w0", 0)])
    made.tokenizer.backend_tokenizer.post_processor = mark
    return made


def played(target: LoadedModel, action: Any, draft: Any = None, **ask: Any) -> Turn:
    command = Play(3, RunRequest(PROMPT, "talker", MODEL, settings=CHAT), GameRequest(action, **ask))
    draft = draft or tiny_model(seed=2, name=MODEL)
    (item,) = [event for event in play_steps(command, workshop_with(target, draft)) if isinstance(event, JobItem)]
    return item.item


def test_a_persons_words_are_the_answer_that_the_models_own_template_begins(talker: LoadedModel) -> None:
    asked = chat_ids(talker, [("user", PROMPT)])
    own = autoregressive_decode(talker, PROMPT, CHAT).output.token_ids
    turn = played(talker, "guess", guess=f" w{own[0]}  w{own[1]}")
    assert (turn.round.accepted, turn.text_ids) == (2, [*asked, *own[:3]])
    assert turn.text == PROMPT + " ".join(f"w{number}" for number in own[:3])
    assert (turn.trace.prompt.text, turn.trace.prompt.token_ids) == (PROMPT, asked)
    assert set(turn.rivals) == {MODEL, LOOKUP}
    assert turn.rivals[MODEL].emitted_ids == own[: len(turn.rivals[MODEL].emitted_ids)], "in the same chat"
    after = played(talker, "skip", text_ids=turn.text_ids)
    assert after.text == f"{turn.text} w{own[3]}"
    assert after.trace.prompt.text == turn.text
    for each in (turn, after):
        assert parse_trace(dump_trace(each.trace)).settings.prompt_format == "chat"


def test_the_answer_ends_with_the_turn_and_may_be_empty(talker: LoadedModel) -> None:
    own = autoregressive_decode(talker, PROMPT, CHAT).output.token_ids
    turn = played(ending(talker, own[1]), "guess", guess=f"w{own[0]}")
    assert turn.ended
    silent = played(ending(talker, own[0]), "skip")
    assert silent.ended
    assert silent.text.startswith(PROMPT)


def test_a_draft_with_other_tokens_plays_through_the_text_and_leaves_the_candidates_to_the_target(
    talker: LoadedModel,
) -> None:
    other = tokenizer_of({f"w{number}": 6 - number for number in range(7)})
    other.backend_tokenizer.pre_tokenizer = WhitespaceSplit()
    stranger = with_tokenizer(tiny_model(seed=2, name=MODEL), other)
    own = autoregressive_decode(talker, PROMPT, CHAT).output.token_ids
    offered = played(talker, "offer", stranger, offers=True)
    assert any(offer.token_ids[: len(own)] == own for offer in offered.offers)
    assert not offered.joins, "the answer has not begun"
    turn = played(talker, "guess", stranger, picked=own[:2])
    assert turn.rivals[MODEL].emitted_ids
