"""Which tokens a node of a tree may look at, and its place in the text: what a model needs to read a tree in one pass.

A node looks at the whole text before the tree, at its ancestors and at itself. Its position is that of the token it
would have if its path were the text (SpecInfer, Miao et al. 2023, arXiv 2305.09781; Medusa, Cai et al. 2024, arXiv
2401.10774).
"""

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor


def tree_mask(start: int, parents: Sequence[int], count: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """The positions, (count,), and the mask, (count, start + nodes), of a tree's last `count` nodes.

    Args:
        start: tokens before the tree.
        parents: of every node, counted from the first; -1: the text. A parent comes before its children.
        count: nodes that are read now; the cache has the others.
        device: where the model is.
    """
    depths, ancestors = _ancestors(tuple(parents))
    text = torch.ones(count, start, dtype=torch.bool)
    mask = torch.cat((text, ancestors[-count:]), 1)
    return (start + depths[-count:]).to(device), mask.to(device)


@lru_cache(maxsize=64)  # a fixed shape is the same in every round
def _ancestors(parents: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """The depth of each node, from 0, and which nodes are on the path to it, itself included: (n,), (n, n)."""
    seen = torch.eye(len(parents), dtype=torch.bool)
    depths: list[int] = []
    for node, parent in enumerate(parents):
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
        if parent >= 0:
            seen[node] |= seen[parent]
    return torch.tensor(depths), seen
