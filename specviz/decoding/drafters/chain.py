"""Drafting a chain, guess after guess, by a drafter that can also grow trees: a chain is a tree without branches."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from specviz.decoding.constraints import constrain
from specviz.decoding.draft_length import unsure_below
from specviz.decoding.drafters.protocol import Draft, DraftContext, Proposer
from specviz.decoding.drafters.tree import TEXT, NodeReader, Tree


class ChainProposer(Proposer):
    """Guesses one token after the other."""

    def __init__(self, reader: NodeReader, context: DraftContext) -> None:
        self._reader = reader
        self._context = context
        self._sampler = context.sampler
        self._constraint = context.constraint
        self._unsure_below = unsure_below(context.setup.settings)

    def read_prompt(self) -> Iterator[None]:
        """Read what the drafter needs of the prompt."""
        yield from self._reader.read_prompt()

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """Guess `count` tokens, or fewer."""
        tree = Tree()
        for place in range(min(count, self._reader.longest or count)):
            logits = self._reader.after_nodes(tree, [place - 1]) if place else self._reader.after_text(token_ids)
            if self._constraint:
                logits = constrain(logits, self._constraint, [[*token_ids, *tree.token_ids]])
            scores = self._sampler.scores(logits)
            guess = self._context.choose(scores[0])
            tree.add(place - 1 if place else TEXT, guess, scores[0])
            if self._is_unsure(scores, guess):
                # Stop after this guess, not before it. If unsure guesses were dropped, the ones that are judged would
                # no longer be draws from q, and the output would no longer be distributed as p.
                break
        return self._context.draft(tree.token_ids, tree.rows)

    def _is_unsure(self, scores: Tensor, token_id: int) -> bool:
        """Whether q of this guess, after masking and warping, is below the limit."""
        if not self._unsure_below:
            return False
        return float(self._sampler.probabilities(scores)[0, token_id]) < self._unsure_below
