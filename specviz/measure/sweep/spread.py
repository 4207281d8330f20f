"""Hands the cells of a sweep to the nodes of a cluster, and yields the rows as they arrive. No torch.

- A node measures one thing at a time, so that no other cell of the sweep disturbs its clock.
- A speedup is made of two runs that one node made back to back (`measure.measure`), never of two machines.
- A prompt's cells go to one node, as long as it lives: its draft lengths are compared with each other.
- A node that is gone gives back what it has not measured, and other nodes measure that.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from specviz.core.errors import InputError
from specviz.measure.sweep.plan import SweepCell, SweepPair, groups
from specviz.measure.sweep.rows import MACHINE, SweepRow, row_key

MadeBy = tuple[str | int | None, ...]  # what is the same in all rows of a pair on a node, see `rows.MADE_BY`
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LostNode:
    reason: str


NodeAnswer = MadeBy | list[SweepRow] | LostNode


class Nodes(Protocol):
    """The nodes of a cluster. Each does one thing at a time: it is asked again only when it has answered."""

    @property
    def names(self) -> Sequence[str]:
        """One name for each node, no two of them the same."""

    def send(self, node: str, what: SweepPair | list[SweepCell]) -> None:
        """Ask a node to load a pair and say what its rows are made by, or for the rows of cells. Does not wait."""

    def answer(self) -> tuple[str, NodeAnswer]:
        """Wait for the next answer, and say whose it is. Only called while a node was asked.

        InputError: the node cannot load or measure what was asked; the sentence names it.
        """


class NoNodeLeft(InputError):
    """All nodes are gone. The text says so and has no full stop: what is saved, and how to go on, is added to it."""


class _Prompt:
    def __init__(self, cells: Iterable[SweepCell]) -> None:
        self._groups = deque(groups(cells))
        self.pair: SweepPair = self._groups[0][0].pair
        self.group: list[SweepCell] = []  # to be measured now, without the cells that are known

    def __len__(self) -> int:
        return len(self.group) + sum(map(len, self._groups))

    def next_group(self, is_known: Callable[[SweepCell], bool]) -> list[SweepCell]:
        """The group in hand, or the next one that has cells to measure; empty if nothing is left."""
        while not self.group and self._groups:
            self.group = [cell for cell in self._groups.popleft() if not is_known(cell)]
        return self.group


def _prompts(cells: Iterable[SweepCell]) -> Iterator[_Prompt]:
    """Neighbouring cells that differ only in the way of drafting, and in the grammar."""
    for _, its in groupby(cells, lambda each: (each.pair, each.prompt, each.settings.temperature, each.settings.seed)):
        yield _Prompt(its)


def _drop_machine(key: tuple[str, ...]) -> tuple[str, ...]:
    """The key without the machine: a cluster stays the same place when one of its nodes is replaced."""
    return (*key[:MACHINE], *key[MACHINE + 1 :])


def _counted(row: SweepRow) -> tuple[str, ...]:
    return _drop_machine(row.key) if row.node else row.key


class ClusterSweep:
    """Measures cells on all nodes. Each `known` row stands for one cell."""

    def __init__(
        self, cells: Sequence[SweepCell], nodes: Nodes, known: Iterable[SweepRow], progress: Say, lost: Say
    ) -> None:
        self._nodes, self._known, self._progress, self._lost = nodes, Counter(map(_counted, known)), progress, lost
        self._total, self._number = len(cells), 0
        self._waiting = deque(_prompts(cells))
        self._alive = list(nodes.names)
        self._hand: dict[str, _Prompt] = {}  # of each node
        self._asked: set[str] = set()  # nodes that have not answered yet
        self._loaded: dict[str, tuple[SweepPair, MadeBy]] = {}

    def rows(self) -> Iterator[SweepRow]:
        """As they arrive. InputError: a node cannot load or measure what was asked. NoNodeLeft: all nodes are gone."""
        self._send_all()
        while self._asked:
            node, answer = self._nodes.answer()
            self._asked.remove(node)
            match answer:
                case LostNode(reason):
                    self._forget(node, reason)
                case list():
                    yield from answer
                    self._hand[node].group = []
                case _:
                    self._loaded[node] = self._hand[node].pair, answer
            self._send_all()

    def _forget(self, node: str, reason: str) -> None:
        self._alive.remove(node)
        prompt = self._hand.pop(node)
        self._waiting.appendleft(prompt)
        if not self._alive:
            raise NoNodeLeft(f"no node of the cluster is left: {node} was the last one ({reason})")
        self._lost(f"node {node} is gone ({reason}); other nodes measure the {len(prompt)} cells that it had in hand")

    def _send_all(self) -> None:
        for node in self._alive:
            if node not in self._asked:
                self._send_next(node)

    def _send_next(self, node: str) -> None:
        while prompt := self._hand.get(node) or self._next_prompt(node):
            self._hand[node] = prompt
            what: SweepPair | list[SweepCell]
            if not self._has(node, prompt.pair):
                what, doing = prompt.pair, f"loading {' and '.join(prompt.pair.models)}"
            elif what := prompt.next_group(lambda cell: self._is_known(node, cell)):
                doing = f"{what[0].label}: {self._number} of {self._total}"
            else:
                del self._hand[node]
                continue
            self._progress(f"{node}: {doing}")
            self._nodes.send(node, what)
            self._asked.add(node)
            return

    def _next_prompt(self, node: str) -> _Prompt | None:
        """The first prompt that waits for models that the node has; else the first that waits; None: none does."""
        if not self._waiting:
            return None
        prompt = next((each for each in self._waiting if self._has(node, each.pair)), self._waiting[0])
        self._waiting.remove(prompt)
        return prompt

    def _has(self, node: str, pair: SweepPair) -> bool:
        return node in self._loaded and self._loaded[node][0] == pair

    def _is_known(self, node: str, cell: SweepCell) -> bool:
        """Whether a row stands for the cell; it is then taken away: repeats of one measurement have the same key."""
        self._number += 1
        key = row_key(self._loaded[node][1], cell.named, cell.settings)
        found = next((each for each in (_drop_machine(key), key) if self._known[each] > 0), None)
        if found is not None:
            self._known[found] -= 1
        return found is not None
