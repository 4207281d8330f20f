"""The engine's jobs at work: in steps, so that several runs can take turns and any job can be stopped."""

import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TypeVar

from specviz.core.errors import InputError, hide_folders
from specviz.models.memory import is_out_of_memory
from specviz.service import protocol as wire
from specviz.service.limits import BudgetSpent

NO_MEMORY = "There is not enough memory here for this run: use smaller models or fewer tokens."
BROKE = "The run failed because of an error in the engine; the server's log says more."

CROWD = 4  # jobs at once
SILENT = 0.2  # seconds without a message after which the engine says that it is alive
PAUSED_REMEMBERED = 256  # jobs that were stopped and may go on: what they have used of their budget

Send = Callable[[wire.Event], None]
DoJob = Callable[[wire.JobCommand], wire.JobSteps]  # see `handlers.job_steps`

CYCLE = 2.0  # seconds
LONG_SHARE = 0.5  # seconds of a cycle that long jobs have while others are watched
TURN = 4.0  # seconds for each long job in turn; whole cycles, so that each gets as many shares

T = TypeVar("T")


def choose_job(watched: Sequence[T], long: Sequence[T], now: float) -> T:
    """The job that works now; there is at least one. Jobs that somebody watches go first.

    Long jobs (races, sweeps, proofs) take turns, and still get a share of every cycle, so that they end however many
    visitors keep coming. Nothing is stopped for a change of turns: a job is paused between two rounds. `watched` begins
    with the oldest; `now` is in seconds of the monotonic clock.
    """
    long_has_its_share = now % CYCLE >= CYCLE - LONG_SHARE
    if watched and not (long and long_has_its_share):
        return watched[0]
    return long[int(now // TURN) % len(long)]


class Mailbox:
    """Commands from the server, which another thread puts in."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[wire.JobCommand] = SimpleQueue()
        self._wanted: set[int] = set()  # jobs that came and are neither over nor stopped

    def next(self, wait: bool) -> wire.JobCommand | None:
        with suppress(Empty):
            return self._jobs.get(block=wait)
        return None

    def stopped(self, job: int) -> bool:
        """Whether this job, which has begun, is no longer wanted."""
        return job not in self._wanted

    def forget(self, job: int) -> None:
        """This job is over, or is stopped: its number may come again."""
        self._wanted.discard(job)

    def receive(self, line: bytes) -> None:
        """Put in what a line says; one that is no command is in the log."""
        try:
            command = wire.parse_command(line)
        except ValueError:
            traceback.print_exc()
            return
        if isinstance(command, wire.Stop):
            self._wanted.discard(command.job)
        else:
            self._wanted.add(command.job)
            self._jobs.put(command)


@dataclass(slots=True, eq=False)
class AtWork:
    job: int
    steps: wire.JobSteps
    watched: bool  # by a visitor who waits for it; all others are long jobs
    begun: bool  # whether the visitor has something to look at
    loading: bool = True  # models are being loaded: that is not counted
    seconds: float = 0.0  # it has worked


class Bench:
    """The jobs at work.

    A new run is begun at once, up to its first rounds, so that in a class everyone soon sees something. Then the jobs
    go on as `choose_job` says: watched ones one after the other, the oldest first, and long ones in turns. Each round
    is timed by itself, so taking turns changes no figure.
    """

    def __init__(
        self,
        do_job: DoJob,
        mail: Mailbox,
        send: Send,
        after_crowd: Callable[[], object] = lambda: None,
        budget: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._do_job, self._mail, self._send = do_job, mail, send
        self._after_crowd, self._budget, self._clock = after_crowd, budget, clock
        self._tasks: list[AtWork] = []  # oldest first
        self._most = 0  # jobs at work at once since the last rest
        self._spent: OrderedDict[int, float] = OrderedDict()  # seconds of jobs that were stopped and may go on
        self._said_at = 0.0  # when a job said something last

    def work(self) -> None:
        """Begin the next job, or bring one a step further; waits where there is nothing to do."""
        if not self._tasks:
            if self._most >= CROWD:
                self._after_crowd()
            self._most = 0
        command = self._mail.next(wait=not self._tasks)
        if command:
            self._begin(command)
        elif self._tasks:
            watched, long = ([task for task in self._tasks if task.watched is each] for each in (True, False))
            self._step(choose_job(watched, long, self._clock()))
        for task in [task for task in self._tasks if self._mail.stopped(task.job)]:
            self._end(task)
            self._spent[task.job] = task.seconds
            while len(self._spent) > PAUSED_REMEMBERED:
                self._spent.popitem(last=False)
            self._send(wire.JobStopped(task.job))

    def _begin(self, command: wire.JobCommand) -> None:
        task = AtWork(command.job, self._do_job(command), command.task.watched, begun=not isinstance(command, wire.Run))
        task.seconds = self._spent.pop(task.job, 0.0)
        self._tasks.append(task)
        self._most = max(self._most, len(self._tasks))
        while not task.begun and task in self._tasks and not self._mail.stopped(task.job):
            self._step(task)

    def _end(self, task: AtWork) -> None:
        self._tasks.remove(task)
        self._mail.forget(task.job)

    def _step(self, task: AtWork) -> None:
        """One step. An error fails its job and leaves the engine as it is.

        A job may take many steps before it has something to say. Then it says that it is alive, because the server ends
        an engine that says nothing for long.
        """
        began = self._clock()
        try:
            if self._budget is None or task.seconds < self._budget:
                event = next(task.steps)
            else:  # its time is over: it may send what it has, and ends
                event = task.steps.throw(BudgetSpent(self._budget))
        except StopIteration:
            self._end(task)
        except Exception as error:
            self._end(task)
            self._send(wire.JobFailed(task.job, _sentence(error)))
        else:
            now = self._clock()
            if event and not self._mail.stopped(task.job):
                task.begun = task.begun or isinstance(event, wire.Rounds)
                task.loading = isinstance(event, wire.Loading)
            elif now - self._said_at >= SILENT:
                event = wire.EngineAlive(task.job)
            else:
                event = None
            if event:
                self._send(event)
                self._said_at = now
            if not task.loading:
                task.seconds += now - began


def _sentence(error: Exception) -> str:
    """What the visitor is told. The log has it with the folders of this machine, if it names some."""
    if isinstance(error, InputError | BudgetSpent):
        told = hide_folders(str(error))
        if told != str(error):
            print(error, file=sys.stderr)
        return told
    if is_out_of_memory(error):
        return NO_MEMORY
    traceback.print_exc()
    return BROKE
