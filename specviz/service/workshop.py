"""What the handlers of jobs share: the models in memory, and the costs of pairs.

Its generators yield None where there is nothing to report, so that a job can be stopped there; the handlers' do too.
They yield `EngineAlive` where the job waits for a download or the Hub, so that others have the engine meanwhile.
"""

import gc
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from time import monotonic
from typing import TypeVar

from specviz.core.errors import DisturbedError, InputError
from specviz.core.free_memory import give_back
from specviz.core.metrics import Costs
from specviz.core.names import show_size
from specviz.core.operator_settings import operator_setting
from specviz.core.request import RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.steps import Steps
from specviz.core.texts import Sentences, join_choices
from specviz.core.trace import DrafterInfo, ModelInfo
from specviz.decoding import fit_drafter
from specviz.decoding.drafters.choose import Loaded, load_draft
from specviz.measure.calibration import LENGTHS, calibration_steps
from specviz.models import downloads
from specviz.models.cached_model import CachedModel
from specviz.models.catalogue import bundled_names, check_heads, known_models, method_named, weight_bytes
from specviz.models.devices import available_bytes
from specviz.models.draft_menu import explain_refusal, is_allowed
from specviz.models.gguf_folder import SMOLLM2, SMOLLM2_PARAMETERS, is_missing
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.models.loading import check_known, download, load_model
from specviz.models.pairing import check_pair, shared_vocabulary
from specviz.service import protocol as wire

say = Sentences("service")

LEAST_BUDGET = 400 * 10**6  # bytes
PATIENCE_SECONDS = 10.0  # a download that no job asks about for this long ends; the next one continues there
DOWNLOAD_MESSAGE_SECONDS = 0.2
MESSAGE_SECONDS = 0.02  # at most one message in this time: a screen cannot show more
FEW_LENGTHS = (1, 2, 4, 8, 16)
THREADS = ThreadPoolExecutor(100, "aside")  # for what waits for the network
LARGE = 50_000_000  # parameters of a target that is timed at fewer lengths: a pass takes ten times a bundled model's

LoadedPair = tuple[LoadedModel, Loaded]  # target, draft; None: the drafter has no model
Value = TypeVar("Value")


def budget_from_environment() -> int:
    """Bytes that all loaded models may take: SPECVIZ_MODEL_MB, or half of the memory that is free now."""
    megabytes = operator_setting("SPECVIZ_MODEL_MB")
    return int(megabytes) * 10**6 if megabytes else max(LEAST_BUDGET, available_bytes() // 2)


class ModelCache:
    """Holds models, up to a budget. One is counted before it is loaded; the pair in use is never removed.

    Many jobs use the bundled models at the same time. So these stay, in each number format once, and are not counted.
    """

    def __init__(self, budget: int | None = None) -> None:
        self._budget = budget_from_environment() if budget is None else budget  # in bytes of weights
        self._models: dict[tuple[str, Dtype], LoadedModel] = {}  # the most recently used at the end
        self._sizes: dict[str, int] = {}  # parameters, by model name

    @property
    def names(self) -> list[str]:
        """Those that are counted."""
        return [name for name, _ in self._models if name not in bundled_names()]

    @property
    def bytes(self) -> int:
        return sum(self._models[name, "float32"].bytes for name in self.names)

    def holds(self, name: str) -> bool:
        return (name, "float32") in self._models

    def check(self, sizes: Mapping[str, int]) -> None:
        """Refuse models, given their parameters by name, that would not fit even without all others: an InputError."""
        self._sizes |= sizes
        needed = sum(weight_bytes(parameters, "float32") for parameters in sizes.values())
        if needed > self._budget:
            models, most = join_choices([*sizes], "and"), show_size(self._budget)
            raise InputError(say("too_large", models=models, size=show_size(needed), most=most))

    def get(self, name: str, keep: Collection[str] = (), dtype: Dtype = "float32") -> LoadedModel:
        """The model, loaded and warmed up if needed; others are removed to make room, except those in `keep`."""
        model = self._models.pop((name, dtype), None)
        if model is None:
            for old in self.names if name not in bundled_names() else ():
                if self.bytes + weight_bytes(self._sizes[name], dtype) > self._budget and old not in keep:
                    del self._models[old, "float32"]
            model = load_model(name, dtype)
            warm_up(model)
            set_aside()
        self._models[name, dtype] = model
        return model


def warm_up(loaded: LoadedModel) -> None:
    """Read each number of tokens that a pass may have once, so that no job is disturbed by a slow first pass."""
    model = CachedModel(loaded, shared_vocabulary(loaded))
    model.prefill([0])
    for count in range(1, MAX_DRAFT_LENGTH + 2):
        model.read([0] * count)
        model.crop(1)


def set_aside() -> None:
    """Leave what is in memory now out of later garbage collections, which would disturb timings."""
    gc.collect()
    gc.freeze()


def run_in_thread(job: int, work: Callable[[], Value]) -> wire.StepsTo[Value]:
    """Do the work in a thread, and wait for it. A job that stops leaves the thread to end by itself."""
    done = THREADS.submit(copy_context().run, work)  # in the job's language
    while not done.done():
        yield wire.EngineAlive(job)
    return done.result()


class _Download:
    """One that is at work. Jobs that want the same model share it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.progress: downloads.Progress | None = None  # None before it has begun
        self.asked_at = monotonic()  # when a job last asked how far it is
        self.done = THREADS.submit(copy_context().run, self._run)

    def _run(self) -> bool:
        """Whether it came to its end."""
        for progress in download(self._name):
            self.progress = progress
            if monotonic() - self.asked_at > PATIENCE_SECONDS:
                return False
        return True


class Workshop:
    def __init__(self) -> None:
        self.models = ModelCache()
        self._downloads: dict[str, _Download] = {}  # by model
        self._costs: dict[tuple[ModelInfo, DrafterInfo], tuple[int, Costs]] = {}  # and which attempt they are of

    def load_pair(self, job: int, request: RunRequest) -> wire.StepsTo[LoadedPair]:
        """The request's models; loads those that are not in memory, and says which.

        InputError: the pair cannot work, or does not fit in memory.
        """
        check_heads(request.target, request.draft)
        own = method_named(request.draft).loads == "model"
        names = [request.target, request.draft] if own else [request.target]
        missing = [name for name in names if not self.models.holds(name)]
        if missing:
            yield wire.Loading(job, missing[0])
            sizes = yield from self._sizes(job, request, names)
            self.models.check(sizes)
            for name in missing:
                yield from self._download(job, name)
            downloads.release(keep=[*names, *self.models.names, *self._downloads])
        models: list[LoadedModel] = []
        for name in names:
            if not self.models.holds(name):
                yield wire.Loading(job, name)
            models.append(self.models.get(name, keep=names))
            yield None
        return models[0], models[1] if own else load_draft(request.draft, models[0])

    def _sizes(self, job: int, request: RunRequest, names: list[str]) -> wire.StepsTo[dict[str, int]]:
        """Parameters by name. A pair that does not ship with the app is checked first, before anything is loaded.

        What is known without the network is checked before it is used. The Hub is asked in a thread. The chat model is
        one file, which is fetched before anything else can be known of it.
        """
        known = {name: known_models()[name].parameters for name in names if name in known_models()}
        if set(names) <= set(bundled_names()):
            return known
        if fetched := any(map(is_missing, names)):
            known[SMOLLM2] = SMOLLM2_PARAMETERS
        self.models.check(known)
        check_known(names, "float32", self.models.bytes)
        if fetched:
            if not is_allowed(SMOLLM2):  # its file was there when the server looked
                raise InputError(explain_refusal(SMOLLM2))
            yield from self._download(job, SMOLLM2)
        draft, settings = names[1] if len(names) == 2 else None, request.settings
        check = partial(check_pair, request.target, draft, "float32", "float32", reclaimable=self.models.bytes)
        checked = partial(check, greedy=settings.greedy, new_tokens=settings.max_new_tokens)
        sizes, _ = yield from run_in_thread(job, checked)
        return sizes

    def _download(self, job: int, name: str) -> wire.JobSteps:
        """InputError: the model cannot be downloaded."""
        sent, last, here = 0.0, None, False
        while not here:  # it may have ended while this job could not ask
            if name not in self._downloads or self._downloads[name].done.done():
                self._downloads[name] = _Download(name)
            this = self._downloads[name]
            while not this.done.done():
                this.asked_at = now = monotonic()
                step = this.progress
                if step and step != last and now - sent >= DOWNLOAD_MESSAGE_SECONDS:
                    sent, last = now, step
                    yield wire.Loading(job, name, step.bytes_done, step.bytes_total)
                else:
                    yield wire.EngineAlive(job)
            if self._downloads.get(name) is this:
                del self._downloads[name]
            here = this.done.result()

    def costs_of(self, target: LoadedModel, draft: Loaded, attempt: int = 1) -> Steps[Costs]:
        """What the pair costs here, measured again for a later attempt only; DisturbedError: too busy a machine."""
        pair = self._pair(target, draft)
        known, costs = self._costs.get(pair, (0, None))
        if costs is None or known < attempt:
            lengths = FEW_LENGTHS if target.info.parameters > LARGE else LENGTHS
            costs = None
            with suppress(DisturbedError):  # the machine was too busy for it: once more
                costs = (yield from calibration_steps(target, draft, lengths=lengths)).costs
            give_back()  # its runs take more than a bundled model
            if costs is None:
                costs = (yield from calibration_steps(target, draft, lengths=lengths)).costs
            self._costs[pair] = attempt, costs
        return costs

    def known_costs(self, target: LoadedModel, draft: Loaded) -> Costs | None:
        return self._costs.get(self._pair(target, draft), (0, None))[1]

    def _pair(self, target: LoadedModel, draft: Loaded) -> tuple[ModelInfo, DrafterInfo]:
        return target.info, fit_drafter(target, draft, DecodeSettings()).info
