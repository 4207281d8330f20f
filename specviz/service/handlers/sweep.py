"""The engine's work for a sweep: an answer for every cell of its plan, in the plan's order.

A sweep that had to stop goes on later: cells whose answers were sent are not measured again. While the clock runs
nothing is sent. Between two rounds, or two plain steps, other jobs may have their turn; a run's times do not include
that.
"""

from collections.abc import Iterable
from itertools import groupby

from specviz.core.errors import InputError, without_folders
from specviz.core.request import RunRequest
from specviz.measure.sweep.measure import measure
from specviz.measure.sweep.plan import Cell, groups
from specviz.service import protocol as say
from specviz.service.workshop import Workshop


def sweep_steps(command: say.Sweep, workshop: Workshop) -> say.Steps:
    """An answer for each cell after the first `done`.

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
            yield from _problems(job, left, error)
            continue
        yield say.Started(job)
        for group in groups(left):
            yield _progress(job, group[0], len(cells))
            try:
                rows = yield from measure(models, group)
                yield from (say.Item(job, "sweep", row) for row in rows)
            except InputError as error:
                yield from _problems(job, group, error)
    yield say.Finished(job)


def _progress(job: int, cell: Cell, total: int) -> say.Progress:
    settings = cell.settings
    return say.Progress(
        job,
        "measuring",
        total,
        prompt=cell.prompt.name,
        draft=cell.pair.draft,
        draft_length=settings.draft_length,
        schedule=settings.draft_schedule,
        constrained=cell.constrained,
    )


def _problems(job: int, cells: Iterable[Cell], error: InputError) -> say.Steps:
    for cell in cells:
        yield say.Item(job, "sweep", without_folders(f"{cell.prompt.name}, drafted by {cell.pair.draft}: {error}"))
