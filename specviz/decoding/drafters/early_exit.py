"""Drafting with the target's own first layers, in the target's own cache (`models/early_exit.py`)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from torch import Tensor

from specviz.core.drafters import exit_layers
from specviz.core.errors import InputError
from specviz.core.replay import DraftGuesses
from specviz.core.settings import DecodeSettings
from specviz.core.steps import Steps, result_of
from specviz.decoding.drafters.model import ModelDrafter, ModelNodes
from specviz.decoding.drafters.protocol import Draft, DraftContext, Drafter, Proposer
from specviz.decoding.drafters.tree import proposer_of
from specviz.decoding.run_setup import RunSetup
from specviz.models.cached_model import CachedModel, FirstLayers
from specviz.models.early_exit import EarlyExit, early_exit
from specviz.models.loaded_model import Dtype, LoadedModel


class EarlyExitDrafter(Drafter):
    grows_trees = True

    def __init__(self, layers: EarlyExit) -> None:
        self.layers = layers
        made = layers.info
        self.info = made.as_drafter("early-exit")

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
        first = context.target.first_layers(self.layers.layers)
        nodes = _Nodes(first, context.setup.prompt.token_ids)
        return EarlyExitProposer(proposer_of(nodes, context), first)

    def guess_along(self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]) -> DraftGuesses:
        return result_of(self.guess_along_steps(target, prompt_ids, output_ids))

    def guess_along_steps(
        self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]
    ) -> Steps[DraftGuesses]:
        guesses = yield from ModelDrafter(self.layers.model).guess_along_steps(target, prompt_ids, output_ids)
        return replace(guesses, drafter=self.info)


class EarlyExitProposer(Proposer):
    """Lets another proposer draft in the target's cache, and clears its guesses away before the target reads them."""

    def __init__(self, inner: Proposer, first: FirstLayers) -> None:
        self._inner = inner
        self._first = first

    def read_prompt(self) -> Iterator[None]:
        yield from ()

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
