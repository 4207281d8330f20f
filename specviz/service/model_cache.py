"""The models the engine has in memory: one number format of a model at a time, the longest unused dropped first."""

import gc
import os
from collections.abc import Collection, Mapping

from specviz.core.errors import InputError
from specviz.core.request import Precision
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.models.cached_model import CachedModel
from specviz.models.dtype_choice import choose_dtype
from specviz.models.inspection import inspect_model
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.models.loading import load_model
from specviz.models.memory import available_bytes, in_words, weight_bytes
from specviz.models.pairing import shared_vocabulary
from specviz.models.pairs import known_models

LEAST_BUDGET = 400 * 10**6  # bytes


def budget_from_environment() -> int:
    """Bytes that all loaded models may take: SPECVIZ_MODEL_MB, or half of the memory that is free now."""
    if megabytes := os.environ.get("SPECVIZ_MODEL_MB"):
        return int(megabytes) * 10**6
    return max(LEAST_BUDGET, available_bytes() // 2)


class ModelCache:
    """Keeps models up to a budget. What is about to be loaded is counted first; the pair at work never leaves."""

    def __init__(self, budget: int | None = None) -> None:
        self._budget = budget_from_environment() if budget is None else budget  # in bytes of weights
        self._models: dict[str, LoadedModel] = {}  # by name, the one used last at the end
        self._sizes: dict[str, int] = {}  # parameters of models seen so far
        self._quicker: dict[str, Dtype] = {}  # measured once, for "fast"
        self._reasons: dict[str, str] = {}  # why those: one sentence each
        self._plain: dict[str, str] = {}  # what plain decoding would rather have, where that is the other one

    @property
    def bytes(self) -> int:
        """Memory the models take."""
        return sum(model.bytes for model in self._models.values())

    def holds(self, name: str, precision: Precision) -> bool:
        """Whether the model is in memory in the number format this precision means."""
        dtype = "float32" if precision == "exact" else self._quicker.get(name)
        return name in self._models and self._models[name].info.dtype == dtype

    def check(self, sizes: Mapping[str, int], precision: Precision) -> None:
        """Refuse models, given their parameters by name, that would not fit even if all others left.

        Raises:
            InputError: they would not.
        """
        self._sizes |= sizes
        least = "float32" if precision == "exact" else "bfloat16"
        needed = sum(weight_bytes(parameters, least) for parameters in sizes.values())
        if needed > self._budget:
            raise InputError(
                f"{' and '.join(sizes)} take {in_words(needed)} in {least}, and this server keeps at most "
                f"{in_words(self._budget)} of models in memory: choose smaller ones, or have its operator raise "
                f"SPECVIZ_MODEL_MB."
            )

    def get(self, name: str, precision: Precision, keep: Collection[str] = ()) -> LoadedModel:
        """The model, loaded and warmed up if need be; others leave for it, but for those in `keep`.

        Raises:
            InputError: it cannot be loaded.
        """
        dtype = self._dtype(name, precision, keep)
        model = self._models.pop(name, None)
        if model is None or model.info.dtype != dtype:
            model = None  # the old copy goes before the new one comes
            self._make_room(weight_bytes(self._parameters(name), dtype), keep)
            model = load_model(name, dtype)
            warm_up(model)
            set_aside()
        self._models[name] = model
        return model

    def reasons(self, target: str, draft: str | None, precision: Precision) -> list[str]:
        """Why these models run in the number format they do; nothing to say where float32 was asked for."""
        if precision == "exact":
            return []
        told = [self._reasons.get(target), self._plain.get(target), self._reasons.get(draft or target)]
        return [sentence for sentence in dict.fromkeys(told) if sentence]

    def _dtype(self, name: str, precision: Precision, keep: Collection[str]) -> Dtype:
        if precision == "exact":
            return "float32"
        if name not in self._quicker:
            both = weight_bytes(self._parameters(name), "float32")
            kept = sum(model.bytes for other, model in self._models.items() if other in keep and other != name)
            if kept + both > self._budget:
                self._quicker[name] = "bfloat16"
                self._reasons[name] = f"{name} runs in bfloat16, because the pair does not fit into memory in float32."
            else:
                self._make_room(both, set(keep) - {name})  # measuring loads it in one format after the other
                choice = choose_dtype(name)
                self._quicker[name], self._reasons[name], self._plain[name] = choice.dtype, choice.reason, choice.plain
        return self._quicker[name]

    def _parameters(self, name: str) -> int:
        if name not in self._sizes:
            known = known_models().get(name)
            self._sizes[name] = known.parameters if known else inspect_model(name).parameters
        return self._sizes[name]

    def _make_room(self, needed: int, keep: Collection[str]) -> None:
        for name in [name for name in self._models if name not in keep]:
            if self.bytes + needed <= self._budget:
                return
            del self._models[name]


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
