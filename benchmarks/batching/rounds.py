"""Decoding several texts at once, as a server does: one pass of the target reads the next tokens of all of them.

The texts share passes and nothing else. Each has its own draws, its own acceptance and its own length, and writes what
it writes alone (greedy: id for id, but for rounding at near-ties). Two things are lost in a batch: every text waits for
the pass with the longest draft, and the batch ends with its slowest text. A text that has ended leaves the batch, and
no other takes its place.

`batch_rounds` is the algorithm; without a draft model it is plain decoding, one token of every text a pass.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter, thread_time

import torch
from torch import Tensor

from benchmarks.batching.model import BatchModel
from specviz.core.errors import InputError
from specviz.core.metrics import Counts
from specviz.core.settings import MAX_SEED, DecodeSettings
from specviz.data.measured.batches import Clock
from specviz.decoding.drafters.protocol import Draft, DraftContext
from specviz.decoding.run_setup import cut_at_end, set_up_run
from specviz.decoding.sampler import make_sampler
from specviz.decoding.verification import AcceptanceRule, make_rule
from specviz.models.loaded_model import LoadedModel

CLOCKS: dict[Clock, Callable[[], float]] = {"wall": perf_counter, "processor": thread_time}
ONLY_CHAINS = "A batch drafts chains of one length: leave out tree, and leave draft_schedule at fixed."


@dataclass(frozen=True, slots=True)
class RowRound:
    """What one text got out of a round."""

    number: int  # of the text among the prompts, from 0
    drafted: int
    accepted: int
    emitted: list[int]  # token ids

    @property
    def counts(self) -> Counts:
        """The same as counts of one round."""
        left = self.drafted - self.accepted
        rejected = min(left, len(self.emitted) - self.accepted)  # 0 where an accepted end of text was the last token
        return Counts(1, self.drafted, self.accepted, rejected, left - rejected, len(self.emitted))


@dataclass(frozen=True, slots=True)
class BatchRound:
    """A draft for every text of the batch, one pass of the target over all of them, and what each text got."""

    draft_seconds: float
    verify_seconds: float
    overhead_seconds: float
    rows: list[RowRound]  # of the texts that were in the batch

    @property
    def seconds(self) -> float:
        """The whole round."""
        return self.draft_seconds + self.verify_seconds + self.overhead_seconds


class Row:
    """One text of a batch."""

    def __init__(self, number: int, context: DraftContext, rule: AcceptanceRule) -> None:
        self.number = number
        self.context = context
        self.token_ids = list(context.setup.prompt.token_ids)
        self._rule = rule
        self._final_length = len(self.token_ids) + context.setup.settings.max_new_tokens

    @property
    def left(self) -> int:
        """Tokens that it may still write."""
        return self._final_length - len(self.token_ids)

    def judge(self, draft: Draft, target_logits: Tensor) -> RowRound:
        """Append what the rule accepts of the draft and the target's own token; `target_logits` as in `verify`."""
        verification = self._rule.verify(draft, self.context.sampler.scores(target_logits))
        emitted = cut_at_end([*verification.survivors(draft), verification.token_id], self.context.setup.ends)
        self.token_ids.extend(emitted)
        return RowRound(self.number, len(draft.token_ids), min(verification.accepted, len(emitted)), emitted)

    @property
    def ended(self) -> bool:
        """Whether it is complete; asked after a round."""
        return self.left == 0 or self.token_ids[-1] in self.context.setup.ends


class BatchProposer:
    """Guesses for all texts of a batch: a draft model makes one of every text in each of its passes.

    Without a model it is plain decoding: there is nothing to check, and each pass gives the target's own token.
    """

    def __init__(self, model: BatchModel | None) -> None:
        self._model = model

    def read_prompts(self, rows: Sequence[Row]) -> None:
        """Read all of each prompt except its last token."""
        if self._model:
            self._model.prefill([row.token_ids[:-1] for row in rows])

    def propose(self, rows: Sequence[Row], counts: Sequence[int]) -> list[Draft]:
        """Guess how text i continues, `counts[i]` tokens. One that wants no more waits while the others get theirs."""
        if not self._model:
            return [Draft([], None)] * len(rows)
        guesses: list[list[int]] = [[] for _ in rows]
        chosen_from: list[list[Tensor]] = [[] for _ in rows]
        read = self._model.lengths
        for step in range(max(counts)):
            wanting = [place for place, count in enumerate(counts) if step < count]
            unread: list[list[int]] = [[] for _ in rows]
            for place in wanting:
                unread[place] = guesses[place][-1:] or rows[place].token_ids[read[place] :]
            scores = rows[0].context.sampler.scores(self._model.read_last(unread))  # all have the same settings
            for place in wanting:
                guesses[place].append(rows[place].context.choose(scores[place]))
                chosen_from[place].append(scores[place])
        drafts = zip(rows, guesses, chosen_from, strict=True)
        return [row.context.draft(token_ids, scores) for row, token_ids, scores in drafts]

    def commit(self, rows: Sequence[Row]) -> None:
        """Remove the guesses that did not survive: the texts are as they are now, their last tokens not yet read."""
        if self._model:
            self._model.crop([len(row.token_ids) - 1 for row in rows])

    def remove(self, place: int) -> None:
        """This text has ended. The last one takes its place."""
        if self._model:
            self._model.remove(place)


def batch_rounds(
    target: BatchModel,
    proposer: BatchProposer,
    rows: Sequence[Row],
    draft_length: int,
    now: Callable[[], float] = perf_counter,
) -> Iterator[BatchRound]:
    """Append to each row's `token_ids` round by round, and yield each round.

    At the start and at every yield, both models have read all tokens of every text except its last one.
    """
    writing = list(rows)
    while writing:
        began = now()

        # 1. The draft proposes tokens for every text, with room for the target's own token.
        drafts = proposer.propose(writing, [min(draft_length, row.left - 1) for row in writing])
        drafted = now()

        # 2. The target reads the last token and the draft of every text in one pass.
        unread = [[row.token_ids[-1], *draft.token_ids] for row, draft in zip(writing, drafts, strict=True)]
        logits = target.read(unread)
        verified = now()

        # 3. Each text accepts what it accepts. Rows of logits beyond a text's own tokens mean nothing.
        judged = [
            row.judge(draft, logits[place, : len(unread[place])])
            for place, (row, draft) in enumerate(zip(writing, drafts, strict=True))
        ]

        # 4. Both caches drop what was not accepted, and every text that has ended.
        target.crop([len(row.token_ids) - 1 for row in writing])
        proposer.commit(writing)
        for place in reversed(range(len(writing))):
            if writing[place].ended:
                writing[place] = writing[-1]
                writing.pop()
                target.remove(place)
                proposer.remove(place)
        yield BatchRound(drafted - began, verified - drafted, now() - verified, judged)


class BatchRun:
    """The decoding of several prompts at once.

    Text i is written with the seed `settings.seed` + i, so that it is what a run of its own with that seed writes.

    Raises:
        InputError: there is no prompt; one is empty or does not fit a context window; the tokenizers differ; a model is
            read by transformers' forward pass; or the settings ask for a tree or for drafts of changing length.
    """

    def __init__(
        self,
        target: LoadedModel,
        draft: LoadedModel | None,
        prompts: Sequence[str | Sequence[int]],
        settings: DecodeSettings,
        clock: Clock = "wall",
    ) -> None:
        """`draft` is None for the target alone; `clock` times the rounds."""
        if not prompts:
            raise InputError("There is no prompt to decode.")
        if settings.tree or settings.draft_schedule != "fixed":
            raise InputError(ONLY_CHAINS)
        self._settings, self._now = settings, CLOCKS[clock]
        self.rows = [_row(number, target, draft, prompt, settings) for number, prompt in enumerate(prompts)]
        vocabulary = self.rows[0].context.setup.vocabulary
        self._target = BatchModel(target, vocabulary, len(prompts))
        self._proposer = BatchProposer(BatchModel(draft, vocabulary, len(prompts)) if draft else None)

    def rounds(self) -> Iterator[BatchRound]:
        """Read the prompts, which is part of no round, then decode; yields each round as it ends."""
        self._target.prefill([row.token_ids[:-1] for row in self.rows])
        self._proposer.read_prompts(self.rows)
        yield from batch_rounds(self._target, self._proposer, self.rows, self._settings.draft_length, self._now)


def _row(
    number: int, target: LoadedModel, draft: LoadedModel | None, prompt: str | Sequence[int], settings: DecodeSettings
) -> Row:
    own = replace(settings, seed=(settings.seed + number) % (MAX_SEED + 1))
    generator = torch.Generator().manual_seed(own.seed)
    context = DraftContext(set_up_run(target, draft, prompt, own), make_sampler(own, generator))
    return Row(number, context, make_rule(own, generator))
