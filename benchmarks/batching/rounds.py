"""Decoding several texts at once, as a server does: one pass of the target reads the next tokens of all of them.

The texts share passes and nothing else. Each has its own acceptance and its own length, and writes what it writes
alone, id for id, but for rounding at near-ties. Two things are lost in a batch: every text waits for the pass with the
longest draft, and the batch ends with its slowest text. A text that has ended leaves the batch, and no other takes its
place.

`batch_rounds` is the algorithm, greedy and to the full length; without a draft model it is plain decoding, one token of
every text a pass.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from torch import Tensor

from benchmarks.batching.model import BatchModel
from specviz.core.metrics import Counts
from specviz.core.settings import DecodeSettings
from specviz.decoding.run_setup import set_up_run
from specviz.models.loaded_model import LoadedModel


@dataclass(frozen=True, slots=True)
class RowRound:
    """What one text got out of a round."""

    drafted: int
    accepted: int
    emitted: list[int]  # token ids

    @property
    def counts(self) -> Counts:
        """The same as counts of one round."""
        left = self.drafted - self.accepted
        rejected = min(left, 1)
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


@dataclass(slots=True)
class Row:
    """One text of a batch."""

    token_ids: list[int]
    final_length: int

    @property
    def left(self) -> int:
        """Tokens that it will still write."""
        return self.final_length - len(self.token_ids)

    def judge(self, draft: Sequence[int], logits: Tensor) -> RowRound:
        """Append what is accepted of the draft, and the target's own next token; there is a row of logits for each."""
        own = logits.argmax(-1).tolist()
        accepted = next((place for place, guess in enumerate(draft) if guess != own[place]), len(draft))
        self.token_ids += own[: accepted + 1]
        return RowRound(len(draft), accepted, own[: accepted + 1])


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

    def propose(self, rows: Sequence[Row], counts: Sequence[int]) -> list[list[int]]:
        """Guess how text i continues, `counts[i]` tokens. One that wants no more waits while the others get theirs."""
        guesses: list[list[int]] = [[] for _ in rows]
        if not self._model:
            return guesses
        read = self._model.lengths
        for step in range(max(counts)):
            wanting = [place for place, count in enumerate(counts) if step < count]
            unread: list[list[int]] = [[] for _ in rows]
            for place in wanting:
                unread[place] = guesses[place][-1:] or rows[place].token_ids[read[place] :]
            chosen = self._model.read_last(unread).argmax(-1).tolist()
            for place in wanting:
                guesses[place].append(chosen[place])
        return guesses

    def commit(self, rows: Sequence[Row]) -> None:
        """Remove the guesses that did not survive: the texts are as they are now, their last tokens not yet read."""
        if self._model:
            self._model.crop([len(row.token_ids) - 1 for row in rows])

    def remove(self, place: int) -> None:
        """This text has ended. The last one takes its place."""
        if self._model:
            self._model.remove(place)


def batch_rounds(
    target: BatchModel, proposer: BatchProposer, rows: Sequence[Row], draft_length: int
) -> Iterator[BatchRound]:
    """Append to each row's `token_ids` round by round, and yield each round.

    At the start and at every yield, both models have read all tokens of every text except its last one.
    """
    writing = list(rows)
    while writing:
        began = perf_counter()

        # 1. The draft proposes tokens for every text, with room for the target's own token.
        drafts = proposer.propose(writing, [min(draft_length, row.left - 1) for row in writing])
        drafted = perf_counter()

        # 2. The target reads the last token and the draft of every text in one pass.
        unread = [[row.token_ids[-1], *draft] for row, draft in zip(writing, drafts, strict=True)]
        logits = target.read(unread)
        verified = perf_counter()

        # 3. Each text accepts what it accepts. Rows of logits beyond a text's own tokens mean nothing.
        judged = [
            row.judge(draft, logits[place, : len(unread[place])])
            for place, (row, draft) in enumerate(zip(writing, drafts, strict=True))
        ]

        # 4. Both caches drop what was not accepted, and every text that has ended.
        target.crop([len(row.token_ids) - 1 for row in writing])
        proposer.commit(writing)
        for place in reversed(range(len(writing))):
            if not writing[place].left:
                writing[place] = writing[-1]
                writing.pop()
                target.remove(place)
                proposer.remove(place)
        yield BatchRound(drafted - began, verified - drafted, perf_counter() - verified, judged)


def decode_batch(
    target: LoadedModel, draft: LoadedModel | None, prompts: Sequence[str], new_tokens: int, draft_length: int
) -> Iterator[BatchRound]:
    """Read the prompts, which is part of no round, then decode; yields each round as it ends.

    InputError: a prompt does not fit, the tokenizers differ, or a model is read by transformers' forward pass.
    """
    settings = DecodeSettings(new_tokens, draft_length=draft_length)
    setups = [set_up_run(target, draft, prompt, settings) for prompt in prompts]
    texts = [setup.prompt.token_ids for setup in setups]
    rows = [Row(list(text), len(text) + new_tokens) for text in texts]
    vocabulary = setups[0].vocabulary
    model = BatchModel(target, vocabulary, len(rows))
    model.prefill([text[:-1] for text in texts])
    proposer = BatchProposer(BatchModel(draft, vocabulary, len(rows)) if draft else None)
    proposer.read_prompts(rows)
    yield from batch_rounds(model, proposer, rows, draft_length)
