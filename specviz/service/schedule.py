"""Turns: how owners of jobs share the engines, and which jobs an engine has at the same time.

The one rule: jobs stand in a line, the first one is next, and the jobs of an owner who had a turn go to the end. The
server hands jobs over by it, and the engine (`bench`) works by it. An owner is a network, in it an address, and in that
a session: someone who opens ten tabs has as many turns as a visitor with one. Without a known address, a session stands
for all three.
"""

from collections.abc import Sequence

from specviz.service.job import Job
from specviz.service.limits import ServiceLimits


class Schedule:
    """The jobs that wait for an engine. `running` is what one has, `others` what each other one has that is ready."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        self._line: list[Job] = []

    def add(self, job: Job, instead_of: Job | None = None) -> None:
        """Add a job at the end, or in the place of one that waits and is no longer wanted."""
        place = self._line.index(instead_of) if instead_of in self._line else len(self._line)
        self._line.insert(place, job)

    def remove(self, job: Job) -> None:
        if job in self._line:
            self._line.remove(job)

    def jobs(self) -> list[Job]:
        """In their order: those that somebody watches go before long ones."""
        return sorted(self._line, key=lambda job: not job.command.watched)

    def pick_for(self, running: Sequence[Job], others: Sequence[Sequence[Job]]) -> Job | None:
        """Take out the job that this engine gets now. It is left to an engine that has fewer and may have it too.

        What waits for memory is not overtaken: a stream of small jobs would take every place from a large one.
        """
        for job in self.jobs():
            if not self._has_memory(job, running):
                return None
            if self._fits(job, running) and not any(len(o) < len(running) and self._fits(job, o) for o in others):
                self.remove(job)
                self._line.sort(key=lambda other: other.command.shares(job.command))
                return job
        return None

    def find_yielding(self, running: Sequence[Job], others: Sequence[Sequence[Job]], now: float) -> Job | None:
        """The long job, if one has to, that gives its place to a job that fits beside it on no engine.

        To a watched one at once, to a long one after a turn; where other servers share the engines, also to jobs that
        are not seen here. It has found something since it last went on, so it gets to its end.
        """
        if any(job.wanted == "later" for job in running):
            return None  # one stops already
        kept_out = [new for new in self._line if not any(self._fits(new, each) for each in (running, *others))]
        for job in running:
            if job.command.watched or job.wanted != "end" or not job.gets_on:
                continue
            fitting = [new for new in kept_out if self._fits(new, [other for other in running if other is not job])]
            had_turn = any(job.found) and now - job.taken_at >= self._limits.turn
            if any(new.command.watched for new in fitting) or (had_turn and (fitting or self._limits.shared)):
                return job
        return None

    def _has_memory(self, job: Job, running: Sequence[Job]) -> bool:
        """An engine that has nothing takes any job."""
        return not running or sum(each.tokens for each in [job, *running]) <= self._limits.tokens_at_once

    def _fits(self, job: Job, running: Sequence[Job]) -> bool:
        """Of models that do not ship with the app, an engine has those of one job: others may not fit beside them."""
        alike = not job.others or all(not other.others or other.others == job.others for other in running)
        return alike and self._has_memory(job, running)
