"""Early exit: the target's first layers as a draft, with the target's own norm and output embedding.

It needs no weights of its own. LayerSkip (Elhoushi et al. 2024, arXiv:2404.16710) trains the target for it; the first
layers of a target that was not trained for it rarely agree with the whole.
"""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.trace import ModelInfo
from specviz.models.forward import NO_EARLY_EXIT, LightForward
from specviz.models.llama import Layer, Linear
from specviz.models.loaded_model import LoadedModel

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
    facts = replace(target.facts, bytes=0, cache_bytes_per_token=target.cache_bytes_per_token * layers // count)
    model = replace(target, name=name, info=info, facts=facts, forward=LightForward(first), make_model=_none)
    return EarlyExit(name, layers, model)


def _parameters(layer: Layer) -> int:
    parts: list[Tensor | Linear | None] = [getattr(layer, each.name) for each in fields(layer)]
    tensors = [part if isinstance(part, Tensor) else part.weight for part in parts if part is not None]
    tensors += [part.bias for part in parts if isinstance(part, Linear) and part.bias is not None]
    return sum(tensor.numel() for tensor in tensors)


def _none() -> "PreTrainedModel":
    raise ValueError("The first layers of a model are no model of transformers.")
