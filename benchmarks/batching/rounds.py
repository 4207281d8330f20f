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


def propose(draft: BatchModel, rows: Sequence[Row], counts: Sequence[int]) -> list[list[int]]:
    """Guess how text i continues, `counts[i]` tokens: one of every text in each pass of the draft.

    A text that wants no more waits while the others get theirs.
    """
    guesses: list[list[int]] = [[] for _ in rows]
    read = draft.lengths
    for step in range(max(counts)):
        wanting = [place for place, count in enumerate(counts) if step < count]
        unread: list[list[int]] = [[] for _ in rows]
        for place in wanting:
            unread[place] = guesses[place][-1:] or rows[place].token_ids[read[place] :]
        chosen = draft.read_last(unread).argmax(-1).tolist()
        for place in wanting:
            guesses[place].append(chosen[place])
    return guesses


def batch_rounds(
    target: BatchModel, draft: BatchModel | None, rows: Sequence[Row], draft_length: int
) -> Iterator[BatchRound]:
    """Append to each row's `token_ids` round by round, and yield each round.

    At the start and at every yield, both models have read all tokens of every text except its last one.
    """
    writing, models = list(rows), [target, draft] if draft else [target]
    while writing:
        began = perf_counter()

        # 1. The draft proposes tokens for every text, with room for the target's own token.
        counts = [min(draft_length, row.left - 1) for row in writing]
        drafts = propose(draft, writing, counts) if draft else [[] for _ in writing]
        drafted = perf_counter()

        # 2. The target reads the last token and the draft of every text in one pass.
        unread = [[row.token_ids[-1], *guesses] for row, guesses in zip(writing, drafts, strict=True)]
        logits = target.read(unread)
        verified = perf_counter()

        # 3. Each text accepts what it accepts. Rows of logits beyond a text's own tokens mean nothing.
        judged = [
            row.judge(guesses, logits[place, : len(unread[place])])
            for place, (row, guesses) in enumerate(zip(writing, drafts, strict=True))
        ]

        # 4. Both caches drop what was not accepted, and every text that has ended: the last one takes its place.
        for model in models:
            model.crop([len(row.token_ids) - 1 for row in writing])
        for place in reversed(range(len(writing))):
            if not writing[place].left:
                writing[place] = writing[-1]
                writing.pop()
                for model in models:
                    model.remove(place)
        yield BatchRound(drafted - began, verified - drafted, perf_counter() - verified, judged)


def decode_batch(
    target: LoadedModel, draft: LoadedModel | None, prompts: Sequence[str], new_tokens: int, draft_length: int
) -> Iterator[BatchRound]:
    """Read the prompts, which is part of no round, then decode; yields each round as it ends.

    InputError: a prompt does not fit, the tokenizers differ, or a model is read by transformers' forward pass.
    """
    settings = DecodeSettings(new_tokens, draft_length=draft_length)
    setups = [set_up_run(target, draft, prompt, settings) for prompt in prompts]
    texts = [list(setup.prompt.token_ids) for setup in setups]
    rows = [Row(text, len(text) + new_tokens) for text in texts]
    models = [BatchModel(loaded, setups[0].vocabulary, len(rows)) for loaded in (target, draft) if loaded]
    for model in models:
        model.prefill([text[:-1] for text in texts])
    yield from batch_rounds(models[0], models[1] if draft else None, rows, draft_length)
