"""The acceptance rules for a draft that is a tree: which path is accepted, and which token the target adds."""

import torch
from torch import Tensor

from specviz.decoding.drafters.protocol import Draft
from specviz.decoding.verification import Verification, residual


class GreedyTreeRule:
    """From the text on, go to the child that is the target's most probable token, as long as there is one.

    Scores are logits.
    """

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        """The accepted path, then the target's most probable token after it."""
        best: list[int] = target_scores.argmax(-1).tolist()
        children = children_of(draft)
        path: list[int] = []
        judged: list[int] = []
        node: int | None = -1
        while node is not None:
            last, node = node, None
            for child in children[last + 1]:
                judged.append(child)
                if draft.token_ids[child] == best[last + 1]:
                    path.append(child)
                    node = child
                    break
        accept_probs = [float(child in path) for child in judged]
        return Verification(len(path), best[last + 1], accept_probs, path=path, judged=judged)


class SamplingTreeRule:
    """At each node, judge one child after the other: accept x with probability min(1, p(x)/q(x)), else p := (p - q)+.

    q is the distribution that this child was drawn from: without its earlier siblings, if the draft draws without
    replacement. If no child is accepted, the target's token is a draw from the p that is left. Whatever q is, the
    output is distributed as the target's: each step is the rule of Leviathan et al. 2023 for the p that is left. This
    is recursive rejection sampling (Jeon et al. 2024, arXiv 2402.14160). If the children are drawn independently
    instead, it is SpecInfer's multi-step speculative sampling (Miao et al. 2023, arXiv 2305.09781). If q is a point
    mass on each child, it is as good as drawing the target's own token and going to the child that has it. Scores are
    probabilities.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        """The accepted path, then a draw from what is left of p at its end."""
        children = children_of(draft)
        walk = _Walk(draft, self._generator)
        node: int | None = -1
        while node is not None:
            p = target_scores[node + 1]
            siblings = children[node + 1]
            node, rest = walk.judge(siblings, p)
        token_id = int(torch.multinomial(rest, 1, generator=self._generator))
        left = rest if siblings else None  # else nothing was judged there: a bonus
        path = walk.path
        return Verification(len(path), token_id, walk.accept_probs, walk.drawn, left, path, walk.judged)


class _Walk:
    """The way through a tree, and what was drawn on it."""

    def __init__(self, draft: Draft, generator: torch.Generator) -> None:
        self._draft = draft
        self._generator = generator
        self.path: list[int] = []
        self.judged: list[int] = []
        self.accept_probs: list[float] = []
        self.drawn: list[float] = []

    def judge(self, siblings: list[int], p: Tensor) -> tuple[int | None, Tensor]:
        """The sibling that is accepted, or None; and what is left of p after the ones that were not."""
        for child in siblings:
            accept_prob = min(1.0, float(p[self._draft.token_ids[child]]) / self._q(child))
            drawn = float(torch.rand(1, generator=self._generator, dtype=torch.float64))
            self.judged.append(child)
            self.accept_probs.append(accept_prob)
            self.drawn.append(drawn)
            if drawn < accept_prob:
                self.path.append(child)
                return child, p
            p = residual(p, self._draft, child)
        return None, p

    def _q(self, child: int) -> float:
        scores = self._draft.draft_scores
        return 1.0 if scores is None else float(scores[child, self._draft.token_ids[child]])


def children_of(draft: Draft) -> list[list[int]]:
    """Entry i + 1: the children of guess i, in the order in which they were drawn; entry 0: those of the text."""
    children: list[list[int]] = [[] for _ in range(len(draft.token_ids) + 1)]
    for guess, parent in enumerate(draft.parents or []):
        children[parent + 1].append(guess)
    return children
