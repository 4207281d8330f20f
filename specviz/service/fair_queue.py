"""Who is next: first come, first served, watched runs before background work. No threads, no clock."""

from specviz.service.job import Job, Kind


class FairQueue:
    """The jobs that wait, at most one of a kind a session."""

    def __init__(self) -> None:
        self._lanes: dict[Kind, list[Job]] = {"interactive": [], "background": []}

    def put(self, job: Job) -> None:
        """Add a job at the end, or in the place of its session's waiting job of that kind."""
        lane = self._lanes[job.kind]
        for position, other in enumerate(lane):
            if other.session == job.session:
                lane[position] = job
                return
        lane.append(job)

    def put_back(self, job: Job) -> None:
        """Add a job that gave way: it is next among its kind."""
        self._lanes[job.kind].insert(0, job)

    def remove(self, job: Job) -> None:
        """Take a job out, if it is waiting."""
        lane = self._lanes[job.kind]
        if job in lane:
            lane.remove(job)

    def take(self) -> Job | None:
        """Take out the next job."""
        for lane in self._lanes.values():
            if lane:
                return lane.pop(0)
        return None

    def place(self, job: Job) -> int | None:
        """A waiting job's place, 1 is next; None when it is not waiting."""
        jobs = self.jobs()
        return jobs.index(job) + 1 if job in jobs else None

    def has_interactive(self) -> bool:
        """Whether a visitor is waiting."""
        return bool(self._lanes["interactive"])

    def jobs(self) -> list[Job]:
        """All that wait, in order."""
        return [job for lane in self._lanes.values() for job in lane]
