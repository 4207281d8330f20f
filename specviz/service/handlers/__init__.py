"""What the engine does for each kind of job, as `protocol.TASKS` names it.

Handlers are generators of events. They yield None where there is nothing to report: a job can be paused or stopped
there, and often. Importing this imports all of them, and torch.
"""

from collections.abc import Callable
from importlib import import_module

from specviz.service.protocol import TASKS, JobCommand, JobFinished, JobSteps
from specviz.service.workshop import Workshop

_HANDLERS: dict[str, Callable[[JobCommand, Workshop], JobSteps]] = {
    task.name: getattr(import_module(f"{__name__}.{module}"), name)
    for task in TASKS
    for module, name in [task.handler.split(".")]
}


def job_steps(workshop: Workshop, command: JobCommand) -> JobSteps:
    """Do what the command says; InputError: it cannot be done, in one sentence for the visitor."""
    yield from _HANDLERS[command.task.name](command, workshop)
    if command.task.item:
        yield JobFinished(command.job)
