"""Which job is next: watched jobs before background work, sessions alternately, first come first served."""

from collections import Counter

from specviz.service.job import Job, Lane


class FairQueue:
    """The jobs that wait. A session's second job waits for the other sessions' first ones."""

    def __init__(self) -> None:
        self._lanes: dict[Lane, list[Job]] = {"interactive": [], "background": []}

    def put(self, job: Job, instead_of: Job | None = None) -> None:
        """Add a job at the end, or in the place of one that waits and is no longer wanted."""
        lane = self._lanes[job.lane]
        if instead_of in lane:
            lane[lane.index(instead_of)] = job
        else:
            lane.append(job)

    def put_first(self, job: Job) -> None:
        """Add a job that gave way: it is next in its lane."""
        self._lanes[job.lane].insert(0, job)

    def remove(self, job: Job) -> None:
        """Take a job out, if it is waiting."""
        lane = self._lanes[job.lane]
        if job in lane:
            lane.remove(job)

    def next(self) -> Job | None:
        """The job that `take` would take."""
        return next(iter(self.jobs()), None)

    def take(self) -> Job | None:
        """Take out the next job; its session's other jobs then wait behind those of the other sessions."""
        job = self.next()
        if job:
            self.remove(job)
            self._lanes[job.lane].sort(key=lambda other: other.session == job.session)
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


def _in_turn(lane: list[Job]) -> list[Job]:
    """Every session's first job in the order they came, then every session's second one, and so on."""
    before: Counter[str] = Counter()
    turns: list[tuple[int, Job]] = []
    for job in lane:
        turns.append((before[job.session], job))
        before[job.session] += 1
    return [job for _, job in sorted(turns, key=lambda pair: pair[0])]
