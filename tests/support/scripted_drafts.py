"""A drafter whose drafts are given, for what no model would do on demand."""

from collections.abc import Iterator, Sequence

from specviz.core.trace import DrafterInfo
from specviz.decoding import Draft, DraftContext, Drafter, Proposer


class Scripted(Drafter, Proposer):
    """Proposes these drafts, round by round, then nothing. It notes the greatest number of depths it was asked for."""

    info = DrafterInfo("other", "scripted")
    grows_trees = True

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self._drafts = drafts
        self._left: Iterator[Draft] = iter(())
        self.asked: list[int] = []

    def begin(self, context: DraftContext) -> Proposer:
        """Start with the first draft."""
        self._left, self.asked = iter(self._drafts), []
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """The next draft."""
        self.asked.append(count)
        return next(self._left, Draft([], None, parents=[]))
