"""The models the engine has in memory: one number format of a model at a time, the longest unused dropped first."""

import gc
import os
from typing import Literal

from specviz.decoding.cached_model import CachedModel
from specviz.models.calibration import quicker_dtype
from specviz.models.loading import LoadedModel, load_model
from specviz.models.pairing import shared_vocabulary
from specviz.request import Precision
from specviz.settings import MAX_DRAFT_LENGTH

Dtype = Literal["float32", "bfloat16"]
BUDGET_BYTES = int(os.environ.get("SPECVIZ_MODEL_MB", "400")) * 10**6


class Shelf:
    """Keeps models up to a budget; the two used last are always kept, for they are a pair at work."""

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._budget = budget  # in bytes of weights
        self._models: dict[str, LoadedModel] = {}  # by name, the one used last at the end
        self._quicker: dict[str, Dtype] = {}  # measured once, for "fast"

    def holds(self, name: str, precision: Precision) -> bool:
        """Whether the model is in memory in the number format this precision means."""
        dtype = "float32" if precision == "exact" else self._quicker.get(name)
        return name in self._models and self._models[name].info.dtype == dtype

    def get(self, name: str, precision: Precision) -> LoadedModel:
        """The model, loaded and warmed up if need be.

        Raises:
            InputError: it cannot be loaded.
        """
        held = self.holds(name, precision)
        model = self._models.pop(name, None)
        if model is None or not held:
            model = None  # the old copy goes before the new one comes
            collect_garbage()
            model = load_model(name, self._dtype(name, precision))
            warm_up(model)
        self._models[name] = model
        self._shrink()
        return model

    def _dtype(self, name: str, precision: Precision) -> Dtype:
        if precision == "exact":
            return "float32"
        if name not in self._quicker:
            self._quicker[name] = quicker_dtype(name)
        return self._quicker[name]

    def _shrink(self) -> None:
        while len(self._models) > 2 and sum(model.bytes for model in self._models.values()) > self._budget:
            del self._models[next(iter(self._models))]
            collect_garbage()


def warm_up(loaded: LoadedModel) -> None:
    """Run each number of tokens a pass may have once: the first pass of a shape is slow."""
    for count in range(MAX_DRAFT_LENGTH + 1, 0, -1):
        model = CachedModel(loaded, shared_vocabulary(loaded))
        model.prefill([0])
        model.read([0] * count)


def collect_garbage() -> None:
    """Free what is unused, and keep what is left out of later collections: one of those would spoil a timing."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
