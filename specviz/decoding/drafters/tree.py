"""Drafting guess after guess, or a tree of them, by any drafter that has a distribution."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, inf, log
from typing import Protocol

import torch
from torch import Tensor

from specviz.core.settings import UNSURE_BELOW, TreeShape
from specviz.decoding.drafters.protocol import Draft, DraftContext, Proposer
from specviz.decoding.sampler import Sampler, constrain

TEXT = -1  # the parent of the first guesses


@dataclass(slots=True)
class Tree:
    """Guesses, each after its parent. The children of a node stand in the order in which they were chosen."""

    token_ids: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    rows: list[Tensor] = field(default_factory=list)  # (vocabulary,) the scores that each guess was chosen from

    def add(self, parent: int, token_id: int, row: Tensor) -> int:
        """A new guess after `parent`; returns its number."""
        self.token_ids.append(token_id)
        self.parents.append(parent)
        self.rows.append(row)
        return len(self.token_ids) - 1

    def path(self, node: int) -> list[int]:
        """The tokens that lead from the text to this node, its own included."""
        tokens: list[int] = []
        while node != TEXT:
            tokens.insert(0, self.token_ids[node])
            node = self.parents[node]
        return tokens

    def select_nodes(self, nodes: list[int]) -> "Tree":
        """The tree of these nodes alone, in this order; each one's parent must be among them, earlier."""
        number = {node: i for i, node in enumerate(nodes)} | {TEXT: TEXT}
        parents = [number[self.parents[node]] for node in nodes]
        return Tree([self.token_ids[node] for node in nodes], parents, [self.rows[node] for node in nodes])


class NodeReader(Protocol):
    """What a drafter must be able to do to grow trees."""

    longest: int | None = None  # the most guesses that it can make one after the other; None: any number

    def read_prompt(self) -> Iterator[None]:
        yield from ()

    @abstractmethod
    def read_text(self, token_ids: Sequence[int]) -> Tensor:
        """The logits after the text, (1, vocabulary). A new round begins: the tree of the round before is over."""

    @abstractmethod
    def read_nodes(self, tree: Tree, nodes: list[int]) -> Tensor:
        """The logits after each of these nodes, (len(nodes), vocabulary). It has read their ancestors."""

    def read_chain(self, token_ids: Sequence[int], chain: Tree) -> Tensor:
        """The logits after the text and all of these guesses, (1, vocabulary)."""
        last = len(chain.token_ids) - 1
        return self.read_text(token_ids) if last < 0 else self.read_nodes(chain, [last])

    def commit(self, length: int) -> None:
        return


def proposer_of(reader: NodeReader, context: DraftContext) -> Proposer:
    shape = context.setup.settings.tree_shape
    return TreeProposer(reader, context, shape) if shape else ChainProposer(reader, context)


class _Reading(Proposer):
    """What chains and trees have in common: a reader, and a choice made from its scores."""

    def __init__(self, reader: NodeReader, context: DraftContext) -> None:
        self._reader = reader
        self._context = context
        self._sampler = context.sampler

    def read_prompt(self) -> Iterator[None]:
        yield from self._reader.read_prompt()

    def commit(self, length: int) -> None:
        self._reader.commit(length)

    def _scores(self, logits: Tensor, texts: Iterable[Sequence[int]]) -> Tensor:
        """The scores of rows of logits, each of which follows one of the texts."""
        constraint = self._context.constraint
        return self._sampler.scores(constrain(logits, constraint, texts) if constraint else logits)


class ChainProposer(_Reading):
    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        stops = self._context.setup.settings.draft_schedule == "confidence"
        tree = Tree()
        for place in range(min(count, self._reader.longest or count)):
            logits = self._reader.read_chain(token_ids, tree)
            scores = self._scores(logits, [[*token_ids, *tree.token_ids]])
            if not float(scores.max()) > -inf:  # nor for nan: no word that may come next is among the draft's
                break
            guess = self._context.choose(scores[0])
            tree.add(place - 1 if place else TEXT, guess, scores[0])
            if stops and float(self._sampler.probabilities(scores)[0, guess]) < UNSURE_BELOW:
                # Stop after this guess, not before it. If unsure guesses were dropped, the ones that are judged would
                # no longer be draws from q, and the output would no longer be distributed as p.
                break
        return self._context.draft(tree.token_ids, tree.rows)


class TreeProposer(_Reading):
    """Grows a tree of the settings' shape in each round.

    A fixed shape: every node of a depth gets the same number of children. If the run samples, they are drawn without
    replacement, each from the draft's distribution without its earlier siblings.

    A budget of nodes: the most probable paths, by the product of the draft's probabilities along the path, as in
    EAGLE-2 (Li et al. 2024, arXiv 2406.16858). At each depth only the best `width` nodes get children, `width` each,
    and in the end the best nodes stay. EAGLE-2 sets its width apart; here it is the budget divided by the depth. These
    guesses depend on the text alone, not on chance. So q is a point mass on each, also when the run samples: the
    survivors of a choice among drawn guesses would no longer be distributed as q.
    """

    def __init__(self, reader: NodeReader, context: DraftContext, shape: TreeShape) -> None:
        super().__init__(reader, context)
        settings = context.setup.settings
        self._shape = shape
        self._width = ceil(shape.nodes / settings.draft_length)  # with a budget: nodes of a depth that get children
        self._draws = shape.children is not None and not settings.greedy and settings.draft_sampling == "sample"
        self._has_q = settings.greedy or self._draws  # otherwise q is a point mass on each guess
        self._choose = _draw if self._draws else _most_probable

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        tree = Tree()
        count = min(count, self._reader.longest or count)
        if count and self._shape.children is not None:
            self._grow(tree, token_ids, self._shape.children[:count])
        elif count:
            tree = self._grow_best(tree, token_ids, count)
        scores = torch.stack(tree.rows) if tree.rows and self._has_q else None
        return Draft(tree.token_ids, scores, parents=tree.parents)

    def _grow(self, tree: Tree, text: Sequence[int], children: Sequence[int]) -> None:
        level = [TEXT]
        for width in children:
            rows = self._level(tree, level, text)
            new: list[int] = []
            for parent, row in zip(level, rows, strict=True):
                new += self._add(tree, parent, row, width)
            level = new

    def _grow_best(self, tree: Tree, text: Sequence[int], depths: int) -> Tree:
        level, value = [TEXT], {TEXT: 0.0}  # the value of a path is the logarithm of its probability
        for _ in range(depths):
            rows = self._level(tree, level, text)
            new: list[int] = []
            for parent, row, q in zip(level, rows, self._sampler.probabilities(rows), strict=True):
                added = self._add(tree, parent, row, self._width)
                for node in added:
                    value[node] = value[parent] + log(max(float(q[tree.token_ids[node]]), 1e-45))
                new += added
            level = sorted(new, key=lambda node: -value[node])[: self._width]
        # A parent is at least as probable as its child and stands before it, so the best nodes form a tree.
        best = sorted(range(len(tree.token_ids)), key=lambda node: -value[node])[: self._shape.nodes]
        return tree.select_nodes(sorted(best))

    def _add(self, tree: Tree, parent: int, row: Tensor, width: int) -> list[int]:
        return [tree.add(parent, *chosen) for chosen in self._choose(self._sampler, row, width)]

    def _level(self, tree: Tree, level: list[int], text: Sequence[int]) -> Tensor:
        """The scores after each node of a depth, (len(level), vocabulary)."""
        if not level:  # nothing was possible after the depth above
            return torch.empty(0)
        logits = self._reader.read_text(text) if level == [TEXT] else self._reader.read_nodes(tree, level)
        return self._scores(logits, ([*text, *tree.path(node)] for node in level))


Choose = Callable[[Sampler, Tensor, int], Iterator[tuple[int, Tensor]]]


def _draw(sampler: Sampler, row: Tensor, count: int) -> Iterator[tuple[int, Tensor]]:
    """At most `count` draws without replacement, each with the probabilities that it was drawn from, (vocabulary,)."""
    for _ in range(count):
        if not float(row.sum()) > 0:  # nor for nan: no token is left that has any probability
            return
        token_id = sampler.choose(row)
        yield token_id, row
        row = row.clone()
        row[token_id] = 0
        row /= row.sum()


def _most_probable(sampler: Sampler, row: Tensor, count: int) -> Iterator[tuple[int, Tensor]]:
    possible = sampler.probabilities(row[None])[0] > 0
    for token_id in row.topk(min(count, len(row))).indices.tolist():
        if possible[token_id]:
            yield token_id, row
