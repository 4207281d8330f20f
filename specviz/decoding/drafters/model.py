"""Drafting with a smaller model that has the target's tokens."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from specviz.core.replay import DraftGuesses, is_exact
from specviz.core.steps import Steps, result_of
from specviz.decoding.constraints import constrain
from specviz.decoding.draft_length import unsure_below
from specviz.decoding.drafters.model_tree import ModelNodes
from specviz.decoding.drafters.protocol import Draft, DraftContext, Drafter, Proposer
from specviz.decoding.drafters.tree import TreeProposer
from specviz.decoding.prompt_reading import TimedReading
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.token_texts import texts_of
from specviz.models.vocabularies import shared_vocabulary

CHUNK = 64  # tokens read in one pass along an output: the logits of a long one would take hundreds of megabytes


class ModelDrafter(Drafter):
    """Drafts with a smaller model."""

    grows_trees = True

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded: LoadedModel | None = loaded
        self._model = loaded
        made = loaded.info
        self.info = made.as_drafter("model")

    def begin(self, context: DraftContext) -> Proposer:
        """Open the model; nothing is read yet."""
        model, setup = context.open_model(self._model, context.setup.vocabulary), context.setup
        if shape := setup.settings.tree_shape:
            return TreeProposer(ModelNodes(model, setup.prompt.token_ids), context, shape)
        return ModelProposer(model, context)

    def guess_along(self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]) -> DraftGuesses:
        """The same as `guess_along_steps`, without a pause."""
        return result_of(self.guess_along_steps(target, prompt_ids, output_ids))

    def guess_along_steps(
        self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]
    ) -> Steps[DraftGuesses]:
        """The model's most probable token before each token of the output.

        The model reads many tokens in one pass here and one at a time when it drafts, and the two may round
        differently. So may the target's passes at another draft length. In float32 this almost never changes a token;
        in bfloat16 nearly equal tokens are common, and `exact` is False if either model is in it.
        """
        output = list(output_ids)
        guesses: list[int] = []
        model = CachedModel(self._model, shared_vocabulary(target, self._model))
        reading = TimedReading(_guess(model, [*prompt_ids, *output], len(output), guesses))
        yield from reading
        texts = texts_of(target.tokens, [*output, *guesses])
        exact = is_exact(target.info.dtype, self._model.info.dtype)
        return DraftGuesses(self.info, output, guesses, None, texts, exact, reading.seconds)


class ModelProposer(Proposer):
    """Writes guesses one by one with the draft model and its own cache."""

    def __init__(self, model: CachedModel, context: DraftContext) -> None:
        self._model = model
        self._context = context
        self._sampler = context.sampler
        self._constraint = context.constraint
        self._unsure_below = unsure_below(context.setup.settings)
        self._prompt = context.setup.prompt.token_ids

    def read_prompt(self) -> Iterator[None]:
        """Read all of the prompt except its last token: the first guess starts from that one."""
        yield from self._model.prefill_steps(self._prompt[:-1])

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """Guess `count` tokens, or fewer. A step reads one token; after a full accept the first step reads two."""
        guesses: list[int] = []
        rows: list[Tensor] = []
        unread = token_ids[self._model.length :]
        for _ in range(count):
            logits = self._model.read(unread)[-1:]
            if self._constraint:
                logits = constrain(logits, self._constraint, [[*token_ids, *guesses]])
            scores = self._sampler.scores(logits)
            guesses.append(self._context.choose(scores[0]))
            rows.append(scores[0])
            unread = guesses[-1:]
            if self._is_unsure(scores, guesses[-1]):
                # Stop after this guess, not before it. If unsure guesses were dropped, the ones that are judged would
                # no longer be draws from q, and the output would no longer be distributed as p.
                break
        return self._context.draft(guesses, rows)

    def commit(self, length: int) -> None:
        """Remove the guesses that did not survive from the cache."""
        self._model.crop(length)

    def _is_unsure(self, scores: Tensor, token_id: int) -> bool:
        """Whether q of this guess, after masking and warping, is below the limit."""
        if not self._unsure_below:
            return False
        return float(self._sampler.probabilities(scores)[0, token_id]) < self._unsure_below


def _guess(model: CachedModel, token_ids: list[int], count: int, guesses: list[int]) -> Iterator[None]:
    """Append to `guesses` the model's most probable next token before each of the last `count` tokens."""
    first = len(token_ids) - count - 1  # the guess at the output's first token follows the prompt's last token
    yield from model.prefill_steps(token_ids[:first])
    for start in range(first, len(token_ids) - 1, CHUNK):
        guesses += model.read(token_ids[start : min(start + CHUNK, len(token_ids) - 1)]).argmax(-1).tolist()
        yield
