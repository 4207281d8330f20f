"""Where guesses come from: a smaller model, or the text itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from specviz.core.trace import DrafterInfo
from specviz.decoding.constraints import LogitsConstraint, constrain
from specviz.decoding.sampler import Sampler
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel


@dataclass(frozen=True, slots=True)
class Draft:
    """The guesses of one round."""

    token_ids: list[int]
    draft_scores: Tensor | None  # (n, vocabulary) scores each was chosen from; None: q is a point mass on the guess
    own_tokens: list[str] | None = None  # what a draft with another tokenizer wrote, in its tokens; q is then unknown


class Proposer(Protocol):
    """A drafter at work on one text."""

    def propose(self, text: Sequence[int], count: int) -> Draft:
        """At most `count` guesses at how `text` (prompt and output so far) goes on."""

    def commit(self, length: int) -> None:
        """Be told that the text's first `length` tokens, and none of the guesses after them, are final and read."""


class Drafter(Protocol):
    """A source of guesses; may serve many runs, each through a proposer of its own."""

    @property
    def info(self) -> DrafterInfo:
        """What a trace says of it."""

    @property
    def loaded(self) -> LoadedModel | None:
        """Its model, if it has one: checked against the target before a run."""

    def begin(
        self, prompt: Sequence[int], vocabulary: int, sampler: Sampler, constraint: LogitsConstraint | None
    ) -> Proposer:
        """Read the prompt and be ready to propose."""


class ModelDrafter:
    """Drafts with a smaller model."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded: LoadedModel | None = loaded
        self._model = loaded
        made = loaded.info
        self.info = DrafterInfo("model", made.name, made.parameters, made.dtype, made.weights_hash)

    def begin(
        self, prompt: Sequence[int], vocabulary: int, sampler: Sampler, constraint: LogitsConstraint | None
    ) -> "ModelProposer":
        """Read all of the prompt but its last token, which the first guess starts from."""
        model = CachedModel(self._model, vocabulary)
        model.prefill(prompt[:-1])
        return ModelProposer(model, sampler, constraint)


class ModelProposer:
    """Writes guesses one by one with the draft model and its own cache."""

    def __init__(self, model: CachedModel, sampler: Sampler, constraint: LogitsConstraint | None) -> None:
        self.unsure_below = 0.0  # a guess that the draft gives less than this is the round's last one; 0: none is
        self._model = model
        self._sampler = sampler
        self._constraint = constraint

    def propose(self, text: Sequence[int], count: int) -> Draft:
        """Guess `count` tokens, or fewer. Each step feeds one token, the first one two after a full accept."""
        token_ids: list[int] = []
        rows: list[Tensor] = []
        unread = text[self._model.length :]
        for _ in range(count):
            logits = self._model.read(unread)[-1:]
            if self._constraint:
                logits = constrain(logits, self._constraint, [*text, *token_ids], [])
            scores = self._sampler.scores(logits)
            token_ids.append(self._sampler.choose(scores[0]))
            rows.append(scores)
            unread = token_ids[-1:]
            if self._unsure(scores, token_ids[-1]):
                # With this guess, not before it. Whether it is judged may not depend on which token it is: were unsure
                # guesses dropped, those left at a place would not be draws from q, and the output not from p. What it
                # decides is only whether another one follows, and the rule holds of however many there are.
                break
        return Draft(token_ids, torch.cat(rows) if rows else None)

    def _unsure(self, scores: Tensor, token_id: int) -> bool:
        """Whether the draft gives its guess too little: the q of a trace, of what is left after masking and warping."""
        return self.unsure_below > 0 and float(self._sampler.probabilities(scores)[0, token_id]) < self.unsure_below

    def commit(self, length: int) -> None:
        """Forget the guesses that did not survive."""
        self._model.crop(length)


class PromptLookupDrafter:
    """Drafts without a model: finds the last few tokens earlier in the text and copies what followed them there."""

    loaded = None

    def __init__(self, longest: int = 3) -> None:
        self._longest = longest  # n of the n-gram looked for first
        self.info = DrafterInfo("prompt-lookup", f"prompt lookup, n-grams up to {longest}")

    def begin(
        self, prompt: Sequence[int], vocabulary: int, sampler: Sampler, constraint: LogitsConstraint | None
    ) -> "PromptLookupDrafter":
        """Nothing to read: the text is looked at when asked."""
        return self

    def propose(self, text: Sequence[int], count: int) -> Draft:
        """What followed the most recent earlier occurrence of the text's end, longest n-gram first; maybe nothing."""
        for n in range(min(self._longest, len(text) - 1), 0, -1):
            ending = text[-n:]
            for start in range(len(text) - n - 1, -1, -1):
                if text[start : start + n] == ending:
                    return Draft(list(text[start + n : start + n + count]), None)
        return Draft([], None)

    def commit(self, length: int) -> None:
        """Nothing is kept between rounds."""
