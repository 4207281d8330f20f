"""An EAGLE head at work: where the target has read, it reads the target's states; further on, its own."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from specviz.decoding.drafters.tree import TEXT, NodeReader, Tree
from specviz.models.cached_model import CHUNK
from specviz.models.heads import EagleHead
from specviz.models.hidden_states import HiddenStates
from specviz.models.tree_mask import tree_mask


class EagleReader(NodeReader):
    """Reads pairs: the state after a token, and the token that follows it.

    The pairs of a text of n tokens are n - 1, one fewer than its tokens. Those whose state is the target's stay in the
    cache for good. Those of guesses have the head's own states: they are removed when the round is over, and what was
    accepted of them is read again with the target's states, all together with the first step of the next round.
    """

    def __init__(self, head: EagleHead, states: HiddenStates, prompt: Sequence[int], vocabulary: int) -> None:
        """`states` are the target's, in step with its cache."""
        self._head = head
        self._states = states
        self._prompt = prompt
        self._vocabulary = vocabulary
        self._cache = head.cache()
        self._sure = 0  # pairs in the cache that were read with the target's states
        self._text = 0  # pairs in the cache before the guesses of this round
        self._read: list[int] = []  # the guesses in the cache, in order
        self._parents: list[int] = []  # which of them each one follows
        self._own = head.body.norm.new_zeros(1, len(head.body.norm))  # its state after the text and each guess

    @torch.inference_mode()
    def read_prompt(self) -> Iterator[None]:
        """Read all pairs of the prompt except the last: the first guess starts from that one."""
        end = len(self._prompt) - 1
        while self._sure < end - 1:
            stop = min(self._sure + CHUNK, end - 1)
            self._hidden(self._states.since(self._sure)[: stop - self._sure], self._prompt[self._sure + 1 : stop + 1])
            self._sure = stop
            yield

    @torch.inference_mode()
    def after_text(self, token_ids: Sequence[int]) -> Tensor:
        """Read what is new in the text, with the target's states."""
        self._cache.crop(self._sure)
        if len(token_ids) > 1:
            new = token_ids[self._sure + 1 :]
            hidden = self._hidden(self._states.since(self._sure)[: len(new)], new)
            self._sure = len(token_ids) - 1
        else:  # the target has read nothing yet: an empty state goes before the only token
            hidden = self._hidden(torch.zeros_like(self._own[:1]), token_ids)
        self._own, self._text = hidden[-1:], self._cache.length
        self._read, self._parents = [], []
        return self._logits(self._own)

    @torch.inference_mode()
    def after_nodes(self, tree: Tree, nodes: list[int]) -> Tensor:
        """Read these guesses, each with the head's own state before it."""
        row = {node: row for row, node in enumerate(self._read)} | {TEXT: TEXT}
        parents = [row[tree.parents[node]] for node in nodes]
        self._read += nodes
        self._parents += parents
        before = self._own[[parent + 1 for parent in parents]]
        hidden = self._hidden(before, [tree.token_ids[node] for node in nodes], *self._places(len(nodes)))
        self._own = torch.cat([self._own, hidden])
        return self._logits(hidden)

    def _places(self, count: int) -> tuple[Tensor, Tensor] | tuple[None, None]:
        """Positions and mask of the last `count` guesses; a chain needs none."""
        if self._parents == list(range(-1, len(self._parents) - 1)):
            return None, None
        return tree_mask(self._text, self._parents, count, self._own.device)

    def _hidden(
        self, states: Tensor, token_ids: Sequence[int], positions: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        ids = torch.tensor(token_ids, device=self._own.device)
        return self._head.hidden(states.to(self._own.dtype), ids, self._cache, positions, mask)

    def _logits(self, hidden: Tensor) -> Tensor:
        return self._head.logits(hidden)[:, : self._vocabulary].to("cpu", torch.float32)
