"""Which job is next: watched jobs before long ones; addresses alternately, and within one its sessions alternately.

So someone who opens ten tabs has as many turns as a visitor with one. Without an address, a session counts as one.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from specviz.service.job import Job, Lane


class FairQueue:
    """The jobs that wait. An address's second job waits for the other addresses' first ones; so do a session's."""

    def __init__(self) -> None:
        self._lanes: dict[Lane, list[Job]] = {"interactive": [], "background": []}

    def put(self, job: Job, instead_of: Job | None = None) -> None:
        """Add a job at the end, or in the place of one that waits and is no longer wanted."""
        lane = self._lanes[job.lane]
        if instead_of in lane:
            lane[lane.index(instead_of)] = job
        else:
            lane.append(job)

    def remove(self, job: Job) -> None:
        """Take a job out, if it is waiting."""
        lane = self._lanes[job.lane]
        if job in lane:
            lane.remove(job)

    def next(self) -> Job | None:
        """The job that `take` would take."""
        return next(iter(self.jobs()), None)

    def take(self) -> Job | None:
        """Take out the next job; its address's other jobs then wait behind all others, its session's last of all."""
        job = self.next()
        if job:
            self.remove(job)
            self._lanes[job.lane].sort(key=lambda other: (other.owner == job.owner, other.session == job.session))
        return job

    def place(self, job: Job) -> int | None:
        """A waiting job's place, 1 is next; None when it is not waiting."""
        jobs = self.jobs()
        return jobs.index(job) + 1 if job in jobs else None

    def has(self, lane: Lane) -> bool:
        """Whether a job of this lane waits."""
        return bool(self._lanes[lane])

    def jobs(self) -> list[Job]:
        """All that wait, in order."""
        return [job for lane in self._lanes.values() for job in _in_turn(lane)]


def _in_turn(lane: Iterable[Job]) -> list[Job]:
    return _alternating(_alternating(lane, lambda job: job.session), lambda job: job.owner)


def _alternating(jobs: Iterable[Job], of: Callable[[Job], str]) -> list[Job]:
    """The first job of each in the order they came, then the second one of each, and so on."""
    before: Counter[str] = Counter()
    turns: list[tuple[int, Job]] = []
    for job in jobs:
        turns.append((before[of(job)], job))
        before[of(job)] += 1
    return [job for _, job in sorted(turns, key=lambda pair: pair[0])]
