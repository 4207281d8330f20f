"""The engine's jobs: in steps, so that they share its time and any of them can be stopped.

The one rule: jobs stand in a line, the first one is next, and the jobs of an owner who had a turn go to the end. An
owner is a network, in it an address, and in that a session: someone who opens ten tabs has as many turns as a visitor
with one. Without a known address, a session stands for all three.
"""

import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import monotonic

from specviz.core.errors import InputError, hide_folders, is_out_of_memory
from specviz.core.languages import set_language
from specviz.core.texts import Sentences
from specviz.service import protocol as wire
from specviz.service.limits import BudgetSpent

say = Sentences("service")
CROWD = 4  # jobs at once
SILENT = 0.2  # seconds without a message after which the engine says that it is alive
LOOK = 0.01  # seconds between two looks at what jobs wait for, where nothing else is to be done
CYCLE = 2.0  # seconds
LONG_SHARE = 0.5  # of each cycle that long jobs have while others are watched
TURN = 4.0  # seconds at work that a job has before the next one; a run of the bundled models needs less
STAY = 20.0  # seconds after which a long job that has found something lets one in that does not fit beside it
ROOM = 18_000  # tokens of all jobs at work, see `AtWork.tokens`; 25 kB each
LETTERS = 4  # of a prompt for each token, about
LONGEST = 512  # tokens that the bundled models can read
LARGER = 3  # times a bundled model's keys and values of a token; those of SmolLM2-135M take twice as much
BEGUN, LONG = 64, 256  # tokens for what it writes: of a run that has shown its first rounds, and of a long job

Send = Callable[[wire.Event], None]
DoJob = Callable[[wire.JobCommand], wire.JobSteps]  # see `handlers.job_steps`
Orders = SimpleQueue[wire.JobCommand | wire.Stop]


@dataclass(slots=True, eq=False)
class AtWork:
    """A job that the engine has."""

    command: wire.JobCommand
    steps: wire.JobSteps | None = None  # None until it begins
    began: float = 0.0  # when, on the monotonic clock
    seconds: float = field(init=False)  # it was at work; loading models is not counted
    # for whose keys and values it has room while it is paused, about: both decoders read its longest prompt. The engine
    # brings one run after the other to its end, so few hold more than their first rounds
    tokens: int = field(init=False)
    others: set[str] = field(init=False)
    shown: bool = False  # whether the visitor has something to look at; a long job has found something then
    loading: bool = True
    waits: bool = False  # for a download or the Hub, not for the engine
    turn: float = 0.0  # of its seconds, those since its turn began

    def __post_init__(self) -> None:
        self.seconds, self.others = self.command.seconds, self.command.others
        prompt = max((len(each.prompt) for each in self.command.asked), default=0) // LETTERS
        if self.others:
            self.tokens = LARGER * (2 * prompt + LONG)
        else:
            self.tokens = 2 * min(prompt, LONGEST) + (BEGUN if self.command.watched else LONG)

    @property
    def job(self) -> int:
        return self.command.job

    def clashes(self, other: "AtWork") -> bool:
        """Of models that do not ship with the app, an engine has those of one job: others may not fit beside them."""
        return bool(self.others and other.others) and self.others != other.others


def choose_job(line: Sequence[AtWork], now: float) -> AtWork | None:
    """The job that works now, of those that have begun: the first in line of the watched ones, or of the long ones.

    A watched one that has shown nothing goes before all, so in a class everyone soon sees something. Long ones have a
    share of every cycle: they end however many visitors keep coming. `now` is in seconds of the monotonic clock.
    """
    ready = [task for task in line if task.steps and not task.waits]
    watched, long = ([task for task in ready if task.command.watched is each] for each in (True, False))
    new = [task for task in watched if not task.shown]
    first = long if now % CYCLE >= CYCLE - LONG_SHARE else watched
    return next(iter([*new, *first, *watched, *long]), None)


class Bench:
    """The jobs in line, of which those that have begun share the engine's time, as `choose_job` says.

    `shared` is an engine for which jobs of several servers wait elsewhere: long ones also give their place to those.
    A run's first rounds are a turn, and so is the rest of it; no turn is longer than some seconds. A job is paused
    between two rounds. Each round is timed by itself, so a pause is in no figure.
    """

    def __init__(
        self,
        do_job: DoJob,
        orders: Orders,
        send: Send,
        after_crowd: Callable[[], object] = lambda: None,
        budget: float | None = None,
        clock: Callable[[], float] = monotonic,
        room: int = ROOM,
        shared: bool = False,
    ) -> None:
        self._do_job, self._orders, self._write = do_job, orders, send
        self._after_crowd, self._budget, self._clock = after_crowd, budget, clock
        self._room, self._shared = room, shared
        self._line: list[AtWork] = []
        self._most = 0  # jobs at once since the last rest
        self._said_at = 0.0  # when something was sent last ...
        self._said_of: int | None = None  # ... and of which job, while that is at work

    def work(self) -> None:
        """Take in the next order, or bring a job a step further; waits where there is nothing to do."""
        if task := self._begin_next():
            self._end(task, wire.JobStopped(task.job, task.seconds))
            return
        if not self._line and self._most >= CROWD:
            self._after_crowd()
        self._most = max(self._most, len(self._line)) if self._line else 0
        turn = choose_job(self._line, self._clock())
        with suppress(Empty):
            self._take_in(self._orders.get(timeout=0.0 if turn else LOOK if self._line else None))
            return
        for task in [each for each in self._line if each.waits or each is turn]:
            self._step(task)

    def _take_in(self, order: wire.JobCommand | wire.Stop) -> None:
        if isinstance(order, wire.JobCommand):
            self._line.append(AtWork(order))
        else:
            for task in [task for task in self._line if task.job == order.job]:  # none: it ended before
                self._end(task, wire.JobStopped(task.job, task.seconds))

    def _begin_next(self) -> AtWork | None:
        """Begin the first job in line that fits beside those at work; an engine that has nothing takes any job.

        What waits for memory is not overtaken: a stream of small jobs would take every place from a large one. Nor is
        what waits for its models, by others with such models. Returns the long job that gives its place to those: to a
        watched one at once, to a long one after a while. It has found something by then, so it gets to its end.
        """
        now, begun = self._clock(), [task for task in self._line if task.steps]
        room = self._room - sum(task.tokens for task in begun)
        long = [task for task in begun if task.shown and not task.command.watched]
        gives = next((task for task in long if self._shared and now - task.began >= STAY), None)
        large_waits = False
        for task in sorted(self._line, key=lambda task: not task.command.watched):
            if task.steps or (task.others and large_waits):
                continue
            full = bool(begun) and task.tokens > room
            against = [other for other in begun if full or task.clashes(other)]
            if not against:
                task.steps, task.began = self._do_job(task.command), now
                return None
            here = [other for other in long if other in against]
            gives = gives or next((each for each in here if task.command.watched or now - each.began >= STAY), None)
            large_waits = True
            if full:
                break
        return gives

    def _step(self, task: AtWork) -> None:
        """One step. An error fails its job and leaves the engine as it is."""
        if not task.waits and self._said_of != task.job:
            self._send(wire.EngineAlive(task.job))  # should this step end the engine, the server knows whose it was
        assert task.steps, "it has begun"
        began = self._clock()
        set_language(task.command.language)  # of all sentences about this job
        try:
            if self._budget is None or task.seconds < self._budget:
                event = next(task.steps)
            else:  # its time is over: it may send what it has, and ends
                event = task.steps.throw(BudgetSpent(self._budget))
        except StopIteration:  # without its last word
            self._end(task, wire.JobFailed(task.job, say("broken")))
        except Exception as error:
            self._end(task, wire.JobFailed(task.job, _sentence(error)))
        else:
            self._after_step(task, event, began)

    def _after_step(self, task: AtWork, event: wire.JobEvent | None, began: float) -> None:
        if isinstance(event, wire.Final):
            self._end(task, event)
            return
        now, shows = self._clock(), isinstance(event, wire.Rounds | wire.JobItem)
        task.waits = isinstance(event, wire.EngineAlive)
        if event and not task.waits:
            task.loading = isinstance(event, wire.Loading)
            self._send(event)
        elif now - self._said_at >= SILENT:
            self._send(wire.EngineAlive(task.job))  # the server ends an engine that says nothing for long
        if not task.loading:
            task.seconds, task.turn = task.seconds + now - began, task.turn + now - began
        if task.turn >= TURN or (shows and task.command.watched and not task.shown):
            task.turn = 0.0
            self._end_turn(task)
        task.shown = task.shown or shows

    def _send(self, event: wire.JobEvent) -> None:
        self._said_at, self._said_of = self._clock(), event.job
        self._write(event)

    def _end(self, task: AtWork, last: wire.Final) -> None:
        """Each job that came has exactly one last word. Its number may come again as soon as that is sent."""
        self._line.remove(task)
        self._end_turn(task)
        self._send(last)
        self._said_of = None

    def _end_turn(self, had: AtWork) -> None:
        """The jobs of its owners' network go behind all others, those of the session last of all."""
        self._line.sort(key=lambda task: task.command.shares(had.command))


def _sentence(error: Exception) -> str:
    """What the visitor is told. The log has it with the folders of this machine, if it names some."""
    if isinstance(error, InputError | BudgetSpent):
        told = hide_folders(str(error))
        if told != str(error):
            print(error, file=sys.stderr)
        return told
    if is_out_of_memory(error):
        return say("no_memory")
    traceback.print_exc()
    return say("broken")
