"""Which handler does which kind of job.

Handlers are generators of events. They yield None where there is nothing to report: a job can be paused or stopped
there, and often.
"""

from collections.abc import Callable
from typing import Any

from specviz.service.handlers.calibrate import calibrate_steps
from specviz.service.handlers.compare_greedy import compare_greedy_steps
from specviz.service.handlers.guess_along import guess_along_steps
from specviz.service.handlers.play import play_steps
from specviz.service.handlers.prove import prove_steps
from specviz.service.handlers.race import race_steps
from specviz.service.handlers.run import run_steps
from specviz.service.handlers.sweep import sweep_steps
from specviz.service.protocol import (
    Calibrate,
    CompareGreedy,
    GuessAlong,
    JobCommand,
    Play,
    Prove,
    Race,
    Run,
    Sweep,
)
from specviz.service.workshop import Steps, Workshop

HANDLERS: dict[type[JobCommand], Callable[[Any, Workshop], Steps]] = {
    Run: run_steps,
    Calibrate: calibrate_steps,
    Race: race_steps,
    Sweep: sweep_steps,
    GuessAlong: guess_along_steps,
    Prove: prove_steps,
    CompareGreedy: compare_greedy_steps,
    Play: play_steps,
}


def job_steps(workshop: Workshop, command: JobCommand) -> Steps:
    """Do what the command says.

    Raises:
        InputError: it cannot be done; one sentence for the visitor.
    """
    return HANDLERS[type(command)](command, workshop)
