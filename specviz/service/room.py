"""Which jobs one engine may have at the same time, and which of them stop for another one."""

from collections.abc import Sequence

from specviz.service.job import Job

PROMPTS_AT_ONCE = 8_000  # characters of the prompts of all jobs that are at work; about 60 MB of caches
LONG_AT_ONCE = 4  # long jobs that an engine has begun; each holds the caches of one run and a prompt's repeats


def fits_beside(job: Job, running: Sequence[Job], most: int) -> bool:
    """Whether the engine may have this job beside those that it has: jobs with bundled models, which take turns.

    Watched ones must be of one pair, and there are only a few long ones. A job holds the caches of its prompt up to
    three times, so long prompts wait. Jobs with other models are alone, because two pairs may not fit into memory.
    """
    if not running:
        return True
    together = [job, *running]
    if len(together) > most or not all(other.bundled for other in together):
        return False
    if sum(max(map(len, other.command.texts), default=0) for other in together) > PROMPTS_AT_ONCE:
        return False
    if job.lane == "background":
        return len(_long(running)) < LONG_AT_ONCE
    return all(other.pair == job.pair for other in running if other.lane == "interactive")


def that_give_way(job: Job, running: Sequence[Job], most: int) -> list[Job]:
    """The jobs that stop at once for this watched one, where it has to wait for nothing else: long ones, and one that
    waits for a download, if this one needs none.

    One that gave way before first finds something more. So it gets on, however many visitors keep coming.
    """
    downloading = [other for other in running if other.downloads and job.bundled]
    watched = [other for other in running if other.lane == "interactive" and other not in downloading]
    if not fits_beside(job, watched, most):
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
    return [job for job in jobs if job.lane == "background"]
