"""What the handlers of jobs share: the models in memory, plain runs already made, and the costs of pairs.

Its generators yield None where there is nothing to report, so that a job can be stopped there; the handlers' do too.
They yield `EngineAlive` where the job waits for a download or the Hub, so that others have the engine meanwhile.
"""

import gc
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from time import monotonic
from typing import TypeVar

from specviz.core.errors import DisturbedError, InputError
from specviz.core.free_memory import give_back
from specviz.core.metrics import Costs
from specviz.core.names import show_size
from specviz.core.operator_settings import operator_setting
from specviz.core.request import RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.texts import Sentences, join_choices
from specviz.core.trace import DrafterInfo, ModelInfo, Trace
from specviz.decoding import AutoregressiveRun, fit_drafter
from specviz.decoding.drafters.choose import Loaded, load_draft
from specviz.measure.calibration import LENGTHS, calibration_steps
from specviz.measure.compare import Pairs
from specviz.models import downloads
from specviz.models.cached_model import CachedModel
from specviz.models.catalogue import bundled_names, check_heads, known_models, method_named, weight_bytes
from specviz.models.devices import available_bytes
from specviz.models.draft_menu import explain_refusal, is_allowed
from specviz.models.gguf_folder import SMOLLM2, SMOLLM2_PARAMETERS, is_missing
from specviz.models.hub import Progress
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.models.loading import check_known, download, inspect_model, load_model
from specviz.models.pairing import check_pair, shared_vocabulary
from specviz.service import protocol as wire

say = Sentences("service")

LEAST_BUDGET = 400 * 10**6  # bytes
PATIENCE_SECONDS = 10.0  # a download that no job asks about for this long ends; the next one continues there
DOWNLOAD_MESSAGE_SECONDS = 0.2
MESSAGE_SECONDS = 0.02  # at most one message in this time: a screen cannot show more
PLAIN_RUNS_SAVED = 32
FEW_LENGTHS = (1, 2, 4, 8, 16)
LARGE = 50_000_000  # parameters of a target that is timed at fewer lengths: a pass takes ten times a bundled model's
RACES_SAVED = 8  # that had to stop in the middle of a prompt

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
            if name not in bundled_names():
                self._make_room(weight_bytes(self._parameters(name), dtype), keep)
            model = load_ready(name, dtype)
        self._models[name, dtype] = model
        return model

    def _parameters(self, name: str) -> int:
        if name not in self._sizes:
            known = known_models().get(name)
            self._sizes[name] = (known or inspect_model(name)[0]).parameters
        return self._sizes[name]

    def _make_room(self, needed: int, keep: Collection[str]) -> None:
        for name in self.names:
            if self.bytes + needed > self._budget and name not in keep:
                del self._models[name, "float32"]


def load_ready(name: str, dtype: Dtype) -> LoadedModel:
    """The model, so that no later job is disturbed by its first passes."""
    model = load_model(name, dtype)
    warm_up(model)
    set_aside()
    return model


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


def run_in_thread(job: int, work: Callable[[], Value]) -> Generator[wire.EngineAlive, None, Value]:
    """Do the work in a thread, and wait for it. A job that stops leaves the thread to end by itself."""
    done = _begin(work)
    while not done.done():
        yield wire.EngineAlive(job)
    return done.result()


def _begin(work: Callable[[], Value]) -> "Future[Value]":
    """Do the work in a thread that does not outlive the process."""
    done: Future[Value] = Future()

    def do() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    Thread(target=copy_context().run, args=(do,), name="aside", daemon=True).start()  # in the job's language
    return done


class Downloads:
    """The downloads at work. Jobs that want the same model share one."""

    def __init__(self) -> None:
        self._at_work: dict[str, _Download] = {}

    @property
    def names(self) -> list[str]:
        return list(self._at_work)

    def steps(self, name: str) -> Iterator[Progress | None]:
        """How far the download is, and None before it has begun; InputError: the model cannot be downloaded."""
        if name not in self._at_work or self._at_work[name].done.done():
            self._at_work[name] = _Download(name)
        this = self._at_work[name]
        while not this.done.done():
            this.asked_at = monotonic()
            yield this.progress
        if self._at_work.get(name) is this:
            del self._at_work[name]
        if this.done.result():
            yield this.progress
        else:  # it ended while this job could not ask
            yield from self.steps(name)


class _Download:
    def __init__(self, name: str) -> None:
        self._name = name
        self.progress: Progress | None = None
        self.asked_at = monotonic()  # when a job last asked how far it is
        self.done = _begin(self._run)

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
        self._downloads = Downloads()
        self._plain_runs: OrderedDict[object, Trace] = OrderedDict()  # the most recently used at the end
        self._costs: dict[tuple[ModelInfo, DrafterInfo], tuple[int, Costs]] = {}  # and which attempt they are of
        self._races: OrderedDict[int, tuple[int, Pairs]] = OrderedDict()  # by job: the prompt, and its repeats

    def load_pair(self, job: int, request: RunRequest) -> Generator[wire.JobEvent | None, None, LoadedPair]:
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
            downloads.release(keep=[*names, *self.models.names, *self._downloads.names])
        models: list[LoadedModel] = []
        for name in names:
            if not self.models.holds(name):
                yield wire.Loading(job, name)
            models.append(self.models.get(name, keep=names))
            yield None
        return models[0], models[1] if own else load_draft(request.draft, models[0])

    def _sizes(
        self, job: int, request: RunRequest, names: list[str]
    ) -> Generator[wire.JobEvent | None, None, dict[str, int]]:
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
        sent, last = 0.0, None
        for step in self._downloads.steps(name):
            due = step != last and monotonic() - sent >= DOWNLOAD_MESSAGE_SECONDS
            yield wire.Loading(job, name, step.bytes_done, step.bytes_total) if step and due else wire.EngineAlive(job)
            sent, last = (monotonic(), step) if due else (sent, last)

    def plain_run(
        self, target: LoadedModel, prompt: list[int], settings: DecodeSettings
    ) -> Generator[None, None, Trace]:
        """The greedy run of the target alone to compare with; an earlier one is used where only the draft differs."""
        key = target.info, tuple(prompt), settings.max_new_tokens, settings.stop_at_eos
        if key not in self._plain_runs:
            run = AutoregressiveRun(target, prompt, settings)
            yield from run.read_prompt()
            for _ in run.steps():
                yield
            self._plain_runs[key] = run.trace()
        self._plain_runs.move_to_end(key)
        while len(self._plain_runs) > PLAIN_RUNS_SAVED:
            self._plain_runs.popitem(last=False)
        return self._plain_runs[key]

    def costs_of(self, target: LoadedModel, draft: Loaded, attempt: int = 1) -> Generator[None, None, Costs]:
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

    def race_so_far(self, job: int, place: int) -> Pairs:
        """The repeats of a race's prompt that are complete; the race adds to them."""
        known_place, measured = self._races.pop(job, (place, []))
        self._races[job] = place, measured if known_place == place else []
        while len(self._races) > RACES_SAVED:
            self._races.popitem(last=False)
        return self._races[job][1]

    def forget_race(self, job: int) -> None:
        self._races.pop(job, None)
