"""The engine's work for a calibration: what a pair costs on this machine."""

from specviz.service.protocol import Calibrate, Calibrated, Started
from specviz.service.workshop import Steps, Workshop


def calibrate_steps(command: Calibrate, workshop: Workshop) -> Steps:
    """One `Calibrated`.

    Raises:
        InputError: the pair cannot work together, or does not fit in memory.
    """
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    yield Started(job)
    costs = yield from workshop.costs_of(target, draft)
    yield Calibrated(job, costs, workshop.dtype_reasons(target, draft, request.precision))
