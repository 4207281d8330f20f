"""Two ways to draft in one: what followed the same words earlier in the text, and a head where they are new."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from specviz.core.replay import DraftGuesses
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.steps import Steps
from specviz.decoding.drafters.head import HeadDrafter, load
from specviz.decoding.drafters.prompt_lookup import PromptLookupDrafter
from specviz.decoding.drafters.protocol import Draft, DraftContext, Drafter, Proposer
from specviz.decoding.run_setup import RunSetup
from specviz.models.heads import LoadedHead
from specviz.models.loaded_model import LoadedModel

SHORTEST = 2
"""Tokens of a match, at least. After a single one the head is right more often: counted on held-out chats."""

__all__ = ["LookupFirstDrafter", "fit", "load"]


class LookupFirstDrafter(Drafter):
    """Any drafter of chains may be the second: it is asked for a whole round, or not at all."""

    def __init__(self, second: Drafter, kind: str) -> None:
        self._first, self._second = PromptLookupDrafter(shortest=SHORTEST), second
        self.loaded = second.loaded
        self.info = replace(second.info, kind=kind)

    def set_up(self, target: LoadedModel, prompt: str | Sequence[int], settings: DecodeSettings) -> RunSetup:
        """Raises InputError: see `Drafter.set_up`."""
        self.check_tree(settings)
        return self._second.set_up(target, prompt, settings)

    def begin(self, context: DraftContext) -> Proposer:
        return LookupFirst(self._first.begin(context), self._second.begin(context))

    def guess_along(
        self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]
    ) -> Steps[DraftGuesses | None]:
        found = yield from self._first.guess_along(target, prompt_ids, output_ids)
        made = yield from self._second.guess_along(target, prompt_ids, output_ids)
        if made is None or found.proposals is None:
            return None
        proposals: list[list[int]] = []
        for place, own in enumerate(found.proposals):
            behind = made.proposal(place, MAX_DRAFT_LENGTH)
            proposals.append(own or [guess for guess in behind if guess is not None])
        seconds, pieces = made.seconds + found.seconds, made.pieces | found.pieces
        return replace(made, drafter=self.info, guesses=None, proposals=proposals, pieces=pieces, seconds=seconds)


class LookupFirst(Proposer):
    """The second proposer hears of every round, and reads what it has missed when it is asked again."""

    def __init__(self, first: Proposer, second: Proposer) -> None:
        self._first, self._second = first, second

    def read_prompt(self) -> Iterator[None]:
        yield from self._first.read_prompt()
        yield from self._second.read_prompt()

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """The guesses of one of the two, never of both: each has its own q."""
        found = self._first.propose(token_ids, count)
        return found if found.token_ids else self._second.propose(token_ids, count)

    def commit(self, length: int) -> None:
        self._first.commit(length)
        self._second.commit(length)


def fit(target: LoadedModel, loaded: LoadedHead, settings: DecodeSettings) -> Drafter:
    return LookupFirstDrafter(HeadDrafter(loaded), loaded.kind)
