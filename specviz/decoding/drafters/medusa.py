"""Medusa heads at work: one pass makes the guesses of all depths, and none of them knows the others."""

from collections.abc import Sequence

import torch
from torch import Tensor

from specviz.decoding.drafters.tree import NodeReader, Tree
from specviz.models.heads import MedusaHeads
from specviz.models.hidden_states import HiddenStates


class MedusaReader(NodeReader):
    """Gives every guess of a depth the same row of its one pass."""

    def __init__(self, heads: MedusaHeads, states: HiddenStates, vocabulary: int) -> None:
        """`states` are the target's, in step with its cache."""
        self._heads = heads
        self._states = states
        self.longest = heads.depths
        self._logits = torch.zeros(heads.depths, vocabulary)

    @torch.inference_mode()
    def after_text(self, token_ids: Sequence[int]) -> Tensor:
        """Guess from the target's last state: the one before the text's last token, which it has not read yet."""
        if len(token_ids) == 1:  # it has read nothing: every token is as probable as any other
            self._logits = torch.zeros_like(self._logits)
        else:
            state = self._states.since(len(token_ids) - 2)[0].to(self._heads.output.weight.dtype)
            self._logits = self._heads.logits(state)[:, : self._logits.shape[1]].to("cpu", torch.float32)
        return self._logits[:1]

    def after_nodes(self, tree: Tree, nodes: list[int]) -> Tensor:
        """The rows of these guesses' depths; they are the same whatever was guessed before."""
        return self._logits[[len(tree.path(node)) for node in nodes]]
