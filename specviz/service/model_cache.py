"""The models in the engine's memory: one number format of a model at a time; the least recently used goes first."""

import gc
from collections.abc import Collection, Mapping

from specviz.core.errors import InputError
from specviz.core.request import Precision
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.models.cached_model import CachedModel
from specviz.models.catalogue import weight_bytes
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.models.loading import DtypeChoice, choose_dtype, inspect_model, load_model
from specviz.models.memory import available_bytes, in_words
from specviz.models.pairing import shared_vocabulary
from specviz.models.pairs import known_models
from specviz.service.limits import number_set

LEAST_BUDGET = 400 * 10**6  # bytes


def budget_from_environment() -> int:
    """Bytes that all loaded models may take: SPECVIZ_MODEL_MB, or half of the memory that is free now."""
    megabytes = number_set("SPECVIZ_MODEL_MB", "megabytes")
    return megabytes * 10**6 if megabytes else max(LEAST_BUDGET, available_bytes() // 2)


class ModelCache:
    """Holds models up to a budget. A model is counted before it is loaded; the pair in use is never removed."""

    def __init__(self, budget: int | None = None) -> None:
        self._budget = budget_from_environment() if budget is None else budget  # in bytes of weights
        self._models: dict[str, LoadedModel] = {}  # by name, the most recently used at the end
        self._sizes: dict[str, int] = {}  # parameters, by model name
        self._faster: dict[str, DtypeChoice] = {}  # for "fast": the faster number format of each model, measured once

    @property
    def names(self) -> list[str]:
        return list(self._models)

    @property
    def bytes(self) -> int:
        return sum(model.bytes for model in self._models.values())

    def holds(self, name: str, precision: Precision) -> bool:
        faster = self._faster.get(name)
        dtype = "float32" if precision == "exact" else faster and faster.dtype
        return name in self._models and self._models[name].info.dtype == dtype

    def check(self, sizes: Mapping[str, int], precision: Precision) -> None:
        """Refuse models, given their parameters by name, that would not fit even without all others: an InputError."""
        self._sizes |= sizes
        least = "float32" if precision == "exact" else "bfloat16"
        needed = sum(weight_bytes(parameters, least) for parameters in sizes.values())
        if needed > self._budget:
            raise InputError(
                f"{' and '.join(sizes)} take {in_words(needed)} in {least}, and this server holds at most "
                f"{in_words(self._budget)} of models in memory: choose smaller ones, or ask its operator to raise "
                f"SPECVIZ_MODEL_MB."
            )

    def get(self, name: str, precision: Precision, keep: Collection[str] = ()) -> LoadedModel:
        """The model, loaded and warmed up if needed; others are removed to make room, except those in `keep`."""
        dtype = self._dtype(name, precision, keep)
        model = self._models.pop(name, None)
        if model is None or model.info.dtype != dtype:
            model = None  # remove the old copy before the new one is loaded
            self._make_room(weight_bytes(self._parameters(name), dtype), keep)
            model = load_model(name, dtype)
            warm_up(model)
            set_aside()
        self._models[name] = model
        return model

    def reasons(self, target: LoadedModel, draft: LoadedModel | None, precision: Precision) -> list[str]:
        if precision == "exact":
            return []
        of_target, of_draft = self._faster[target.name], self._faster[(draft or target).name]
        reasons = (of_target.reason, of_target.plain, of_draft.reason)
        return [sentence for sentence in dict.fromkeys(reasons) if sentence]

    def _dtype(self, name: str, precision: Precision, keep: Collection[str]) -> Dtype:
        if precision == "exact":
            return "float32"
        if name not in self._faster:
            both = weight_bytes(self._parameters(name), "float32")
            in_use = sum(model.bytes for other, model in self._models.items() if other in keep and other != name)
            if in_use + both > self._budget:
                why = f"{name} runs in bfloat16, because the pair does not fit into memory in float32."
                self._faster[name] = DtypeChoice(name, "bfloat16", {}, why)
            else:
                self._make_room(both, set(keep) - {name})  # measuring loads it in one format after the other
                self._faster[name] = choose_dtype(name)
        return self._faster[name].dtype

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
    """Leave what is in memory now out of later garbage collections, which would disturb timings."""
    gc.collect()
    gc.freeze()
