"""The model on one page: the forward pass of the Llama family, from token ids to the next token's logits.

    token ids ── embedding ──> x                                       (n, hidden)
    for each layer:
        x = x + attention(norm(x))      every token looks at itself and at the tokens before it
        x = x + mlp(norm(x))            every token for itself
    norm(x) ── output embedding ──> logits                             (n, vocabulary)

Llama (Touvron et al. 2023), Mistral without a sliding window, Qwen2 (with biases on queries, keys and values) and
Qwen3 (with a norm on each head's queries and keys). `llama_weights.py` builds it from a checkpoint.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from specviz.models.key_values import KeyValues


@dataclass(frozen=True, slots=True)
class Linear:
    """A matrix, and a bias where the model has one. Matrices that read the same input are joined to one."""

    weight: Tensor  # (out, in)
    bias: Tensor | None

    def __call__(self, x: Tensor) -> Tensor:
        """(n, in) in, (n, out) out."""
        return F.linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class Layer:
    """The weights of one layer."""

    attention_norm: Tensor  # (hidden,)
    queries_keys_values: Linear  # to (heads + 2 × kv_heads) × size
    query_norm: Tensor | None  # (size,)
    key_norm: Tensor | None
    attention_out: Linear
    mlp_norm: Tensor
    gate_up: Linear  # to 2 × intermediate
    down: Linear


@dataclass(frozen=True, slots=True)
class Llama:
    """All weights, and the few numbers that they do not say."""

    embedding: Tensor  # (vocabulary, hidden)
    layers: list[Layer]
    norm: Tensor
    output: Tensor  # (vocabulary, hidden); the embedding itself where the two are tied
    heads: int  # of queries
    kv_heads: int  # of keys and values: each serves heads / kv_heads queries
    size: int  # numbers in a head
    eps: float  # of the norms
    frequencies: Tensor  # (size / 2,) radians a token

    def cache(self) -> KeyValues:
        """An empty cache for one text."""
        return KeyValues(len(self.layers), self.kv_heads, self.size, self.embedding)

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
        past, count = cache.length, len(ids)
        cache.reserve(count)
        if positions is None:
            positions = torch.arange(past, past + count, device=ids.device)
        if mask is None and past and count > 1:  # else the attention's own mask, or none, does
            mask = positions[:, None] >= torch.arange(past + count, device=ids.device)
        rotation = self._rotation(positions)
        x = self.embedding[ids]
        for index, layer in enumerate(self.layers):
            x = x + self._attention(layer, index, self._norm(x, layer.attention_norm), cache, rotation, mask)
            x = x + _mlp(layer, self._norm(x, layer.mlp_norm))
        cache.length += count
        return self._norm(x, self.norm)

    def logits(self, hidden: Tensor) -> Tensor:
        """What the model expects next after each hidden state, (n, vocabulary)."""
        return F.linear(hidden, self.output)

    def _attention(
        self,
        layer: Layer,
        index: int,
        x: Tensor,
        cache: KeyValues,
        rotation: tuple[Tensor, Tensor],
        mask: Tensor | None,
    ) -> Tensor:
        """Each token's queries ask the keys of all it may see, and take their values in proportion (n, hidden)."""
        heads = layer.queries_keys_values(x).view(len(x), -1, self.size).transpose(0, 1)
        queries, keys, values = torch.split(heads, [self.heads, self.kv_heads, self.kv_heads])
        if layer.query_norm is not None and layer.key_norm is not None:
            queries, keys = self._norm(queries, layer.query_norm), self._norm(keys, layer.key_norm)
        keys, values = cache.write(index, _rotate(keys, rotation), values)
        seen = F.scaled_dot_product_attention(
            _rotate(queries, rotation)[None],
            keys[None],
            values[None],
            attn_mask=mask,
            is_causal=mask is None and len(x) > 1,
            enable_gqa=self.kv_heads < self.heads,
        )
        return layer.attention_out(seen[0].transpose(0, 1).reshape(len(x), -1))

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        """Divide by the root mean square (Zhang and Sennrich 2019)."""
        return F.rms_norm(x, weight.shape, weight, self.eps)

    def _rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines of each position's angles, (n, size) each; the sines with the sign that `_rotate` needs."""
        angles = positions[:, None].float() * self.frequencies
        cos, sin = angles.cos().to(self.embedding.dtype), angles.sin().to(self.embedding.dtype)
        return torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)


def _mlp(layer: Layer, x: Tensor) -> Tensor:
    """Two layers with a gate (Shazeer 2020), (n, hidden)."""
    gate, up = layer.gate_up(x).chunk(2, dim=-1)
    return layer.down(F.silu(gate) * up)


def _rotate(heads: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Turn each pair of numbers (i, i + size / 2) of a head by its position's angle (Su et al. 2021)."""
    cos, sin = rotation
    return heads * cos + heads.roll(heads.shape[-1] // 2, -1) * sin
