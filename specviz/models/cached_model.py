"""A causal language model with its KV cache: it reads every token once and removes only rejected ones."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import pad

from specviz.models.key_values import HiddenStates
from specviz.models.loaded_model import LoadedModel


def tree_mask(start: int, parents: Sequence[int], count: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """The positions, (count,), and the mask, (count, start + nodes), of a tree's last `count` nodes.

    `start` tokens stand before the tree. The parents are those of every node, counted from the first; -1: the text. A
    parent comes before its children.
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


CHUNK = 128
"""Tokens of a prompt in one pass. Between two passes a job can be stopped, and others can go on.

Measured with one thread: 128 tokens take 0.7 s with 135 million parameters and 1.5 s with
400 million; the whole prompt takes 9 to 28 % longer than in one pass. Smaller chunks cost more: with 64 tokens 24 to
79 %. The keys and values equal those of one pass up to rounding (a test allows 1e-5 in the logits), and both decoders
read the prompt in the same chunks. So greedy output is the target's own, but for near-ties: tests compare it with
transformers, which reads in one pass. A prompt of at most 128 tokens is read in one pass here too.
"""


NEVER = -1e9
"""The logit of a token that a draft model does not have. Its probability is exactly 0, unless a constraint allows
nothing else: a guess is then one of the tokens that are allowed, each as probable."""


class CachedModel:
    """One model reading one text.

    A draft model may lack the target's last tokens. It never guesses them, and reads its end of text in their place.
    The target judges each guess, so what the draft reads changes only how many are accepted.

    Raises InputError: its cache cannot be shortened (a recurrent model), so rejected tokens could not be removed; or,
    at the first pass, it does not use the cache at all.
    """

    def __init__(self, loaded: LoadedModel, vocabulary: int, *, whole: bool = False) -> None:
        self._vocabulary = vocabulary  # logits beyond it are padding of the embedding, not tokens
        self._own = min(vocabulary, loaded.rows, len(loaded.tokens))
        self._stand_in = min((end for end in loaded.end_ids if end < self._own), default=0)
        self._device = loaded.device
        self._reader = loaded.open_reader(whole=whole)
        self.length = 0  # tokens in the cache
        self._tree: list[int] = []  # the parents of its last tokens, if they are nodes of a tree

    def prefill(self, tokens: Sequence[int]) -> None:
        for _ in self.prefill_steps(tokens):
            pass

    def prefill_steps(self, tokens: Sequence[int]) -> Iterator[None]:
        """Read the prompt in chunks, and yield after each: a chance to stop."""
        for start in range(0, len(tokens), CHUNK):
            chunk = tokens[start : start + CHUNK]
            logits = self._reader.read(self._ids(chunk), last=True)
            logits.cpu()  # waits for an accelerator, so that the clock includes its work
            self.length += len(chunk)
            yield
        self._reader.end_prompt()

    def read(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> Tensor:
        """Read `tokens` in one forward pass; returns the next-token logits after each, (len(tokens), vocabulary).

        The logits are float32 on the CPU, as is the random generator of the run.

        Args:
            tokens: what follows the cache, one token after the other; or, with `parents`, nodes of a tree.
            parents: the node that each token follows, counted from the tree's first; -1: the text before the tree.
                A tree may be read in several passes. It ends with `crop`.
        """
        self.length += len(tokens)
        if parents is None:
            logits = self._reader.read(self._ids(tokens))
        else:
            self._tree += parents
            positions, mask = tree_mask(self.length - len(self._tree), self._tree, len(tokens), self._device)
            logits = self._reader.read_tree(self._ids(tokens), positions, mask)
        own = logits[:, : self._own].to("cpu", torch.float32)
        return own if self._own == self._vocabulary else pad(own, (0, self._vocabulary - self._own), value=NEVER)

    def crop(self, length: int, path: Sequence[int] | None = None) -> None:
        """Remove every token after the first `length` from the cache; of a tree, also what is not on the `path`.

        The path is the nodes that follow the text, one after the other; None: no tree was read.
        """
        if path is not None:
            start = self.length - len(self._tree)
            self._reader.select(start, list(path))
            self.length, self._tree = start + len(path), []
        excess = max(0, self.length - length)
        self._reader.crop(excess)
        self.length -= excess

    def store_states(self) -> HiddenStates:
        """Store the last hidden states of all tokens from now on, for a head that drafts from them."""
        return self._reader.store_states()

    def _ids(self, tokens: Sequence[int]) -> Tensor:
        known = [token_id if token_id < self._own else self._stand_in for token_id in tokens]
        return torch.tensor(known, device=self._device)
