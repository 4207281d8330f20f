"""The light forward pass against transformers' own; what it does not read; and matrices packed for it, or not.

One pass over many tokens computes what many passes over one token do.
"""

import gc
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from weakref import ref

import pytest
import torch
from torch import Tensor

from specviz import DecodeSettings, ModelDrafter
from specviz.decoding import autoregressive_decode, speculative_decode
from specviz.models import packing, transformers_models
from specviz.models.key_values import FIRST_ROOM
from specviz.models.llama import Layer, Linear, Llama, Rotary
from specviz.models.llama_weights import explain_unsupported, matrices_of, memory_of
from specviz.models.loaded_model import Reader
from specviz.models.loading import read_model
from specviz.models.packing import PackedLinear, packed, plain
from tests.support.architectures import random_model, random_weights, ready
from tests.support.known import known
from tests.support.strategies import refusal
from tests.support.tiny_models import save, tiny_model

PACK = "fbgemm_pack_gemm_matrix_fp16"


def drawn(*size: int, seed: int = 1) -> Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed))


# ---- which models it reads


def test_a_model_that_takes_the_cache_and_ignores_it_is_refused() -> None:
    model, settings = random_model("openai-gpt"), DecodeSettings(max_new_tokens=4)
    target = replace(tiny_model(seed=1, vocabulary=11), tokens=model.tokens)
    assert "or no cache" in refusal(lambda: autoregressive_decode(model, [1, 2, 3], settings))
    assert "or no cache" in refusal(lambda: speculative_decode(target, ModelDrafter(model), [1, 2, 3], settings))


@pytest.mark.parametrize(
    ("kind", "changes", "reason"),
    [
        ("gemma", {}, "model_type"),
        ("mistral", {"sliding_window": 6}, "sliding_window"),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 6, "max_window_layers": 1}, "sliding_window"),
        ("llama", {"hidden_act": "gelu"}, "hidden_act"),
    ],
)
def test_other_architectures_stay_with_transformers(kind: str, changes: dict[str, object], reason: str) -> None:
    model = random_weights(kind, changes)
    assert known(explain_unsupported(model.config.to_dict()))[0] == reason
    assert ready(model).info.forward == "transformers"


def test_a_pass_that_disagrees_is_not_used_and_the_old_one_can_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    build, model, text = transformers_models.build, random_weights("llama", {}), torch.arange(20)[None]

    def wrong(*arguments: Any) -> Llama:
        made = build(*arguments)
        made.rotary.frequencies.mul_(1.01)
        return made

    before = model(text).logits
    with monkeypatch.context() as patched:
        patched.setattr(transformers_models, "build", wrong)
        loaded = ready(model)
    assert loaded.info.forward == "transformers"
    torch.testing.assert_close(loaded.model(text).logits, before)  # its weights are what they were
    monkeypatch.setenv("SPECVIZ_FORWARD", "transformers")
    assert ready(random_weights("llama", {})).info.forward == "transformers"


def test_the_model_of_transformers_shares_every_matrix() -> None:
    loaded = ready(random_weights("llama", {}))
    llama = known(loaded.llama)
    joined = [llama.embedding, llama.output.weight, *(m.weight for layer in llama.layers for m in matrices_of(layer))]
    theirs = [weight.data for weight in loaded.model.parameters() if weight.dim() == 2]
    ours, others = ({matrix.untyped_storage().data_ptr() for matrix in each} for each in (joined, theirs))
    assert ours == others


def test_a_matrix_that_is_used_twice_is_counted_once() -> None:
    """Also where the embedding is a view of it, as a model's is whose output is tied to it."""
    rows = torch.zeros(10, 4)
    sizes, rotary = (1, 1, 4, torch.tensor(1e-6)), Rotary(torch.ones(2), rows.dtype)
    llama = Llama(rows.view(10, 4), [], torch.zeros(4), Linear(rows, None), *sizes, rotary)
    assert memory_of(llama) == 4 * (40 + 4)
    assert memory_of(replace(llama, output=Linear(rows.clone(), None))) == 4 * (80 + 4)


# ---- what it computes


def test_the_cache_grows_by_doubling_and_a_crop_copies_nothing() -> None:
    llama = known(ready(random_weights("llama", {})).llama)
    cache, rooms = llama.cache(), set()
    for _ in range(30):
        llama.hidden(torch.arange(20), cache)
        rooms.add(cache.store.shape[3])
    assert sorted(rooms) == [FIRST_ROOM * 2**times for times in range(5)]
    store = cache.store
    cache.crop(100)
    llama.hidden(torch.arange(2), cache)
    assert (cache.store is store, cache.length) == (True, 102)


LONG = torch.randint(7, (700,), generator=torch.Generator().manual_seed(3))


class RowByRow(Linear):
    """Products as packed matrices give them, on any processor: a row does not depend on those beside it."""

    rows_are_independent = True

    def __call__(self, x: Tensor) -> Tensor:
        return torch.cat([super(RowByRow, self).__call__(row) for row in x.split(1)])


def light(dtype: torch.dtype) -> Llama:
    llama = known(tiny_model(seed=1, context=1024).llama)

    def changed(part: Any) -> Any:
        if isinstance(part, Linear):
            return RowByRow(part.weight.to(dtype), None)
        return None if part is None else part.to(dtype)

    layers = [Layer(*(changed(getattr(layer, each.name)) for each in fields(layer))) for layer in llama.layers]
    parts = {name: changed(getattr(llama, name)) for name in ("embedding", "norm", "output")}
    rotary = Rotary(llama.rotary.frequencies, dtype)
    return replace(llama, layers=layers, rotary=rotary, rows_are_independent=True, **parts)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_token_has_the_same_logits_whatever_is_read_beside_it(dtype: torch.dtype) -> None:
    """Bit for bit, also where a text passes the end of a block of places or of what one sum of attention holds."""
    llama, ends = light(dtype), [0, 20, 40, 90, 250, 270, 500, 540, 690]

    def logits(width: int) -> Tensor:
        """In passes over so many tokens, which end at these places too."""
        reader = Reader(llama)
        parts = (part for start, stop in pairwise(ends) for part in LONG[start:stop].split(width if start else 20))
        return torch.cat([reader.read(part) for part in parts])

    alone = logits(1)
    assert [width for width in (2, 3, 5, 9, 17, 33) if not torch.equal(logits(width), alone)] == []


# ---- packed matrices


def matrix(bias: bool = True) -> Linear:
    """Of numbers with 16 bits."""
    numbers = drawn(64, 33, seed=0).bfloat16().float()
    return Linear(numbers[:, :32].contiguous(), numbers[:, 32].contiguous() if bias else None)


@pytest.fixture
def able() -> Iterator[None]:
    """What a processor can do is asked once; here again in each test, and after it."""
    for turn in (True, False):
        for each in (packing.is_able, packing.padding):
            each.cache_clear()
        if turn:
            yield


@pytest.mark.parametrize("bias", [True, False])
def test_a_packed_matrix_gives_the_same_products(bias: bool) -> None:
    """Also where the processor cannot pack: then the matrix stays, and gives them too."""
    given, x = matrix(bias), drawn(40, 32)
    made = packed(given)
    torch.testing.assert_close(made(x), given(x), rtol=1e-4, atol=1e-5)
    assert torch.equal(plain(made), given.weight)
    if made.rows_are_independent:
        assert all(torch.equal(made(x[:rows]), made(x)[:rows]) for rows in range(1, 41))
        assert made.bytes == 2 * 64 * 512  # FBGEMM stores whole blocks


@pytest.mark.parametrize("number", [1 + 2**-12, 1e6, float("inf"), float("nan")])
def test_a_number_of_more_bits_leaves_its_matrix_as_it_is(number: float) -> None:
    given = matrix()
    given.weight[3, 5] = number
    assert packed(given) is given


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("wrong", ["fails", "missing", 1.1, float("nan"), "one matrix"])
def test_operators_that_multiply_wrongly_leave_a_matrix_as_it_is(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = matrix()
    if wrong == "fails":
        monkeypatch.setattr(torch, PACK, Mock(side_effect=RuntimeError("not built with FBGEMM operators")))
    elif wrong == "missing":
        monkeypatch.delattr(torch, PACK)
    elif wrong == "one matrix":
        monkeypatch.setattr(packing, "is_able", lambda: True)
        monkeypatch.setattr(torch, PACK, lambda weight: weight)
        monkeypatch.setattr(PackedLinear, "__call__", lambda self, x: 1.001 * given(x))
    else:
        monkeypatch.setattr(PackedLinear, "__call__", lambda self, x: wrong * Linear(torch.ones(8, 8), None)(x))
    assert packed(given) is given


def exact(x: Tensor, numbers: Tensor) -> Tensor:
    return torch.cat([(row.double() * numbers.double()).sum(1).float()[None] for row in x])


def by_groups(x: Tensor, numbers: Tensor, bias: Tensor | None) -> Tensor:
    """As without AVX-512: six rows at a time, and groups of one and two rows come out a little different."""
    return torch.cat([exact(group, numbers) * (1 if len(group) > 2 else 1 + 2**-20) for group in x.split(6)])


def by_count(x: Tensor, numbers: Tensor, bias: Tensor | None) -> Tensor:
    """A little different for each number of rows."""
    return exact(x, numbers) * (1 + len(x) * 2**-22)


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("multiplied", [by_groups, by_count])
def test_rows_are_added_so_that_all_are_multiplied_alike(multiplied: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "is_able", lambda: True)
    monkeypatch.setattr(packing, "_multiply", multiplied)
    monkeypatch.setattr(torch, PACK, lambda weight: weight)
    given = packed(matrix(bias=False))
    assert given.rows_are_independent == (multiplied is by_groups)
    if given.rows_are_independent:
        assert {rows: more for rows, more in known(packing.padding()).items() if rows < 9} == {1: 2, 2: 1, 7: 2, 8: 1}
        x = drawn(64, 32)
        whole = torch.cat([given(group) for group in x[:60].split(6)])
        assert all(torch.equal(given(x[:rows]), whole[:rows]) for rows in range(1, 61))


@pytest.mark.usefixtures("able")
def test_a_packed_model_is_in_memory_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model, light_of, made = tiny_model(seed=1), transformers_models._light, []
    for each in model.model.parameters():
        each.data = each.data.bfloat16().float()
    folder = str(save(model, tmp_path / "tiny"))
    with monkeypatch.context() as full:
        full.setattr(transformers_models, "available_bytes", lambda: 1000)
        assert not read_model(folder).is_packed, "its packed copy does not fit beside it"
    with monkeypatch.context() as chosen:
        chosen.setenv("SPECVIZ_PACKED", "0")
        packing.is_able.cache_clear()
        assert not packing.is_able(), "the operator wants none"
    monkeypatch.setattr(packing, "is_able", lambda: True)
    monkeypatch.setattr(torch, PACK, lambda weight: weight)  # on any processor
    monkeypatch.setattr(PackedLinear, "__call__", lambda self, x: Linear(self.numbers, self.bias)(x))
    monkeypatch.setattr(transformers_models, "_light", lambda model: made.append(ref(model)) or light_of(model))
    loaded = read_model(folder)
    gc.collect()
    assert loaded.is_packed
    assert [model() for model in made] == [None]
    assert loaded.model is loaded.model  # who asks for transformers' model has it
