"""The models the engine has in memory: one number format of a model at a time, the longest unused dropped first."""

import gc
import os

from specviz.decoding.cached_model import CachedModel
from specviz.models.calibration import quicker_dtype
from specviz.models.loading import Dtype, LoadedModel, load_model
from specviz.models.pairing import shared_vocabulary
from specviz.request import Precision
from specviz.settings import MAX_DRAFT_LENGTH

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
        dtype = self._dtype(name, precision)
        model = self._models.pop(name, None)
        if model is None or model.info.dtype != dtype:
            model = None  # the old copy goes before the new one comes
            model = load_model(name, dtype)
            warm_up(model)
            set_aside()
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


def warm_up(loaded: LoadedModel) -> None:
    """Read each number of tokens a pass may have once: in bfloat16 the first pass of a size is slow."""
    model = CachedModel(loaded, shared_vocabulary(loaded))
    model.prefill([0])
    for count in range(1, MAX_DRAFT_LENGTH + 2):
        model.read([0] * count)
        model.crop(1)


def set_aside() -> None:
    """Keep what is here now out of later garbage collections, which would spoil a timing; it is freed all the same."""
    gc.collect()
    gc.freeze()
