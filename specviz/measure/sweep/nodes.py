"""What `spread` asks of a cluster, and what the nodes of one answer. No Ray here: a test's nodes are plain objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from specviz.measure.sweep.plan import Cell, SweepPair
from specviz.measure.sweep.rows import SweepRow


@dataclass(frozen=True, slots=True)
class Loaded:
    """A node has a pair of models in memory.

    Attributes:
        made_by: what its rows will be made by: target, its dtype, draft, its dtype, threads, machine.
    """

    made_by: tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """A node has measured the cells that it was asked for.

    Attributes:
        rows: one for each cell, in their order, with the node's name and its machine.
    """

    rows: list[SweepRow]


@dataclass(frozen=True, slots=True)
class Refused:
    """A node cannot do what was asked, because of the input: `sentence` is for a person."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Gone:
    """A node will not answer any more: `reason` says why, in a few words."""

    reason: str


Answer = Loaded | Measured | Refused | Gone


class Nodes(Protocol):
    """The nodes of a cluster. Each does one thing at a time: it is asked again only when it has answered."""

    @property
    def names(self) -> Sequence[str]:
        """One name for each node, no two of them the same."""

    def load(self, node: str, pair: SweepPair) -> None:
        """Ask a node to load a pair: `Loaded`, `Refused` or `Gone`. Does not wait."""

    def measure(self, node: str, cells: Sequence[Cell]) -> None:
        """Ask a node for the rows of one or two cells of a block: `Measured`, `Refused` or `Gone`. Does not wait."""

    def answer(self) -> tuple[str, Answer]:
        """Wait for the next answer, and say whose it is. Only called while a node was asked."""
