"""Which jobs each session has, and when it was last heard of. The caller holds the service's lock; no threads here."""

from specviz.service.job import Job, Slot


class Sessions:
    """Each session's latest job for every slot, waiting, running or finished.

    Args:
        absence: seconds after which a session that was not heard of has left.
    """

    def __init__(self, absence: float) -> None:
        self._absence = absence
        self._jobs: dict[int, Job] = {}  # by number
        self._heard: dict[str, float] = {}  # when each session was last heard of, on the monotonic clock

    def hear(self, session: str, when: float) -> None:
        """The session is there at this time."""
        self._heard[session] = when

    def job(self, number: int) -> Job | None:
        """The job of this number; None where it was never there, was replaced, or its session has left."""
        return self._jobs.get(number)

    def jobs_of(self, session: str, slot: Slot | None = None) -> list[Job]:
        """The session's jobs, or the one in this slot."""
        return [job for job in self._jobs.values() if job.session == session and slot in (None, job.slot)]

    def put(self, job: Job) -> list[Job]:
        """Save a job; returns the one that it replaces, which is forgotten."""
        replaced = self.jobs_of(job.session, job.slot)
        for old in replaced:
            del self._jobs[old.id]
        self._jobs[job.id] = job
        return replaced

    def forget(self, session: str) -> list[Job]:
        """Forget a session that has left; returns the jobs it had."""
        jobs = self.jobs_of(session)
        for job in jobs:
            del self._jobs[job.id]
        self._heard.pop(session, None)
        return jobs

    def forget_absent(self, now: float) -> list[Job]:
        """Forget every session that has left by now; returns the jobs they had."""
        gone = [session for session, heard in self._heard.items() if now - heard >= self._absence]
        return [job for session in gone for job in self.forget(session)]

    def next_absence(self) -> float | None:
        """When the next session counts as absent if it is not heard of; None without sessions."""
        return min(self._heard.values()) + self._absence if self._heard else None
