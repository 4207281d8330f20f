"""Who runs next, and who stops for it: the one queue of a server, and what an engine may have at the same time.

First rounds go first: a run that has shown some makes room for one that has shown none, and begins again later. So
every visitor soon sees something, also where nobody can tell many visitors from one with many tabs. Then watched jobs
go before long ones. Visitors' networks alternate, within one its addresses, and within an address its sessions: someone
who opens ten tabs has as many turns as a visitor with one. Without an address, a session counts as one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from specviz.service.job import Job
from specviz.service.limits import ServiceLimits

PROMPTS_AT_ONCE = 8_000  # characters of the prompts of all jobs that are at work; about 60 MB of caches
LONG_AT_ONCE = 4  # long jobs that an engine has begun; each holds the caches of one run and a prompt's repeats


class Schedule:
    """The jobs that wait. A network's second job waits for the others' first ones; so do an address's, a session's."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        self._waiting: dict[Literal["new", "shown", "long"], list[Job]] = {"new": [], "shown": [], "long": []}
        self._room_for: Job | None = None  # for which something was stopped last

    # ---- the queue

    def add(self, job: Job, instead_of: Job | None = None) -> None:
        """Add a job at the end, or in the place of one that waits and is no longer wanted."""
        alike = self._alike(job)
        if instead_of in alike:
            alike[alike.index(instead_of)] = job
        else:
            alike.append(job)

    def remove(self, job: Job) -> None:
        if job in self._alike(job):
            self._alike(job).remove(job)

    def place(self, job: Job) -> int | None:
        """A waiting job's place, 1 is next; None when it is not waiting."""
        jobs = self.jobs()
        return jobs.index(job) + 1 if job in jobs else None

    def jobs(self) -> list[Job]:
        return [job for alike in self._waiting.values() for job in _interleave_owners(alike)]

    def next(self, running: Sequence[Job]) -> Job | None:
        """The next job for an engine that has these.

        A run that has made room before goes on where there is room that was not made for another job, but not before a
        job that came earlier.
        """
        new, shown, long = (next(iter(alike), None) for alike in self._waiting.values())
        first = new and (new is self._room_for or (shown and new.id < shown.id))
        if shown and not first and self.fits_beside(shown, running):
            return shown
        return new or long

    def _alike(self, job: Job) -> list[Job]:
        return self._waiting["long" if not job.watched else "shown" if job.shown else "new"]

    # ---- for one engine, and the jobs that it has

    def pick_for(self, running: Sequence[Job], others_idle: bool) -> Job | None:
        """Take out the job that this engine gets now; beside others only where no engine is idle.

        Its network's other jobs then wait behind all others, its session's last of all.
        """
        job = self.next(running)
        if job is None or not self._has_room(job, running, others_idle):
            return None
        self.remove(job)
        self._alike(job).sort(key=lambda other: [a == b for a, b in zip(other.owners, job.owners, strict=True)])
        return job

    def stop(self, running: Sequence[Job], others_idle: bool, now: float) -> None:
        """Mark the work that stops for a job that neither this engine takes in beside it, nor another one."""
        job, turn = self.next(running), self._limits.turn
        if job is None:
            if self._limits.shared_turn is None:
                return
            turn = self._limits.shared_turn
        elif others_idle or self._has_room(job, running, others_idle):
            return
        if job and job.watched:
            for other in self.find_yielding(job, running):
                other.wanted, self._room_for = "give way", job
        elif rested := find_turn_over(running, now - turn):
            rested.wanted = "take turns"

    def _has_room(self, job: Job, running: Sequence[Job], others_idle: bool) -> bool:
        return not (running and others_idle) and self.fits_beside(job, running)

    def fits_beside(self, job: Job, running: Sequence[Job]) -> bool:
        """Whether the engine may have this job beside those that it has: jobs with bundled models, which take turns.

        Watched ones must be of one number format, because the engine holds each model in one. There are only a few long
        ones. A job holds the caches of its prompt up to three times, so long prompts wait. Jobs with other models are
        alone, because two pairs may not fit into memory.
        """
        if not running:
            return True
        together = [job, *running]
        if len(together) > self._limits.runs_at_once or not all(other.bundled for other in together):
            return False
        if sum(max(map(len, other.command.texts), default=0) for other in together) > PROMPTS_AT_ONCE:
            return False
        if not job.watched:
            return len(_long(running)) < LONG_AT_ONCE
        return all(other.precision == job.precision for other in running if other.watched)

    def find_yielding(self, job: Job, running: Sequence[Job]) -> list[Job]:
        """The jobs that stop at once for this watched one, where it has to wait for nothing else: a run that has shown
        its first rounds; or long ones, and one that waits for a download, if this one needs none.

        A long one that gave way before first finds something more. So it gets on, however many visitors keep coming.
        """
        if shown := self._find_to_stop(job, running):
            return [shown] if shown.wanted == "end" else []
        downloading = [other for other in running if other.downloads and job.bundled]
        watched = [other for other in running if other.watched and other not in downloading]
        if not self.fits_beside(job, watched):
            return []
        asked = [other for other in downloading if other.wanted == "end"]
        long = [other for other in _long(running) if other.wanted == "end" and other not in downloading]
        return asked + [other for other in long if other.gave_way_found is None or other.found > other.gave_way_found]

    def _find_to_stop(self, job: Job, running: Sequence[Job]) -> Job | None:
        """One that stops already, or the newest run of the network with most jobs here.

        Never the oldest: it goes to its end, so that runs end however many visitors keep coming.
        """
        here = Counter(other.owners[0] for other in running)
        begun = sorted((other for other in running if other.view.rounds), key=lambda other: other.id)[1:]
        begun.sort(key=lambda other: (other.wanted != "end", here[other.owners[0]], other.id), reverse=True)
        fits = (other for other in begun if self.fits_beside(job, [one for one in running if one is not other]))
        return next(fits, None)


def find_turn_over(running: Sequence[Job], taken_before: float) -> Job | None:
    """The long job that waits again so that another one has its turn; None where none has had its own.

    Those that found nothing in their turn go on, so that jobs that take turns all get to their end. One stops at a
    time, the one that began first.
    """
    long = _long(running)
    over = [job for job in long if job.gets_on and job.taken_at <= taken_before]
    if not over or any(job.wanted != "end" for job in long):
        return None
    return min(over, key=lambda job: job.taken_at)


def _long(jobs: Sequence[Job]) -> list[Job]:
    return [job for job in jobs if not job.watched]


def _interleave_owners(jobs: Iterable[Job]) -> list[Job]:
    """The first job of each owner in the order they came, then the second one of each, and so on."""
    for level in (2, 1, 0):  # sessions, addresses, networks
        before: Counter[str] = Counter()
        turns: list[tuple[int, Job]] = []
        for job in jobs:
            owner = job.owners[level]
            turns.append((before[owner], job))
            before[owner] += 1
        jobs = [job for _, job in sorted(turns, key=lambda pair: pair[0])]
    return list(jobs)
