"""Heads on one page: small networks that draft from the target's own last hidden states.

The target has read a text and its last hidden states sum up what it thinks of each place. A draft model starts from the
words alone; a head starts from there. The target's output embedding turns what it computes into logits.

    EAGLE, one guess a step                                        Medusa, all guesses at once
    the target's state at place i ──────────┐                      the target's last state
    token i + 1 ── its own embedding ──── + ┘                          │
                                          │                            ├── block 1 ── output embedding ──> guess 1
                                      one layer                        ├── block 2 ── output embedding ──> guess 2
                                          │                            ├── ...
                        its own state at place i + 1                   └── block 4 ── output embedding ──> guess 4
                                          │
                                   output embedding ──> guess of token i + 2

EAGLE's next step takes its own state where the target's is not known yet, so a guess knows the guesses before it.
Medusa's guesses do not: each is made as if nothing had been guessed, so it needs one pass for all of them.

A head on a target with a large vocabulary has no embedding of its own: a matrix takes in the target's. And it guesses
only the most frequent words, whose ids its file names: most of a step is the product with the output embedding.

EAGLE: Li et al. 2024, arXiv 2401.15077; the way in is that of DeepSeek-V3's module for multi-token prediction
(arXiv 2412.19437, Section 2.2). Medusa: Cai et al. 2024, arXiv 2401.10774. `load_head` reads them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

from specviz.core.drafters import LOOKUP_FIRST
from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.core.trace import ModelInfo
from specviz.models import catalogue
from specviz.models.key_values import KeyValues
from specviz.models.llama import Linear, Llama
from specviz.models.llama_weights import build, linear
from specviz.models.loaded_model import DTYPES, LIGHT, Dtype, LoadedModel
from specviz.models.packing import plain

say = Sentences("models")

UNIT_EPS = 1e-5


@dataclass(frozen=True, slots=True)
class EagleHead:
    """Reads pairs (the state at a place, the token that follows it) with a cache of its own."""

    from_state: Linear  # to hidden
    body: Llama  # of one layer; its output embedding is the target's, or the rows of it for the words
    embedding: Tensor  # its own, or the target's
    from_token: Linear | None = None  # to hidden, from the target's embedding
    words: Tensor | None = None  # ids of all that it can guess; None: every word

    def hidden(
        self, states: Tensor, ids: Tensor, cache: KeyValues, positions: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Read n places after those in the cache, which grows by them; returns the head's own states, (n, hidden).

        Args:
            states: (n, hidden) the target's last hidden state at each place, or the head's own guess at it.
            ids: (n,) the token after each place.
            cache, positions, mask: as in `Llama.hidden`.
        """
        tokens = self.embedding[ids].to(states.dtype)
        if self.from_token is not None:
            tokens, states = self.from_token(unit(tokens)), unit(states)
        return self.body.run_layers(tokens + self.from_state(states), cache, positions, mask)

    def logits(self, hidden: Tensor) -> Tensor:
        """Of every word of the target, (n, vocabulary); -inf for a word that it cannot guess, which then has q = 0."""
        made = self.body.logits(hidden)
        if self.words is None:
            return made
        return made.new_full((len(hidden), len(self.embedding)), -inf).index_copy_(1, self.words, made)


def unit(x: Tensor) -> Tensor:
    """Rows of length 1 a number: states and embeddings are of different sizes."""
    return F.rms_norm(x.float(), x.shape[-1:], eps=UNIT_EPS).to(x.dtype)


@dataclass(frozen=True, slots=True)
class MedusaHeads:
    """One residual block for each depth of the draft, on the same state."""

    up: Linear  # into the blocks of all depths, one below the other: to depths × inner
    down: Tensor  # (depths, hidden, inner) out of each block
    output: Linear  # the target's output embedding

    @property
    def depths(self) -> int:
        return len(self.down)

    def logits(self, state: Tensor) -> Tensor:
        """The guesses of all depths from one state, (hidden,); returns (depths, vocabulary).

        Row i is about the token i + 2 places after the one that gave the state: the next one is the target's own.
        """
        inner = F.silu(self.up(state[None])).view(self.depths, -1, 1)
        changes = torch.bmm(self.down, inner)[:, :, 0]
        return self.output(state + changes)


HeadWeights = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class LoadedHead:
    name: str
    kind: str  # as in traces
    info: ModelInfo  # its own parameters alone: the output embedding is the target's
    target: str  # the model that it was trained on
    target_hash: str  # of that model's weights
    network: EagleHead | MedusaHeads

    def check(self, target: LoadedModel) -> None:
        """Raises InputError: the target is another than the head's own, or hands over no hidden states."""
        _checked(self.name, self.target, self.target_hash, target)


def load_head(name: str, target: LoadedModel, dtype: Dtype = "float32", folder: Path | None = None) -> LoadedHead:
    """A head for this target, by bundled name or from a folder; in an equal format, they share the output embedding.

    "auto" is float32: reading one token with a small network is slower in bfloat16.
    """
    if folder is None:
        if name not in catalogue.bundled_heads():
            raise InputError(say("no_head", name=repr(name[:100])))
        folder = catalogue.head_folder(name)
    config = json.loads((folder / catalogue.HEAD_FILE).read_text(encoding="utf-8"))
    of, digest = config["target"], config["target_weights_hash"]
    whole = _checked(name, of, digest, target)
    dtype = "float32" if dtype == "auto" else dtype
    parameters = catalogue.count_parameters(folder / "model.safetensors")
    info = ModelInfo(name, parameters, dtype, catalogue.weights_hash(folder), LIGHT, target.info.device)
    stored = load_file(folder / "model.safetensors")
    weights = {
        key: weight.to(target.device, DTYPES[dtype] if weight.is_floating_point() else weight.dtype)
        for key, weight in stored.items()
    }
    make: Callable[..., EagleHead | MedusaHeads] = eagle if config["kind"] == "eagle" else medusa
    kind = f"lookup-{config['kind']}" if name.startswith(LOOKUP_FIRST) else config["kind"]
    return LoadedHead(name, kind, info, of, digest, make(config, weights, whole))


def _checked(name: str, of: str, digest: str, target: LoadedModel) -> Llama:
    """The target's forward pass, which hands over its hidden states."""
    if target.info.weights_hash != digest:
        raise InputError(catalogue.wrong_target(name, of, target.name))
    if target.llama is None:
        raise InputError(say("needs_light", name=name, target=target.name))
    return target.llama


def eagle(config: Mapping[str, Any], weights: HeadWeights, target: Llama) -> EagleHead:
    from_state = linear(weights["from_state.weight"])
    if catalogue.VOCABULARY not in weights:
        body = build(config, weights)
        return EagleHead(from_state, replace(body, output=_output(target, body.norm.dtype)), body.embedding)
    words, from_token = weights[catalogue.VOCABULARY].long(), linear(weights["from_token.weight"])
    rows = plain(target.output)[words].to(weights["from_token.weight"].dtype)
    body = build(config, weights | {"model.embed_tokens.weight": rows})
    return EagleHead(from_state, body, target.embedding, from_token, words)


def medusa(config: Mapping[str, Any], weights: HeadWeights, target: Llama) -> MedusaHeads:
    up = linear(weights["up.weight"], weights["up.bias"])
    return MedusaHeads(up, weights["down.weight"], _output(target, weights["up.weight"].dtype))


def _output(target: Llama, dtype: torch.dtype) -> Linear:
    """The target's output embedding: its own matrix, or a copy where the head has another number format."""
    return target.output if target.norm.dtype == dtype else linear(plain(target.output).to(dtype))
