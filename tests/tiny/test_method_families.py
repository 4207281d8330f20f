"""The methods that need no training, on targets of the other families that the light forward pass reads.

The statistical tests are chi-squared over the joint distribution of three tokens, see `tests.support.joint`. The odds
of a false alarm are 1 in 10,000 for each test with new seeds; with these seeds it is decided for ever.
"""

from functools import cache

import pytest
import torch

from specviz import DecodeSettings, ModelDrafter, speculative_decode
from specviz.core.metrics import count
from specviz.core.trace import ModelInfo
from specviz.decoding import Drafter, make_drafter
from specviz.models.loaded_model import LoadedModel
from specviz.models.transformers_models import from_transformers
from tests.support.joint import FALSE_ALARM, p_value_of_loop
from tests.support.tiny_models import tiny_model, word_tokenizer
from tests.tiny.test_llama import KNOWN, random_weights

VOCABULARY = 7
FAMILIES = ("mistral", "qwen2", "qwen3", "llama 3 rotary")
PROMPT = [1, 2, 3, 4, 1, 2]
SHAPES: dict[str | None, int] = {None: 4, "2,2": 2, "4,2,1": 3, "dynamic:9": 4}
TOKENS = 24


@cache
def target_of(case: str) -> LoadedModel:
    kind, changes = KNOWN[case]
    model = random_weights(kind, {**changes, "vocab_size": VOCABULARY})
    loaded = from_transformers(model, word_tokenizer(VOCABULARY), case, ModelInfo(case, 1, "float32", ""))
    assert loaded.info.forward == "light"
    return loaded


def drafters_of(target: LoadedModel) -> dict[str, Drafter]:
    draft = tiny_model(seed=1, vocabulary=VOCABULARY, sharpness=1.0)
    return {"model": ModelDrafter(draft), "early exit": make_drafter("early-exit:2", target)}


@pytest.mark.parametrize("case", FAMILIES)
def test_greedy_text_is_that_of_generate_with_trees_and_early_exit(case: str) -> None:
    target = target_of(case)
    ids = torch.tensor([PROMPT])
    written = target.model.generate(  # type: ignore[operator]
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=TOKENS, pad_token_id=0
    )
    expected = written[0, len(PROMPT) :].tolist()
    accepted = 0
    for drafter in drafters_of(target).values():
        for tree, length in SHAPES.items():
            settings = DecodeSettings(max_new_tokens=TOKENS, draft_length=length, tree=tree)
            trace = speculative_decode(target, drafter, PROMPT, settings)
            assert trace.output.token_ids == expected, tree
            accepted += count(trace.rounds).accepted
    assert accepted > TOKENS, "a draft that always fails proves little"


@pytest.mark.parametrize("how", [{"draft_sampling": "argmax"}, {"verification": "block"}, {"tree": "4,2,1"}], ids=str)
@pytest.mark.parametrize("draft", ["model", "early exit"])
def test_sampled_text_has_the_targets_distribution(draft: str, how: dict[str, str]) -> None:
    target = target_of("qwen3")
    settings = DecodeSettings(temperature=1.0, draft_length=3, **how)  # type: ignore[arg-type]
    assert p_value_of_loop(target, drafters_of(target)[draft], PROMPT, settings, runs=1000) > FALSE_ALARM
