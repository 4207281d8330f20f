"""Who runs next, and who stops for it: the one queue of a server, and what an engine may have at the same time.

Watched jobs go before long ones. Visitors' addresses alternate, and within one its sessions, so someone who opens ten
tabs has as many turns as a visitor with one. Without an address, a session counts as one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from specviz.service.job import Job
from specviz.service.limits import Limits

PROMPTS_AT_ONCE = 8_000  # characters of the prompts of all jobs that are at work; about 60 MB of caches
LONG_AT_ONCE = 4  # long jobs that an engine has begun; each holds the caches of one run and a prompt's repeats


class Schedule:
    """The jobs that wait. An address's second job waits for the other addresses' first ones; so do a session's."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[bool, list[Job]] = {True: [], False: []}  # by whether they are watched

    # ---- the queue

    def put(self, job: Job, instead_of: Job | None = None) -> None:
        """Add a job at the end, or in the place of one that waits and is no longer wanted."""
        alike = self._waiting[job.watched]
        if instead_of in alike:
            alike[alike.index(instead_of)] = job
        else:
            alike.append(job)

    def remove(self, job: Job) -> None:
        if job in self._waiting[job.watched]:
            self._waiting[job.watched].remove(job)

    def place(self, job: Job) -> int | None:
        """A waiting job's place, 1 is next; None when it is not waiting."""
        jobs = self.jobs()
        return jobs.index(job) + 1 if job in jobs else None

    def jobs(self) -> list[Job]:
        return [job for alike in self._waiting.values() for job in _in_turn(alike)]

    def next(self) -> Job | None:
        return next(iter(self.jobs()), None)

    def take(self) -> Job | None:
        """Take out the next job; its address's other jobs then wait behind all others, its session's last of all."""
        job = self.next()
        if job:
            self.remove(job)
            self._waiting[job.watched].sort(key=lambda other: (other.owner == job.owner, other.session == job.session))
        return job

    # ---- for one engine, and the jobs that it has

    def take_for(self, running: Sequence[Job], others_idle: bool) -> Job | None:
        """The job that this engine gets now; beside others only where no engine is idle."""
        job = self.next()
        return self.take() if job and self._has_room(job, running, others_idle) else None

    def stop(self, running: Sequence[Job], others_idle: bool, now: float) -> None:
        """Mark the long work that stops for a job that neither this engine takes in beside it, nor another one."""
        job, turn = self.next(), self._limits.turn
        if job is None:
            if self._limits.shared_turn is None:
                return
            turn = self._limits.shared_turn
        elif others_idle or self._has_room(job, running, others_idle):
            return
        if job and job.watched:
            for other in self.that_give_way(job, running):
                other.wanted = "give way"
        elif rested := that_had_its_turn(running, now - turn):
            rested.wanted = "take turns"

    def _has_room(self, job: Job, running: Sequence[Job], others_idle: bool) -> bool:
        return not (running and others_idle) and self.fits_beside(job, running)

    def fits_beside(self, job: Job, running: Sequence[Job]) -> bool:
        """Whether the engine may have this job beside those that it has: jobs with bundled models, which take turns.

        Watched ones must be of one pair, and there are only a few long ones. A job holds the caches of its prompt up to
        three times, so long prompts wait. Jobs with other models are alone, because two pairs may not fit into memory.
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
        return all(other.pair == job.pair for other in running if other.watched)

    def that_give_way(self, job: Job, running: Sequence[Job]) -> list[Job]:
        """The jobs that stop at once for this watched one, where it has to wait for nothing else: long ones, and one
        that waits for a download, if this one needs none.

        One that gave way before first finds something more. So it gets on, however many visitors keep coming.
        """
        downloading = [other for other in running if other.downloads and job.bundled]
        watched = [other for other in running if other.watched and other not in downloading]
        if not self.fits_beside(job, watched):
            return []
        asked = [other for other in downloading if other.wanted == "end"]
        long = [other for other in _long(running) if other.wanted == "end" and other not in downloading]
        return asked + [other for other in long if other.gave_way_found is None or other.found > other.gave_way_found]


def that_had_its_turn(running: Sequence[Job], taken_before: float) -> Job | None:
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


def _in_turn(jobs: Iterable[Job]) -> list[Job]:
    return _alternating(_alternating(jobs, lambda job: job.session), lambda job: job.owner)


def _alternating(jobs: Iterable[Job], of: Callable[[Job], str]) -> list[Job]:
    """The first job of each in the order they came, then the second one of each, and so on."""
    before: Counter[str] = Counter()
    turns: list[tuple[int, Job]] = []
    for job in jobs:
        turns.append((before[of(job)], job))
        before[of(job)] += 1
    return [job for _, job in sorted(turns, key=lambda pair: pair[0])]
