"""The engine's work for a calibration: what a pair costs here."""

from collections.abc import Callable, Iterator

from specviz.models.pass_timing import Stopped
from specviz.service.protocol import Calibrate, Calibrated, JobEvent, Started
from specviz.service.workshop import Workshop


def calibrate_steps(command: Calibrate, workshop: Workshop, stopped: Callable[[], bool]) -> Iterator[JobEvent | None]:
    """One `Calibrated`.

    Raises:
        InputError: the pair cannot work, or does not fit in memory.
    """
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    yield Started(job)
    try:
        costs = workshop.costs_of(target, draft, stopped)
    except Stopped:
        yield None
        return
    yield Calibrated(job, costs, workshop.dtype_reasons(target, draft, request.precision))
