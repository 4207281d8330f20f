"""The engine's work for a sweep: an answer for every cell of its plan, in the plan's order.

A sweep in the background gives way at once and goes on later. Cells whose answers were sent are not measured again;
a measurement that was broken off is made again. While the clock runs nothing is sent. Between two rounds, or two plain
steps, the sweep only checks whether it is still wanted; a run's times do not include that.
"""

from itertools import groupby

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.measure.sweep.measure import measure
from specviz.measure.sweep.plan import Cell, groups
from specviz.measure.sweep.rows import SweepRow
from specviz.service.protocol import CellSwept, Finished, Progress, Started, Sweep
from specviz.service.workshop import IsStopped, Pair, Steps, Workshop


class _NotWanted(Exception):
    """Raised between two rounds once the sweep is to stop."""


def sweep_steps(command: Sweep, workshop: Workshop, stopped: IsStopped) -> Steps:
    """One `CellSwept` for each cell after the first `done`.

    A cell that cannot be measured (a prompt too long for a model, a pair that does not fit in memory) leaves a
    sentence in place of its row, and the sweep goes on.

    Raises:
        InputError: the plan holds an impossible setting.
    """
    job, cells = command.job, command.plan.cells()
    for pair, its_cells in groupby(cells[command.done :], key=lambda cell: cell.pair):
        left = list(its_cells)
        request = RunRequest(left[0].prompt.text, pair.target, pair.draft, command.plan.precision, left[0].settings)
        try:
            models = yield from workshop.load_pair(job, request)
        except InputError as error:
            yield _progress(job, left[0], len(cells))
            yield from (CellSwept(job, _problem(cell, error)) for cell in left)
            continue
        yield Started(job)
        for group in groups(left):
            yield _progress(job, group[0], len(cells))
            try:
                answers = _measured(models, group, stopped)
            except _NotWanted:
                yield None  # a chance to hear the stop
                return
            yield from (CellSwept(job, answer) for answer in answers)
    yield Finished(job)


def _progress(job: int, cell: Cell, total: int) -> Progress:
    settings = cell.settings
    return Progress(
        job,
        "measuring",
        total,
        prompt=cell.prompt.name,
        draft=cell.pair.draft,
        draft_length=settings.draft_length,
        schedule=settings.draft_schedule,
        constrained=cell.constrained,
    )


def _measured(models: Pair, group: list[Cell], stopped: IsStopped) -> list[SweepRow | str]:
    def check_wanted() -> None:
        if stopped():
            raise _NotWanted

    try:
        return list(measure(models, group, check_wanted))
    except InputError as error:
        return [_problem(cell, error) for cell in group]


def _problem(cell: Cell, error: InputError) -> str:
    return f"{cell.prompt.name}, drafted by {cell.pair.draft}: {error}"
