"""Early exit: the target's first layers draft, with the target's own norm and output embedding, in its own cache.

It needs no weights of its own. LayerSkip (Elhoushi et al. 2024, arXiv:2404.16710) trains the target for it; the first
layers of a target that was not trained for it rarely agree with the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from specviz.core.drafters import exit_layers
from specviz.core.errors import InputError
from specviz.core.replay import DraftGuesses
from specviz.core.settings import DecodeSettings
from specviz.core.steps import Steps
from specviz.core.trace import ModelInfo
from specviz.decoding.drafters.model import ModelDrafter, ModelNodes
from specviz.decoding.drafters.protocol import Draft, DraftContext, Drafter, Proposer
from specviz.decoding.drafters.tree import proposer_of
from specviz.decoding.run_setup import RunSetup
from specviz.models.cached_model import CachedModel, FirstLayers
from specviz.models.forward import NO_EARLY_EXIT, LightForward
from specviz.models.llama import Layer, Linear
from specviz.models.loaded_model import Dtype, LoadedModel

if TYPE_CHECKING:  # importing transformers' model classes takes seconds and 120 MB
    from transformers import PreTrainedModel


@dataclass(frozen=True, slots=True)
class EarlyExit:
    name: str
    layers: int
    model: LoadedModel  # the first layers as a model: its weights are the target's
    kind: ClassVar[str] = "early-exit"  # as in traces

    @property
    def info(self) -> ModelInfo:
        return self.model.info

    @property
    def context(self) -> int:
        return self.model.context


def early_exit(name: str, layers: int, target: LoadedModel) -> EarlyExit:
    """The target's first layers under this name."""
    if not isinstance(target.forward, LightForward):
        raise InputError(NO_EARLY_EXIT.format(name=target.name))
    whole = target.forward.llama
    count = len(whole.layers)
    if not 1 <= layers < count:
        raise InputError(
            f"{target.name} has {count} layers: an early exit takes 1 to {count - 1} of them, not {layers}."
        )
    first = whole.first(layers)
    left_out = sum(_parameters(layer) for layer in whole.layers[layers:])
    info = replace(target.info, name=name, parameters=target.info.parameters - left_out)
    model = replace(
        target,
        name=name,
        info=info,
        forward=LightForward(first),
        make_model=_none,
        bytes=0,
        cache_bytes_per_token=target.cache_bytes_per_token * layers // count,
    )
    return EarlyExit(name, layers, model)


def _parameters(layer: Layer) -> int:
    parts: list[Tensor | Linear | None] = [getattr(layer, each.name) for each in fields(layer)]
    tensors = [part if isinstance(part, Tensor) else part.weight for part in parts if part is not None]
    tensors += [part.bias for part in parts if isinstance(part, Linear) and part.bias is not None]
    return sum(tensor.numel() for tensor in tensors)


def _none() -> "PreTrainedModel":
    raise ValueError("The first layers of a model are no model of transformers.")


class EarlyExitDrafter(Drafter):
    grows_trees = True

    def __init__(self, layers: EarlyExit) -> None:
        self.layers = layers
        self.info = layers.info.as_drafter(layers.kind)

    def set_up(self, target: LoadedModel, prompt: str | Sequence[int], settings: DecodeSettings) -> RunSetup:
        if target.info.weights_hash != self.layers.info.weights_hash:
            raise InputError(f"{self.info.name} are layers of another model, so they cannot draft for {target.name}.")
        return super().set_up(target, prompt, settings)

    def begin(self, context: DraftContext) -> Proposer:
        """Nothing to read: the keys and values of the text are in the target's cache, those of the first layers too.

        Where draft models are opened in another way, or no target reads along, the layers get a cache of their own.
        """
        if context.target is None or context.open_model is not CachedModel:
            return ModelDrafter(self.layers.model).begin(context)
        first = FirstLayers(context.target, self.layers.layers)
        nodes = _Nodes(first, context.setup.prompt.token_ids)
        return EarlyExitProposer(proposer_of(nodes, context), first)

    def guess_along_steps(
        self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]
    ) -> Steps[DraftGuesses]:
        guesses = yield from ModelDrafter(self.layers.model).guess_along_steps(target, prompt_ids, output_ids)
        return replace(guesses, drafter=self.info)


@dataclass
class EarlyExitProposer(Proposer):
    """Lets another proposer draft in the target's cache, and clears its guesses away before the target reads them."""

    _inner: Proposer
    _first: FirstLayers

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """What the other one proposes. It finds all of the text in the cache, except the last token."""
        self._first.catch_up()
        draft = self._inner.propose(token_ids, count)
        self._first.catch_up()
        return draft

    def commit(self, length: int) -> None:
        """Nothing to do: the target's cache holds what was accepted."""


class _Nodes(ModelNodes):
    """Reads trees in a cache that is cleared after each."""

    def after_text(self, token_ids: Sequence[int]) -> Tensor:
        """Read the text's last token: no node of an earlier tree is left."""
        self._read = []
        return super().after_text(token_ids)


def load(name: str, target: LoadedModel, dtype: Dtype) -> EarlyExit:
    layers = exit_layers(name)
    assert layers is not None, name
    return early_exit(name, layers, target)


def fit(target: LoadedModel, loaded: EarlyExit, settings: DecodeSettings) -> Drafter:
    return EarlyExitDrafter(loaded)
