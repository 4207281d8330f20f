"""The engine's work for a sweep: a result for every cell of its plan, in the plan's order.

A sweep in the background gives way at once, and goes on later: cells whose results were sent are not measured again,
those of a measurement that was broken off are. While the clock runs nothing is sent; between two rounds, or two plain
steps, there is only a look at whether the job is still wanted, which is outside what a run times.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.measure.sweep.measure import measure
from specviz.measure.sweep.plan import Cell, groups
from specviz.models.loaded_model import LoadedModel
from specviz.service.protocol import Finished, JobEvent, Results, Started, Sweep

Steps = Iterator[JobEvent | None]
Pair = tuple[LoadedModel, LoadedModel | None]
LoadPair = Callable[[int, RunRequest], Generator[JobEvent | None, None, Pair]]


class _NotWanted(Exception):
    """Raised between two rounds once the sweep is to stop."""


def sweep_steps(command: Sweep, load_pair: LoadPair, stopped: Callable[[], bool]) -> Steps:
    """Measure the cells that are left; `sweep_rows.read_result` reads an item of the results.

    A cell that cannot be measured (a prompt too long for a model, a pair that does not fit in memory) leaves a
    sentence in place of its row, and the sweep goes on.

    Raises:
        InputError: the plan holds a setting that cannot be.
    """
    cells = command.plan.cells()
    for pair, its_cells in groupby(cells[command.done :], key=lambda cell: cell.pair):
        left = list(its_cells)
        request = RunRequest(left[0].prompt.text, pair.target, pair.draft, command.plan.precision, left[0].settings)
        try:
            models = yield from load_pair(command.job, request)
        except InputError as error:
            yield Results(command.job, [_problem(cell, error) for cell in left], len(cells))
            continue
        yield Started(command.job)
        for group in groups(left):
            yield Results(command.job, [], len(cells), group[0].label)
            try:
                items = _items(models, group, stopped)
            except _NotWanted:
                yield None  # a chance to hear the stop
                return
            yield Results(command.job, items, len(cells))
    yield Finished(command.job)


def _items(models: Pair, group: list[Cell], stopped: Callable[[], bool]) -> list[dict[str, Any]]:
    def chance() -> None:
        if stopped():
            raise _NotWanted

    try:
        return [{"row": asdict(row)} for row in measure(models, group, chance)]
    except InputError as error:
        return [_problem(cell, error) for cell in group]


def _problem(cell: Cell, error: InputError) -> dict[str, Any]:
    return {"problem": f"{cell.prompt.name}, drafted by {cell.pair.draft}: {error}"}
