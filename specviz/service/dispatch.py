"""Which handler does which kind of job.

Handlers are generators of events. They yield None where there is nothing to say but a chance to stop.
"""

from collections.abc import Callable, Iterator

from specviz.service.handlers.calibrate import calibrate_steps
from specviz.service.handlers.guess_along import guess_along_steps
from specviz.service.handlers.play import play_steps
from specviz.service.handlers.proof import greedy_steps, prove_steps
from specviz.service.handlers.race import race_steps
from specviz.service.handlers.run import run_steps
from specviz.service.handlers.sweep import sweep_steps
from specviz.service.protocol import (
    Calibrate,
    CompareGreedy,
    GuessAlong,
    JobCommand,
    JobEvent,
    Play,
    Prove,
    Race,
    Run,
    Sweep,
)
from specviz.service.workshop import Workshop

Steps = Iterator[JobEvent | None]


def job_steps(workshop: Workshop, command: JobCommand, stopped: Callable[[], bool]) -> Steps:
    """Do what the command says; `stopped` tells whether it is no longer wanted.

    Raises:
        InputError: it cannot be done; one sentence for the visitor.
    """
    match command:
        case Run():
            yield from run_steps(command, workshop)
        case Calibrate():
            yield from calibrate_steps(command, workshop, stopped)
        case Race(job=job, request=request):
            target, draft = yield from workshop.load_pair(job, request)
            yield from race_steps(command, target, draft, stopped)
        case GuessAlong():
            yield from guess_along_steps(command, workshop, stopped)
        case Prove(job=job, request=request):
            target, draft = yield from workshop.load_pair(job, request)
            yield from prove_steps(command, target, draft)
        case CompareGreedy(job=job, request=request):
            target, draft = yield from workshop.load_pair(job, request)
            yield from greedy_steps(command, target, draft)
        case Play(job=job, request=request):
            target, draft = yield from workshop.load_pair(job, request)
            yield from play_steps(command, target, draft)
        case Sweep():
            yield from sweep_steps(command, workshop.load_pair, stopped)
