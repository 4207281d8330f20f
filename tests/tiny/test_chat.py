"""Conversations as prompts: the model's own chat template writes them."""

import pytest
from tokenizers.pre_tokenizers import WhitespaceSplit

from specviz import DecodeSettings, InputError
from specviz.core.metrics import repetition
from specviz.core.steps import result_of
from specviz.decoding import autoregressive_decode
from specviz.measure.sweep.measure import measure
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt
from specviz.models.loaded_model import LoadedModel, chat_ids
from tests.support.tiny_models import tiny_model, with_tokenizer, word_tokenizer

TALK = (("user", "w4"), ("assistant", "w5"), ("user", "w6"))
TEMPLATE = (
    "{% for message in messages %}{{ 'w1' if message.role == 'user' else 'w2' }} {{ message.content }} {% endfor %}"
    "{% if add_generation_prompt %}w2{% endif %}"
)


def with_template(template: str | None) -> LoadedModel:
    tokenizer = word_tokenizer(7)
    tokenizer.chat_template = template
    tokenizer.backend_tokenizer.pre_tokenizer = WhitespaceSplit()
    return with_tokenizer(tiny_model(seed=1, name="talker"), tokenizer)


def test_the_template_writes_up_to_the_answer_and_a_model_without_one_or_that_refuses_says_so() -> None:
    assert chat_ids(with_template(TEMPLATE), TALK) == [1, 4, 2, 5, 1, 6, 2]
    for template, says in (
        (None, "talker has no chat template: its prompts must be texts"),
        ("{{ raise_exception('only a user may speak') }}", "cannot write these messages: only a user may speak"),
    ):
        with pytest.raises(InputError, match=says):
            chat_ids(with_template(template), TALK)


def test_a_conversation_is_measured_as_its_template_writes_it() -> None:
    target, draft = with_template(TEMPLATE), tiny_model(seed=1, layers=1, name="draft")
    prompt = SweepPrompt("own", "talk", "user: w4", messages=TALK)
    settings = DecodeSettings(max_new_tokens=8)
    [cell] = SweepPlan((prompt,), (SweepPair("talker", "draft"),), (2,), settings=settings).cells()
    [row] = result_of(measure((target, draft), [cell]))
    plain = autoregressive_decode(target, [1, 4, 2, 5, 1, 6, 2], cell.settings)
    assert (row.identical, row.preset) == (True, "talk")
    assert row.repetition == repetition(plain.output.token_ids)
