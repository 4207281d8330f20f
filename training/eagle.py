"""Train an EAGLE head: one layer that guesses from the target's last state and the next token, and from its own states.

When it drafts, only its first step of a round reads a state of the target; the later ones read its own. A head that was
trained on the target's states alone falls apart there. So it is trained on its own later steps too, for all places of
a row at once ("training-time test" of EAGLE-3, arXiv 2503.01840; the same idea in HASS, arXiv 2408.15766): step d at
place j reads the state that step d - 1 made at place j - 1, and attends to what a round that began d - 1 places earlier
would have in its cache: the first step's keys up to that place, then one key of each later step.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from specviz.models.catalogue import VOCABULARY
from specviz.models.heads import unit
from specviz.models.llama_weights import frequencies
from training.heads import Head

LINEAR = 0.6  # by which a linear start is made less sure: 0.2 nats a token nearer to the target than it would be
RIDGE = 0.01  # what `start_linear` adds to the diagonal, as a share of the number of places


class Eagle(Head):
    """The head while it is trained; `EagleHead` is the same network when it drafts."""

    frequencies: Tensor  # radians a token, as in `Llama`
    embedding: Tensor

    def __init__(self, start: LlamaForCausalLM, width: int, layer: int = 0, vocabulary: Tensor | None = None) -> None:
        """A head that starts as one layer of a model and does not use the state yet.

        Args:
            start: a draft for the same target, or the target itself; its embedding is copied too.
            width: of the feed-forward part: so many of the layer's neurons, those with the largest weights.
            layer: the layer to start from. A first layer reads embeddings, as the head does.
            vocabulary: the only words that it guesses, (words,) ids. `start` is then the target: its embedding is not
                copied but read through a matrix, see `start_linear`.
        """
        super().__init__()
        model = start.model
        config, start_layer = start.config, model.layers[layer]
        self.heads, self.eps = config.num_attention_heads, config.rms_norm_eps
        self.shared = config.num_attention_heads // config.num_key_value_heads
        self.vocabulary = vocabulary
        rope: Any = config.rope_parameters
        self.register_buffer("frequencies", frequencies(rope, config.hidden_size // self.heads), persistent=False)
        embedding, nothing = (
            model.embed_tokens.weight.detach().float(),
            torch.zeros(config.hidden_size, config.hidden_size),
        )
        if vocabulary is None:
            self.embedding = nn.Parameter(embedding.clone())
        else:
            self.register_buffer("embedding", embedding, persistent=False)
        self.from_token = None if vocabulary is None else _linear(nothing)
        self.from_state = _linear(nothing)
        self.attention_norm = nn.Parameter(start_layer.input_layernorm.weight.detach().clone())
        self.mlp_norm = nn.Parameter(start_layer.post_attention_layernorm.weight.detach().clone())
        self.norm = nn.Parameter(model.norm.weight.detach().clone())
        attention, mlp = start_layer.self_attn, start_layer.mlp
        self.q, self.k, self.v, self.o = (
            _linear(part.weight) for part in (attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj)
        )
        sizes = mlp.gate_proj.weight.norm(dim=1) * mlp.up_proj.weight.norm(dim=1) * mlp.down_proj.weight.norm(dim=0)
        chosen = sizes.topk(width).indices.sort().values
        self.gate, self.up = _linear(mlp.gate_proj.weight[chosen]), _linear(mlp.up_proj.weight[chosen])
        self.down = _linear(mlp.down_proj.weight[:, chosen])

    def guesses(self, states: Tensor, ids: Tensor, most: int) -> list[Tensor]:
        """See `Head`: step after step, each on the states that the one before it made."""
        token, before = self._token(ids[:, 1:]), states[:, :-1]
        made: list[Tensor] = []
        cached: list[tuple[Tensor, Tensor]] = []  # keys and values of each step
        for step in range(most):
            x = token + self.from_state(before if self.from_token is None else unit(before))
            x = x + self._attention(self._norm(x, self.attention_norm), cached)
            y = self._norm(x, self.mlp_norm)
            x = x + self.down(F.silu(self.gate(y)) * self.up(y))
            own = self._norm(x, self.norm)
            made.append(own[:, step:])  # the places before have no state of the step before
            before = F.pad(own, (0, 0, 1, 0))[:, :-1]
        return made

    def _token(self, ids: Tensor) -> Tensor:
        token = self.embedding[ids]
        return token if self.from_token is None else self.from_token(unit(token))

    @torch.no_grad()
    def start_linear(self, texts: Sequence[tuple[Tensor, Tensor]]) -> None:
        """Start as the best linear guess at the target's next state, of a layer that adds nothing yet.

        Args:
            texts: ids, (n,), and the target's states, (n, hidden).
        """
        assert self.from_token is not None
        known = [torch.cat([unit(h[:-1].float()), unit(self.embedding[ids[1:].long()])], -1) for ids, h in texts]
        x, y = torch.cat(known), torch.cat([h[1:].float() for _, h in texts]) / self.norm
        ridge = RIDGE * len(x) * torch.eye(x.shape[1])
        found = torch.linalg.solve(x.T @ x + ridge, x.T @ y).T
        self.from_state.weight.copy_(found[:, : y.shape[1]])
        self.from_token.weight.copy_(found[:, y.shape[1] :])
        self.o.weight.zero_()
        self.down.weight.zero_()
        self.norm.mul_(LINEAR)

    def _attention(self, x: Tensor, cached: list[tuple[Tensor, Tensor]]) -> Tensor:
        queries, keys, values = (self._split(each(x)) for each in (self.q, self.k, self.v))
        angles = torch.arange(x.shape[1])[:, None] * self.frequencies
        cos, sin = torch.cat([angles.cos()] * 2, -1), torch.cat([-angles.sin(), angles.sin()], -1)
        queries, keys = (each * cos + each.roll(each.shape[-1] // 2, -1) * sin for each in (queries, keys))
        keys, values = (each.repeat_interleave(self.shared, 1) for each in (keys, values))
        cached.append((keys, values))
        if len(cached) == 1:
            seen = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        else:
            seen = _attend(queries, cached)
        out: Tensor = self.o(seen.transpose(1, 2).flatten(2))
        return out

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], -1, 2 * len(self.frequencies)).transpose(1, 2).float()

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x.float(), weight.shape, weight, self.eps)

    def config(self) -> dict[str, Any]:
        """A Llama of one layer."""
        return {"kind": "eagle", "intermediate_size": len(self.gate.weight), "num_hidden_layers": 1}

    def weights(self) -> dict[str, Tensor]:
        layer = "model.layers.0."
        own = {
            **{f"{layer}self_attn.{name}_proj": getattr(self, name).weight for name in "qkvo"},
            **{f"{layer}mlp.{name}_proj": getattr(self, name).weight for name in ("gate", "up", "down")},
            f"{layer}input_layernorm": self.attention_norm,
            f"{layer}post_attention_layernorm": self.mlp_norm,
            "model.norm": self.norm,
            "from_state": self.from_state.weight,
        }
        own |= {"from_token": self.from_token.weight} if self.from_token else {"model.embed_tokens": self.embedding}
        words = {} if self.vocabulary is None else {VOCABULARY: self.vocabulary}
        return {f"{name}.weight": weight for name, weight in own.items()} | words

    @torch.no_grad()
    def take(self, weights: Mapping[str, Tensor]) -> None:
        """See `Head`. The words stay its own: their rows of the output embedding are the target's."""
        for name, weight in self.weights().items():
            if name != VOCABULARY:
                weight.copy_(weights[name])


def _linear(weight: Tensor) -> nn.Linear:
    made = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    made.weight = nn.Parameter(weight.detach().clone().float().contiguous())
    return made


def _attend(queries: Tensor, cached: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Attention of the latest step, (rows, heads, n, size): see the file's first lines."""
    later = len(cached) - 1  # steps after the first
    (keys, values), n = cached[0], queries.shape[2]
    scale = 1 / math.sqrt(queries.shape[-1])
    scores = queries @ keys.transpose(-1, -2) * scale
    scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1 - later), -1e9)
    shifted = [[_shift(part, later - m) for part in cached[m]] for m in range(1, later + 1)]
    own = torch.stack([(queries * keys).sum(-1) * scale for keys, _ in shifted], -1)  # (rows, heads, n, later)
    shares = torch.cat([scores, own], -1).float().softmax(-1)
    seen = shares[..., :n] @ values
    for m, (_, its_values) in enumerate(shifted):
        seen = seen + shares[..., n + m, None] * its_values
    return seen


def _shift(x: Tensor, places: int) -> Tensor:
    """Entry j of the result is entry j - places."""
    return F.pad(x, (0, 0, places, 0))[:, :, : x.shape[2]]
