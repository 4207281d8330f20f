"""A model's last hidden states, stored in step with its cache."""

import pytest
import torch

from specviz import InputError
from specviz.models.cached_model import CHUNK, CachedModel
from specviz.models.hidden_states import FIRST_ROOM, HiddenStates
from specviz.models.transformers_forward import TransformersForward
from tests.support.tiny_models import tiny_model

TEXT = [(5 * i) % 7 for i in range(2 * CHUNK + 9)]


def test_they_are_those_of_transformers_and_follow_the_cache() -> None:
    loaded = tiny_model(seed=1, context=1024)
    expected = loaded.model.model(torch.tensor([TEXT])).last_hidden_state[0]
    model = CachedModel(loaded, 7)
    states = model.store_states()
    model.prefill(TEXT[:-6])
    model.read([*TEXT[-6:-3], 1, 1])
    model.crop(len(TEXT) - 3)
    assert states.length == model.length == len(TEXT) - 3
    model.read(TEXT[-3:])
    assert torch.allclose(states.since(0), expected, atol=1e-5)
    assert torch.allclose(states.since(len(TEXT) - 2), expected[-2:], atol=1e-5)


def test_the_accepted_path_of_a_tree_stays() -> None:
    rows = torch.arange(12.0).view(6, 2)
    states = HiddenStates()
    states.append(rows)
    states.select(2, [1, 3])
    assert torch.equal(states.since(0), rows[[0, 1, 3, 5]])


def test_they_grow_past_the_first_room() -> None:
    states = HiddenStates()
    for _ in range(3):
        states.append(torch.full((FIRST_ROOM, 2), float(states.length)))
    assert states.since(0)[:, 0].tolist() == [float(i // FIRST_ROOM * FIRST_ROOM) for i in range(3 * FIRST_ROOM)]


def test_a_model_read_by_transformers_refuses_in_one_sentence() -> None:
    loaded = tiny_model(seed=1)
    with pytest.raises(InputError, match=r"^tiny is read by transformers' forward pass, which does not .* here\.$"):
        TransformersForward(loaded.model, "tiny").reader().store_states()
