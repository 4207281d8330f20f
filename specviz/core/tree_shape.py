"""What a setting says about the shape of a draft tree: children a depth ("4,2,1") or a budget ("dynamic:16")."""

import re
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from specviz.core.errors import InputError

MAX_DEPTH = 16
MAX_NODES = 64  # of one tree; a round of a trace holds no more
DYNAMIC = "dynamic:"


@dataclass(frozen=True, slots=True)
class TreeShape:
    children: tuple[int, ...] | None  # of each node, by depth; None: the most probable paths within `nodes`
    nodes: int  # the most drafted tokens in the tree

    @property
    def depth(self) -> int | None:
        """The longest path of a fixed shape; None: the draft length decides."""
        return None if self.children is None else len(self.children)


def parse_tree(text: str) -> TreeShape:
    if re.fullmatch(rf"{DYNAMIC}[0-9]{{1,3}}", text):
        return _sized(None, int(text.removeprefix(DYNAMIC)), text)
    if not re.fullmatch(r"[1-9][0-9]?(,[1-9][0-9]?){0,31}", text):
        raise InputError(f'A tree is children a depth, like "4,2,1", or "dynamic:16", not {text[:40]!a}.')
    children = tuple(int(number) for number in text.split(","))
    if len(children) > MAX_DEPTH:
        raise InputError(f"A tree has at most {MAX_DEPTH} depths, not {len(children)}.")
    return _sized(children, sum(accumulate(children, mul)), text)


def _sized(children: tuple[int, ...] | None, nodes: int, text: str) -> TreeShape:
    if not 1 <= nodes <= MAX_NODES:
        raise InputError(f'A tree has from 1 to {MAX_NODES} drafted tokens, and "{text}" has {nodes}.')
    return TreeShape(children, nodes)


def with_depth(text: str, depth: int) -> str:
    """The tree of this shape with so many depths: the deepest are left out, or one guess a node is added.

    A tree that would be too large loses children where it has most. A budget of nodes has any depth: it stays as it is.
    """
    shape = parse_tree(text)
    if shape.children is None:
        return text
    children = [*shape.children[:depth], *[1] * (depth - len(shape.children))]
    while sum(accumulate(children, mul)) > MAX_NODES:
        children[children.index(max(children))] -= 1
    return ",".join(map(str, children))
