"""Drafting without a model: a copy of what followed the same words earlier in the text."""

from collections.abc import Iterator, Sequence

from specviz.core.replay import DraftGuesses
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.steps import Steps
from specviz.core.trace import DrafterInfo
from specviz.decoding.drafters.protocol import Draft, DraftContext, Drafter, Proposer, guesses_of
from specviz.models.loaded_model import Dtype, LoadedModel

PAUSE = 256  # tokens that are looked along before others may go on


class PromptLookupDrafter(Drafter, Proposer):
    """Finds the last few tokens earlier in the text and copies what followed them there.

    It has no state, so it is its own proposer.
    """

    def __init__(self, longest: int = 3, shortest: int = 1) -> None:
        self._longest, self._shortest = longest, shortest  # n of the n-grams that are looked for first and last
        self.info = DrafterInfo("prompt-lookup", f"prompt lookup, n-grams up to {longest}")

    def begin(self, context: DraftContext) -> Proposer:
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """What followed the most recent earlier occurrence of the text's end, longest n-gram first; maybe nothing."""
        for n in range(min(self._longest, len(token_ids) - 1), self._shortest - 1, -1):
            ending = token_ids[-n:]
            for start in range(len(token_ids) - n - 1, -1, -1):
                if token_ids[start : start + n] == ending:
                    return Draft(list(token_ids[start + n : start + n + count]), None)
        return Draft([], None)

    def guess_along(
        self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]
    ) -> Steps[DraftGuesses]:
        proposals: list[list[int]] = []
        steps = self._propose_along([*prompt_ids, *output_ids], len(prompt_ids), proposals)
        return (yield from guesses_of(self.info, target, list(output_ids), steps, proposals=proposals))

    def _propose_along(self, text: list[int], first: int, proposals: list[list[int]]) -> Iterator[None]:
        """What `propose` finds at each place from `first` on. A search at every place would be quadratic."""
        follows: dict[tuple[int, ...], int] = {}  # by an n-gram: where the text that followed it last begins
        for end in range(len(text)):
            endings = [tuple(text[end - n : end]) for n in range(min(self._longest, end), self._shortest - 1, -1)]
            if end >= first:
                start = next((follows[each] for each in endings if each in follows), end)
                proposals.append(text[start : min(start + MAX_DRAFT_LENGTH, end)])
            follows |= dict.fromkeys(endings, end)
            if end % PAUSE == 0:
                yield


def load(name: str, target: LoadedModel, dtype: Dtype) -> None:
    """Nothing is needed in memory."""


def fit(target: LoadedModel, loaded: object, settings: DecodeSettings) -> Drafter:
    return PromptLookupDrafter()
