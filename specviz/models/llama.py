"""The model on one page: the forward pass of the Llama family, from token ids to the next token's logits.

    token ids ── embedding ──> x                                       (n, hidden)
    for each layer:
        x = x + attention(norm(x))      every token looks at itself and at the tokens before it
        x = x + mlp(norm(x))            every token for itself
    norm(x) ── output embedding ──> logits                             (n, vocabulary)

Llama (Touvron et al. 2023), Mistral without a sliding window, Qwen2 (with biases on queries, keys and values) and
Qwen3 (with a norm on each head's queries and keys). `llama_weights.py` builds it from a checkpoint.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import torch
import torch.nn.functional as F
from torch import Tensor

from specviz.models.key_values import FIRST_ROOM, KeyValues

ROUND = 64
"""Most tokens that are read each as a text of its own. More are a prompt, which both decoders read alike."""

# Stores one layer's new keys and values, by its number; returns all of that layer. See `KeyValues.write`.
Write = Callable[[int, Tensor, Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True, slots=True)
class Linear:
    """A matrix, and a bias where the model has one. Matrices that read the same input are joined to one."""

    weight: Tensor  # (out, in)
    bias: Tensor | None

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    @property
    def bytes(self) -> int:
        """Memory that the matrix takes."""
        return self.weight.nbytes

    @property
    def rows_are_independent(self) -> bool:
        """Whether a row of x gives the same bits whatever rows are beside it, of `ROUND` rows at most."""
        return False


@dataclass(frozen=True, slots=True)
class Layer:
    attention_norm: Tensor  # (hidden,)
    queries_keys_values: Linear  # to (heads + 2 × kv_heads) × size
    query_norm: Tensor | None  # (size,)
    key_norm: Tensor | None
    attention_out: Linear
    mlp_norm: Tensor
    gate_up: Linear  # to 2 × intermediate
    down: Linear


class Rotary:
    """The angles by which attention learns how far apart two tokens are (Su et al. 2021), each computed once."""

    def __init__(self, frequencies: Tensor, dtype: torch.dtype) -> None:
        """`frequencies` are radians a token, for each pair of a head's numbers: (size / 2,)."""
        self.frequencies = frequencies
        self._cos = self._sin = frequencies.new_empty(0, dtype=dtype)

    def at(self, positions: Tensor | slice, end: int) -> tuple[Tensor, Tensor]:
        """Cosines and sines at places below `end`, (n, size) each; the sines with the sign that `_rotate` needs."""
        if end > len(self._cos):
            self._compute(max(end, 2 * len(self._cos), FIRST_ROOM))
        return self._cos[positions], self._sin[positions]

    @torch.inference_mode(False)  # training may use them too
    def _compute(self, places: int) -> None:
        angles = torch.arange(places, device=self.frequencies.device)[:, None] * self.frequencies
        cos, sin = angles.cos().to(self._cos.dtype), angles.sin().to(self._cos.dtype)
        self._cos, self._sin = torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)


@dataclass(frozen=True, slots=True)
class Llama:
    """All weights, and the few numbers that they do not say."""

    embedding: Tensor  # (vocabulary, hidden), in the fewest bits that hold it
    layers: list[Layer]
    norm: Tensor
    output: Linear  # to the vocabulary; its matrix is the embedding's where the two are tied
    heads: int  # of queries
    kv_heads: int  # of keys and values: each serves heads / kv_heads queries
    size: int  # numbers in a head
    eps: Tensor  # of the norms, in float32
    rotary: Rotary  # what turns a head's numbers by its token's place
    rows_are_independent: bool = False  # of every matrix, see `Linear`

    def cache(self) -> KeyValues:
        return KeyValues(len(self.layers), self.kv_heads, self.size, self.norm)

    def embed(self, ids: Tensor) -> Tensor:
        """What stands for each token before the first layer, (n, hidden)."""
        return self.embedding[ids].to(self.norm.dtype)

    def hidden(
        self, ids: Tensor, cache: KeyValues, positions: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Read tokens after those in the cache, which grows by them; returns their last hidden states, (n, hidden).

        Args:
            ids: (n,).
            cache: of the text so far.
            positions: (n,) places in the text; None: one after the other, after the cache's.
            mask: (n, cache length + n), true where a token may look; None: at itself and everything before it.
        """
        return self.run_layers(self.embed(ids), cache, positions, mask)

    def run_layers(
        self, x: Tensor, cache: KeyValues, positions: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """The same from what stands for each token before the first layer, (n, hidden).

        Where products do not depend on how many tokens are read at once, nor does the rest: each token of a round is
        then read as a text of its own, with what came before as its past, so that its attention is always summed alike.
        A tree is read as one text: between the tokens of a path stand others, and to copy each path costs more than it
        saves.
        """
        past, count = cache.length, len(x)
        end = past + count
        alone = count <= ROUND and self.rows_are_independent and mask is None
        seen = cache.open(count, alone)
        rotation = self.rotary.at(slice(past, end) if positions is None else positions, end)
        if alone or (mask is None and past and count > 1):  # else the tree's mask, the attention's own or none does
            places = torch.arange(seen, device=x.device)
            mask = places <= places[past:end, None]
        x = self.run_texts(x, cache.write, rotation, mask, count if alone else 1)
        cache.length = end
        return x

    def run_texts(
        self, x: Tensor, write: Write, rotation: tuple[Tensor, Tensor], mask: Tensor | None, texts: int
    ) -> Tensor:
        """All layers and the last norm, (n, hidden) in and out, of tokens that belong to so many texts; changes `x`."""
        cos, sin = (each.view(texts, 1, len(x) // texts, self.size) for each in rotation)
        bias = None
        if mask is not None:
            bias = torch.zeros_like(mask, dtype=x.dtype).masked_fill_(~mask, -inf).view(texts, 1, len(x) // texts, -1)
        for index, layer in enumerate(self.layers):
            x += self._attention(layer, index, self._norm(x, layer.attention_norm), write, (cos, sin), bias)
            x += _mlp(layer, self._norm(x, layer.mlp_norm))
        return self._norm(x, self.norm)

    def logits(self, hidden: Tensor) -> Tensor:
        """What the model expects next after each hidden state, (n, vocabulary)."""
        return self.output(hidden)

    def _attention(
        self, layer: Layer, index: int, x: Tensor, write: Write, rotation: tuple[Tensor, Tensor], bias: Tensor | None
    ) -> Tensor:
        """Each token's queries ask the keys of all it may see, and take their values in proportion (n, hidden)."""
        count, texts = x.size(0), 1 if bias is None else bias.size(0)
        heads = layer.queries_keys_values(x).view(texts, count // texts, -1, self.size).transpose(1, 2)
        both, values = heads.split_with_sizes((self.heads + self.kv_heads, self.kv_heads), 1)  # queries and keys
        if layer.query_norm is not None and layer.key_norm is not None:
            queries, keys = both.split_with_sizes((self.heads, self.kv_heads), 1)
            both = torch.cat((self._norm(queries, layer.query_norm), self._norm(keys, layer.key_norm)), 1)
        queries, keys = _rotate(both, rotation).split_with_sizes((self.heads, self.kv_heads), 1)
        keys, values = write(index, keys, values)
        seen = F.scaled_dot_product_attention(
            queries,
            keys,
            values,
            attn_mask=bias,
            is_causal=bias is None and count > 1,
            enable_gqa=self.kv_heads < self.heads,
        )
        return layer.attention_out(seen.transpose(1, 2).reshape(count, -1))

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        """Divide by the root mean square (Zhang and Sennrich 2019): `F.rms_norm` in a third of its operators."""
        wide = x.float()  # bfloat16 has too few digits for the squares
        length = torch.linalg.vector_norm(wide, 2, -1, True)
        divided = wide * torch.addcmul(self.eps, length, length, value=1 / weight.size(0)).rsqrt_()
        return divided.to(x.dtype).mul_(weight)


def _mlp(layer: Layer, x: Tensor) -> Tensor:
    """Two layers with a gate (Shazeer 2020), (n, hidden)."""
    gate, up = layer.gate_up(x).chunk(2, dim=-1)
    return layer.down(F.silu(gate).mul_(up))


def _rotate(heads: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Turn each pair of numbers (i, i + size / 2) of a head by its position's angle (Su et al. 2021)."""
    cos, sin = rotation
    return torch.addcmul(heads * cos, heads.roll(heads.size(-1) // 2, -1), sin)
