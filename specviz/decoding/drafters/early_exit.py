"""Early exit: the target's first layers draft, with the target's own norm and output embedding.

It needs no weights of its own. LayerSkip (Elhoushi et al. 2024, arXiv:2404.16710) trains the target for it; the first
layers of a target that was not trained for it rarely agree with the whole.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from specviz.core.drafters import exit_layers
from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.core.texts import Sentences
from specviz.decoding.drafters.model import ModelDrafter
from specviz.decoding.drafters.protocol import Drafter
from specviz.decoding.run_setup import RunSetup, set_up_run
from specviz.models.llama_weights import tensors_of
from specviz.models.loaded_model import Dtype, LoadedModel, Reader

say = Sentences("decoding")

if TYPE_CHECKING:  # importing transformers' model classes takes seconds and 120 MB
    from transformers import PreTrainedModel


def load(name: str, target: LoadedModel, dtype: Dtype) -> LoadedModel:
    """The target's first layers under this name, as a model whose weights are the target's."""
    layers, whole = exit_layers(name), target.llama
    assert layers is not None, name
    if whole is None:
        raise InputError(say("no_early_exit", model=target.name))
    count = len(whole.layers)
    if not 1 <= layers < count:
        raise InputError(say("wrong_layers", target=target.name, count=count, most=count - 1, layers=layers))
    first = replace(whole, layers=whole.layers[:layers])  # with the norm and the output embedding of the whole
    left_out = sum(each.numel() for layer in whole.layers[layers:] for each in tensors_of(layer))
    info = replace(target.info, name=name, parameters=target.info.parameters - left_out)
    return replace(
        target,
        name=name,
        info=info,
        llama=first,
        open_reader=partial(Reader, first),
        make_model=_none,
        bytes=0,
        cache_bytes_per_token=target.cache_bytes_per_token * layers // count,
        kind="early-exit",
    )


def _none() -> "PreTrainedModel":
    raise ValueError("The first layers of a model are no model of transformers.")


class EarlyExitDrafter(ModelDrafter):
    def __init__(self, layers: LoadedModel) -> None:
        super().__init__(layers)
        self.loaded = None  # it is no model of its own
        self.info = layers.info.make_drafter_info(layers.kind)

    def set_up(self, target: LoadedModel, prompt: str | Sequence[int], settings: DecodeSettings) -> RunSetup:
        if target.info.weights_hash != self.info.weights_hash:
            raise InputError(say("other_target", draft=self.info.name, target=target.name))
        return set_up_run(target, self._model, prompt, settings)


def fit(target: LoadedModel, loaded: LoadedModel, settings: DecodeSettings) -> Drafter:
    return EarlyExitDrafter(loaded)
