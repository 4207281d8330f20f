"""What a drafter must do. Any class that does it can be used by the loop, the proof, the pages and the command line.

A `Drafter` is a source of guesses and may serve many runs. For each run it makes a `Proposer`, which holds the state of
that run. Inherit from the protocols to get their defaults: a drafter then needs only `info` and `begin`, and a proposer
only `propose`. `examples/own_drafter.py` is a complete one.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.replay import DraftGuesses
from specviz.core.settings import DecodeSettings
from specviz.core.steps import Steps
from specviz.core.texts import Sentences
from specviz.core.trace import DrafterInfo
from specviz.decoding.autoregressive import TimedReading
from specviz.decoding.run_setup import RunSetup, set_up_run
from specviz.decoding.sampler import LogitsConstraint, Sampler
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.tokens import TokenTexts

say = Sentences("decoding")


@dataclass(frozen=True, slots=True)
class Draft:
    token_ids: list[int]
    draft_scores: Tensor | None  # (n, vocabulary) scores each was chosen from; None: q is a point mass on the guess
    own_tokens: list[str] | None = None  # what a draft with another tokenizer wrote, in its tokens; q is then unknown
    parents: list[int] | None = None  # of a tree: the guess that each one follows, or -1: the text; None: a chain

    @property
    def tree(self) -> list[int] | None:
        """The parents as the target's pass takes them, which reads the text's last token before the guesses."""
        return None if self.parents is None else [-1, *(parent + 1 for parent in self.parents)]

    def texts(self, token_ids: Sequence[int]) -> list[list[int]]:
        """The text that each row of the target's pass continues: `token_ids`, then those with each guess's path."""
        texts = [list(token_ids)]
        parents = range(-1, len(self.token_ids) - 1) if self.parents is None else self.parents
        for token_id, parent in zip(self.token_ids, parents, strict=True):
            texts.append([*texts[parent + 1], token_id])
        return texts

    @property
    def token_probs(self) -> list[float]:
        """q of each guess, where the scores are probabilities."""
        if self.draft_scores is None:
            return [1.0] * len(self.token_ids)
        return pick_probabilities(self.draft_scores, self.token_ids)


def pick_probabilities(probabilities: Tensor, token_ids: list[int]) -> list[float]:
    """Entry token_ids[i] of row i, for each i."""
    rows: list[float] = probabilities[torch.arange(len(token_ids)), torch.tensor(token_ids, dtype=torch.long)].tolist()
    return rows


@dataclass(frozen=True, slots=True)
class DraftContext:
    """What a drafter may use in one run."""

    setup: RunSetup  # the target, the prompt's token ids, the settings, and the size of the vocabulary
    sampler: Sampler  # turns logits into scores and chooses a token; the target of the run uses the same one
    constraint: LogitsConstraint | None = None  # which tokens may come next
    open_model: Callable[[LoadedModel, int], CachedModel] = CachedModel  # gives a draft model its KV cache
    target: CachedModel | None = None  # the target of the run, with nothing read yet; heads read its hidden states

    def choose(self, scores: Tensor) -> int:
        """A guess from one row of scores, (vocabulary,): as the settings say, a draw or the most probable token."""
        return int(scores.argmax()) if self._certain else self.sampler.choose(scores)

    def draft(self, token_ids: list[int], rows: Sequence[Tensor]) -> Draft:
        """The guesses, with the rows of scores, (vocabulary,) each, that `choose` took them from.

        A guess that is not drawn by chance is a point mass: the rows are then left out.
        """
        return Draft(token_ids, torch.stack(list(rows)) if rows and not self._certain else None)

    @property
    def _certain(self) -> bool:
        settings = self.setup.settings
        return settings.draft_sampling == "argmax" and not settings.greedy


class Proposer(Protocol):
    """A drafter's work on one text, round by round."""

    def read_prompt(self) -> Iterator[None]:
        """Read the prompt in chunks, and yield after each: a chance to stop. Called once, before the first guess.

        The time counts as the draft's prefill. The default does nothing: a proposer without a model needs no prompt.
        """
        yield from ()

    @abstractmethod
    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """Guess how a text continues.

        Args:
            token_ids: the prompt and the output so far.
            count: the most guesses that are wanted. Fewer are allowed, also none.

        Returns:
            The guesses and, in `draft_scores`, the rows of `sampler.scores` that they were chosen from by
            `sampler.choose`. Without them the rule takes each guess as certain (q = 1), which is right for guesses
            that were not drawn at random. `DraftContext.choose` and `draft` do what `draft_sampling` says.
        """

    def commit(self, length: int) -> None:
        """Take note of the round's result: the first `length` tokens of the text are final, later guesses are not.

        The text has one token more, the target's own: the next guesses start from it. The default does nothing, which
        is right for a proposer without a cache.
        """
        return


class Drafter(Protocol):
    """A source of guesses.

    A drafter that uses the target's weights finds them in `DraftContext.setup`; one that uses its hidden states asks
    `DraftContext.target` to store them.
    """

    info: DrafterInfo  # what a trace says about it
    loaded: LoadedModel | None = None  # its model, if it has one of its own: it is calibrated, and checked in `set_up`
    grows_trees: bool = False  # whether its proposers draft a tree where the settings ask for one

    def set_up(self, target: LoadedModel, prompt: str | Sequence[int], settings: DecodeSettings) -> RunSetup:
        """Tokenize the prompt and check that the run is possible, before any model reads it.

        Raises:
            InputError: the prompt is empty or does not fit a context window, the tokenizers differ, or the settings ask
                for a tree and the drafter grows none.
        """
        self.check_tree(settings)
        return set_up_run(target, self.loaded, prompt, settings)

    def check_tree(self, settings: DecodeSettings) -> None:
        """Refuse to draft a tree if the drafter cannot."""
        if settings.tree and not self.grows_trees:
            raise InputError(say("no_tree", draft=self.info.name))

    @abstractmethod
    def begin(self, context: DraftContext) -> Proposer:
        """Start a run. What takes long belongs in `Proposer.read_prompt`; both count as the draft's prefill."""

    def guess_along(
        self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]
    ) -> Steps[DraftGuesses | None]:
        """What the drafter would guess before each token of the target's greedy output, in steps that can be paused.

        None, the default, if that is not known without decoding again. The prompt has at least one token.
        """
        yield from ()
        return None


def guesses_of(
    drafter: DrafterInfo,
    target: LoadedModel,
    output: list[int],
    steps: Iterator[None],
    guesses: list[int] | None = None,
    proposals: list[list[int]] | None = None,
) -> Steps[DraftGuesses]:
    """What is guessed along an output, with the text of each token; `steps` fill `guesses` or `proposals`."""
    reading = TimedReading(steps)
    yield from reading
    text_of = TokenTexts(target.tokens)
    texts = {each: text_of[each] for each in (*output, *(guesses or []), *chain.from_iterable(proposals or []))}
    exact = target.info.dtype == "float32" and drafter.dtype in ("float32", None)
    return DraftGuesses(drafter, output, guesses, proposals, texts, exact, reading.seconds)
