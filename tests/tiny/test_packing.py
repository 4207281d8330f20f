"""One pass over many tokens computes what many passes over one token do; and matrices packed for it, or not."""

import gc
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar
from weakref import ref

import pytest
import torch
from torch import Tensor

from specviz import autoregressive_decode, speculative_decode
from specviz.core.settings import DecodeSettings
from specviz.decoding import ModelDrafter
from specviz.models import llama_weights, packing, transformers_models
from specviz.models.cached_model import tree_mask
from specviz.models.forward import LightForward, is_packed
from specviz.models.llama import Layer, Linear, Llama, Rotary
from specviz.models.llama_weights import memory_of
from specviz.models.loading import read_model
from specviz.models.packing import PackedLinear, packed, packs, plain
from tests.support.tiny_models import save, tiny_model

LONG = torch.randint(7, (700,), generator=torch.Generator().manual_seed(3))


class RowByRow(Linear):
    """Products as packed matrices give them, on any processor: a row does not depend on those beside it."""

    rows_are_independent: ClassVar[bool] = True

    def __call__(self, x: Tensor) -> Tensor:
        return torch.cat([super(RowByRow, self).__call__(row) for row in x.split(1)])


def light(dtype: torch.dtype = torch.float32) -> LightForward:
    forward = tiny_model(seed=1, context=1024).forward
    assert isinstance(forward, LightForward)
    llama = forward.llama

    def changed(part: Tensor | Linear | None) -> Any:
        return (
            RowByRow(part.weight.to(dtype), None)
            if isinstance(part, Linear)
            else part
            if part is None
            else part.to(dtype)
        )

    layers = [Layer(*(changed(getattr(layer, each.name)) for each in fields(layer))) for layer in llama.layers]
    parts = {name: changed(getattr(llama, name)) for name in ("embedding", "norm", "output")}
    return LightForward(replace(llama, layers=layers, rotary=Rotary(llama.rotary.frequencies, dtype), **parts))


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As the engine has it. With more, torch splits a sum in other places."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("width", [2, 3, 5, 9, 17, 33])
def test_a_token_has_the_same_logits_whatever_is_read_beside_it(width: int, dtype: torch.dtype) -> None:
    """Bit for bit, also where a text passes the end of a block of places or of what one sum of attention holds."""
    forward = light(dtype)
    together, alone = forward.reader(), forward.reader()
    for reader in (together, alone):
        reader.read(LONG[:20])
    ends = [20, 40, 90, 250, 270, 500, 540, 690]
    for start, stop in pairwise(ends):
        one = torch.cat([alone.read(token) for token in LONG[start:stop].split(1)])
        many = torch.cat([together.read(part) for part in LONG[start:stop].split(width)])
        assert torch.equal(one, many)


def after(forward: LightForward, past: int, tokens: Tensor, path: list[int]) -> Tensor:
    """The logits of three tokens after a text and a path, read one by one."""
    alone = forward.reader()
    alone.read(LONG[:past])
    for at in path:
        alone.read(tokens[[at]])
    return torch.cat([alone.read(tokens[[at]]) for at in (9, 10, 11)])


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("past", [1, 20, 29, 31, 32, 60, 250, 510])
def test_a_token_of_a_tree_has_the_logits_that_it_has_at_the_end_of_its_path(past: int, dtype: torch.dtype) -> None:
    """Bit for bit, though other branches stand between the tokens of its path; and the text after it too."""
    forward, tokens = light(dtype), LONG[past:]
    parents = [-1, -1, 0, 0, 2, 1, 4, 6, 3]
    tree = forward.reader()
    tree.read(LONG[:past])
    read = [
        tree.read_tree(tokens[start:stop], *tree_mask(past, parents[:stop], stop - start, tokens.device))
        for start, stop in ((0, 5), (5, 9))
    ]
    paths: list[list[int]] = []
    for node, parent in enumerate(parents):
        paths.append([*(paths[parent] if parent >= 0 else []), node])
        alone = forward.reader()
        alone.read(LONG[:past])
        assert torch.equal(torch.cat(read)[node], [alone.read(tokens[[at]]) for at in paths[node]][-1][0])
    tree.select(past, paths[7])
    assert torch.equal(tree.read(tokens[9:12]), after(forward, past, tokens, paths[7]))


def test_what_was_rejected_leaves_no_trace() -> None:
    forward = light()
    reader, other = forward.reader(), forward.reader()
    reader.read(LONG[:30])
    reader.read(LONG[100:109])
    reader.crop(9)
    other.read(LONG[:30])
    assert torch.equal(reader.read(LONG[30:33]), other.read(LONG[30:33]))


def matrix(rows: int = 64, columns: int = 32, bias: bool = True) -> Linear:
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randn(rows, columns + 1, generator=generator)
    return Linear(numbers[:, :columns].contiguous(), numbers[:, columns].contiguous() if bias else None)


@pytest.mark.parametrize("bias", [True, False])
def test_a_packed_matrix_gives_the_same_products(bias: bool) -> None:
    """In float32, which every processor with oneDNN can pack; elsewhere the matrix stays, and gives them too."""
    given = matrix(bias=bias)
    x = torch.randn(3, 32)
    torch.testing.assert_close(packed(given)(x), given(x), rtol=1e-4, atol=1e-4)
    assert torch.equal(plain(packed(given)), given.weight)


def test_operators_that_are_missing_leave_a_matrix_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> Tensor:
        raise RuntimeError("mkldnn_reorder_linear_weight: unsupported")

    given = matrix()
    monkeypatch.setattr(packing.torch.ops.mkldnn, "_reorder_linear_weight", none)
    assert packed(given) is given
    monkeypatch.setattr(packing.torch.ops, "mkldnn", object())
    assert packed(given) is given


def test_operators_that_multiply_wrongly_leave_a_matrix_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    given = matrix()
    monkeypatch.setattr(PackedLinear, "__call__", lambda self, x: 1.1 * given(x))
    monkeypatch.setattr(packing.torch.ops.mkldnn, "_reorder_linear_weight", lambda weight: weight)
    assert packed(given) is given


@pytest.mark.parametrize(("avx512", "amx", "switch", "expected"), [
    (True, False, None, True),
    (False, True, None, True),
    (False, False, None, False),
    (True, True, "0", False),
])  # fmt: skip
def test_bfloat16_is_packed_where_the_processor_multiplies_it(
    avx512: bool, amx: bool, switch: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    packing.multiplies_bfloat16.cache_clear()
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    if switch is not None:
        monkeypatch.setenv(packing.OFF, switch)
    half = torch.zeros(4, 4, dtype=torch.bfloat16)
    assert packs(half) == expected
    assert not packs(half.float())
    packing.multiplies_bfloat16.cache_clear()


def test_a_packed_model_writes_the_text_of_the_model_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """In float32, which every processor with oneDNN can pack; elsewhere nothing is packed, and the text is the same."""
    settings = DecodeSettings(max_new_tokens=20)
    expected = autoregressive_decode(tiny_model(seed=1), [1, 2, 3], settings).output.token_ids
    monkeypatch.setattr(llama_weights, "packs", lambda _: True)
    trace = speculative_decode(tiny_model(seed=1), ModelDrafter(tiny_model(seed=2)), [1, 2, 3], settings)
    assert trace.output.token_ids == expected


def test_a_packed_model_is_in_memory_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = save(tiny_model(seed=1), tmp_path / "tiny")
    light_of = transformers_models._light
    as_it_is = read_model(str(folder)).model.lm_head.weight.clone()
    monkeypatch.setattr(llama_weights, "packs", lambda _: True)
    monkeypatch.setattr(packing.torch.ops.mkldnn, "_reorder_linear_weight", lambda weight: weight)
    monkeypatch.setattr(PackedLinear, "__call__", Linear.__call__)
    made = []
    monkeypatch.setattr(transformers_models, "_light", lambda model: made.append(ref(model)) or light_of(model))
    loaded = read_model(str(folder))
    gc.collect()
    assert is_packed(loaded.forward)
    assert [model() for model in made] == [None]
    assert torch.equal(loaded.model.lm_head.weight, as_it_is)  # who asks for transformers' model has it
    assert loaded.model is loaded.model


def test_a_matrix_that_is_used_twice_is_counted_once() -> None:
    rows = torch.zeros(10, 4)
    llama = Llama(rows, [], torch.zeros(4), Linear(rows, None), 1, 1, 4, 1e-6, Rotary(torch.ones(2), rows.dtype))
    assert memory_of(llama) == 4 * (40 + 4)
    assert memory_of(replace(llama, output=Linear(rows.clone(), None))) == 4 * (80 + 4)
