"""The engine's jobs at work: in steps, so that several runs can take turns and any job can be stopped."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from specviz.core.errors import InputError
from specviz.models.memory import is_out_of_memory
from specviz.service.protocol import Event, Failed, JobCommand, JobEvent, Rounds, Run, Stopped

NO_MEMORY = "There is not enough memory here for this run: use smaller models or fewer tokens."
BROKE = "The run failed because of an error in the engine; the server's log says more."

CROWD = 4  # jobs at once

Send = Callable[[Event], None]
DoJob = Callable[[JobCommand, Callable[[], bool]], Iterator[JobEvent | None]]  # see `dispatch.job_steps`


class Mail(Protocol):
    """Where commands come from; see `engine.Inbox`."""

    def next(self, wait: bool) -> JobCommand | None:
        """The next job."""

    def stopped(self, job: int) -> bool:
        """Whether this job is no longer wanted."""


@dataclass(slots=True, eq=False)
class Task:
    """One job, as far as it is."""

    job: int
    steps: Iterator[JobEvent | None]
    begun: bool  # whether the visitor has something to look at


class Bench:
    """The jobs at work.

    A new run is begun at once, up to its first rounds, so that in a class everyone soon sees something. Then the oldest
    job goes on to its end, then the next one. Each round is timed by itself, so taking turns changes no figure.
    """

    def __init__(self, do_job: DoJob, mail: Mail, send: Send, after_crowd: Callable[[], None] = lambda: None) -> None:
        self._do_job = do_job
        self._mail = mail
        self._send = send
        self._after_crowd = after_crowd  # called before the bench rests, after many jobs were at work at once
        self._tasks: list[Task] = []  # oldest first
        self._most = 0  # jobs at work at once since the last rest

    def work(self) -> None:
        """Begin the next job, or bring the oldest one a step further; waits where there is nothing to do."""
        if not self._tasks:
            if self._most >= CROWD:
                self._after_crowd()
            self._most = 0
        command = self._mail.next(wait=not self._tasks)
        if command:
            self._begin(command)
        elif self._tasks:
            self._step(self._tasks[0])
        for task in [task for task in self._tasks if self._mail.stopped(task.job)]:
            self._tasks.remove(task)
            self._send(Stopped(task.job))

    def _begin(self, command: JobCommand) -> None:
        job = command.job
        steps = self._do_job(command, lambda: self._mail.stopped(job))
        task = Task(job, steps, begun=not isinstance(command, Run))
        self._tasks.append(task)
        self._most = max(self._most, len(self._tasks))
        while not task.begun and task in self._tasks and not self._mail.stopped(job):
            self._step(task)

    def _step(self, task: Task) -> None:
        """One step. An error fails its job and leaves the engine as it is."""
        try:
            event = next(task.steps)
        except StopIteration:
            self._tasks.remove(task)
        except Exception as error:
            self._tasks.remove(task)
            self._send(Failed(task.job, _sentence(error)))
        else:
            if event and not self._mail.stopped(task.job):
                self._send(event)
                task.begun = task.begun or isinstance(event, Rounds)


def _sentence(error: Exception) -> str:
    """What the visitor is told."""
    if isinstance(error, InputError):
        return str(error)
    if is_out_of_memory(error):
        return NO_MEMORY
    traceback.print_exc()
    return BROKE
