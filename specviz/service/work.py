"""What the engine does for each command, as generators of events.

They yield None where there is nothing to say but a chance to stop: after each round, and after each plain step.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from time import monotonic

from specviz.decoding import AutoregressiveRun, SpeculativeRun, make_drafter
from specviz.errors import InputError
from specviz.metrics import Costs
from specviz.models import calibration
from specviz.models.catalogue import bundled_names
from specviz.models.loading import LoadedModel, download
from specviz.models.pairing import check_pair
from specviz.models.pairs import known_models
from specviz.request import PROMPT_LOOKUP, Precision, RunRequest
from specviz.service.foresee_work import foresee_steps, foresight_of_run
from specviz.service.play_work import play_steps
from specviz.service.proof_work import greedy_steps, prove_steps
from specviz.service.protocol import (
    Calibrate,
    Calibrated,
    CompareGreedy,
    Comparing,
    Done,
    Foresee,
    JobCommand,
    JobEvent,
    Loading,
    Play,
    Prove,
    Race,
    Rounds,
    Run,
    Started,
    Sweep,
)
from specviz.service.race_work import race_steps
from specviz.service.shelf import Shelf
from specviz.service.sweep_work import sweep_steps
from specviz.settings import DecodeSettings
from specviz.trace import ModelInfo, Trace

DOWNLOAD_MESSAGE_SECONDS = 0.2
MESSAGE_SECONDS = 0.02  # at most one message in this time: a screen shows no more
PLAIN_RUNS_KEPT = 32

Steps = Iterator[JobEvent | None]
Pair = tuple[LoadedModel, LoadedModel | None]  # target, draft; None: the drafter has no model


class Work:
    """Does jobs; keeps models, plain runs and costs for the ones to come."""

    def __init__(self) -> None:
        self._shelf = Shelf()
        self._plain_runs: OrderedDict[object, Trace] = OrderedDict()  # the one used last at the end
        self._costs: dict[tuple[ModelInfo, ModelInfo | None], Costs] = {}

    def steps(self, command: JobCommand, stopped: Callable[[], bool]) -> Steps:
        """Do what the command says; `stopped` tells whether it is no longer wanted.

        Raises:
            InputError: it cannot be done; one sentence for the visitor.
        """
        match command:
            case Run(job=job, request=request):
                target, draft = yield from self.load_pair(job, request)
                yield from self._run(job, request, target, draft)
            case Calibrate(job=job, request=request):
                target, draft = yield from self.load_pair(job, request)
                yield from self._calibrate(job, request.precision, target, draft, stopped)
            case Race(job=job, request=request):
                target, draft = yield from self.load_pair(job, request)
                yield from race_steps(command, target, draft, stopped)
            case Foresee():
                yield from foresee_steps(command, self, stopped)
            case Prove(job=job, request=request):
                target, draft = yield from self.load_pair(job, request)
                yield from prove_steps(command, target, draft)
            case CompareGreedy(job=job, request=request):
                target, draft = yield from self.load_pair(job, request)
                yield from greedy_steps(command, target, draft)
            case Play(job=job, request=request):
                target, draft = yield from self.load_pair(job, request)
                yield from play_steps(command, target, draft)
            case Sweep():
                yield from sweep_steps(command, self.load_pair, stopped)

    def load_pair(self, job: int, request: RunRequest) -> Generator[JobEvent | None, None, Pair]:
        """The request's models, loaded where they are not; says what is being loaded.

        Raises:
            InputError: the pair cannot work, or does not fit in memory.
        """
        names = [request.target] if request.draft == PROMPT_LOOKUP else [request.target, request.draft]
        missing = [name for name in names if not self._shelf.holds(name, request.precision)]
        if missing:
            yield Loading(job, missing[0])
            self._shelf.check(self._sizes(request, names), request.precision)
            for name in missing:
                yield from _download(job, name)
        models: list[LoadedModel] = []
        for name in names:
            if not self._shelf.holds(name, request.precision):
                yield Loading(job, name)
            models.append(self._shelf.get(name, request.precision, keep=names))
            yield None
        return models[0], models[1] if len(models) == 2 else None

    def _sizes(self, request: RunRequest, names: list[str]) -> dict[str, int]:
        """Parameters by name. A pair that does not ship with the app is judged first: nothing is loaded by then."""
        if set(names) <= set(bundled_names()):
            return {name: known_models()[name].parameters for name in names}
        dtype = "float32" if request.precision == "exact" else "bfloat16"
        report = check_pair(
            request.target,
            None if request.draft == PROMPT_LOOKUP else request.draft,
            dtype,
            dtype,
            greedy=request.settings.greedy,
            new_tokens=request.settings.max_new_tokens,
            reclaimable=self._shelf.bytes,
        )
        if not report.ok:
            raise InputError(report.problems[0])
        return report.sizes

    def _run(self, job: int, request: RunRequest, target: LoadedModel, draft: LoadedModel | None) -> Steps:
        drafter = make_drafter(target, draft, request.settings)
        run = SpeculativeRun(target, drafter, request.prompt, request.settings)
        yield Started(job, run.trace())
        yield from _decode(job, run)
        plain = yield from self.plain_run(job, target, run.opening.prompt.token_ids, request.settings)
        assert plain.autoregressive
        foresight = foresight_of_run(request, target, drafter, run.trace())
        yield Done(job, plain.autoregressive, plain.output.text, foresight)

    def plain_run(
        self, job: int, target: LoadedModel, prompt: list[int], settings: DecodeSettings
    ) -> Generator[JobEvent | None, None, Trace]:
        """The run of the target alone that this one is compared with: an earlier one, where only the draft differs."""
        key = _plain_key(target, prompt, settings)
        if key not in self._plain_runs:
            run = AutoregressiveRun(target, prompt, settings)
            said = 0.0
            for tokens, _ in enumerate(run.steps(), start=1):
                due = monotonic() - said >= MESSAGE_SECONDS
                yield Comparing(job, tokens) if due else None
                said = monotonic() if due else said
            self._plain_runs[key] = run.trace()
        self._plain_runs.move_to_end(key)
        while len(self._plain_runs) > PLAIN_RUNS_KEPT:
            self._plain_runs.popitem(last=False)
        return self._plain_runs[key]

    def _calibrate(
        self,
        job: int,
        precision: Precision,
        target: LoadedModel,
        draft: LoadedModel | None,
        stopped: Callable[[], bool],
    ) -> Steps:
        yield Started(job)
        try:
            costs = self.costs_of(target, draft, stopped)
        except calibration.Stopped:
            yield None
            return
        yield Calibrated(job, costs, self._shelf.reasons(target.name, draft.name if draft else None, precision))

    def costs_of(self, target: LoadedModel, draft: LoadedModel | None, stopped: Callable[[], bool]) -> Costs:
        """What the pair costs here, measured once.

        Raises:
            calibration.Stopped: it was not to go on.
        """
        pair = target.info, draft.info if draft else None
        if pair not in self._costs:
            cost = calibration.calibrate(target, draft, stopped)
            self._costs[pair] = Costs(cost.step_seconds, cost.cost_ratio, cost.verification, cost.overhead)
        return self._costs[pair]


def _download(job: int, name: str) -> Steps:
    said = 0.0
    for step in download(name):
        due = monotonic() - said >= DOWNLOAD_MESSAGE_SECONDS
        yield Loading(job, name, step.bytes_done, step.bytes_total) if due else None
        said = monotonic() if due else said


def _decode(job: int, run: SpeculativeRun) -> Steps:
    fresh = []
    said = 0.0
    for round in run.rounds():
        fresh.append(round)
        if monotonic() - said >= MESSAGE_SECONDS:
            yield Rounds(job, fresh, run.trace().output)
            fresh, said = [], monotonic()
        else:
            yield None
    yield Rounds(job, fresh, run.trace().output)


def _plain_key(target: LoadedModel, prompt: list[int], settings: DecodeSettings) -> object:
    """What a plain run depends on."""
    sampling = None if settings.greedy else (settings.temperature, settings.top_k, settings.top_p, settings.seed)
    return target.info, tuple(prompt), settings.max_new_tokens, settings.stop_at_eos, sampling
