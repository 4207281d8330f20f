"""What runs on a node of a cluster: it loads a pair of models once and measures cells, as any sweep does."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from specviz import __version__
from specviz.core.errors import InputError
from specviz.core.steps import result_of
from specviz.measure.sweep.measure import Models, made_by, measure
from specviz.measure.sweep.nodes import Loaded, Measured, Refused
from specviz.measure.sweep.plan import Cell, SweepPair

Load = Callable[[SweepPair], Models]


class Worker:
    """One process on one node. Its methods are called one after the other, never two at once."""

    def __init__(self, node: str, load: Load, folder: str, version: str) -> None:
        """Nothing is loaded yet.

        Args:
            node: the name of the node, for the rows.
            load: loads a pair of models.
            folder: where the sweep was asked for; names of model folders may be relative to it.
            version: of the program that asks.
        """
        self._node, self._load, self._version = node, load, version
        self._models: Models | None = None
        with suppress(OSError):  # another machine need not have the folder
            os.chdir(folder)

    def load(self, pair: SweepPair) -> Loaded | Refused:
        """Load a pair, in place of the one before."""
        if self._version != __version__:
            return Refused(f"specviz {__version__} is installed there, and {self._version} here. Install the same one.")
        self._models = None
        try:
            self._models = self._load(pair)
        except InputError as error:
            return Refused(str(error))
        return Loaded(made_by(self._models))

    def measure(self, cells: Sequence[Cell]) -> Measured | Refused:
        """The rows of one or two cells of a block; `load` was called for their pair."""
        assert self._models is not None
        try:
            rows = result_of(measure(self._models, cells))
        except InputError as error:
            return Refused(str(error))
        return Measured([replace(row, node=self._node) for row in rows])
