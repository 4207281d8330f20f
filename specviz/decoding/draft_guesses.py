"""One pass of a drafter over a finished greedy output: what it would have guessed at every place of it."""

from collections.abc import Iterable, Sequence
from itertools import chain
from time import perf_counter

from specviz.core.replay import DraftGuesses
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.decoding.drafters import Drafter, ModelDrafter, PromptLookupDrafter
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import shared_vocabulary
from specviz.models.token_texts import TokenTexts

CHUNK = 64  # tokens read in one pass: the logits of all of a long output would be hundreds of megabytes


def guess_along(
    target: LoadedModel, drafter: Drafter, prompt_ids: Sequence[int], output_ids: Sequence[int]
) -> DraftGuesses | None:
    """What the drafter would guess at each place of the output, the true text before it given; greedy.

    A model reads many tokens in one pass here and one at a time when it drafts, and the two may round differently. In
    float32 near-ties close enough for that to decide are hardly ever met, and `exact` is True; in bfloat16 they are
    common, and it is False.

    Args:
        target: whose output it is; the guesses are limited to the tokens both models have.
        drafter: a model with the target's tokens, or prompt lookup.
        prompt_ids: the prompt, at least one token.
        output_ids: the target's greedy output.

    Returns:
        None for a draft with another tokenizer: its guess at a place depends on where the round began.
    """
    began = perf_counter()
    text, output = list(prompt_ids), list(output_ids)
    if isinstance(drafter, PromptLookupDrafter):
        proposals = [drafter.propose(text + output[:place], MAX_DRAFT_LENGTH).token_ids for place in range(len(output))]
        token_texts = _pieces(target, [*output, *chain.from_iterable(proposals)])
        return DraftGuesses(drafter.info, output, None, proposals, token_texts, True, perf_counter() - began)
    if isinstance(drafter, ModelDrafter) and drafter.loaded:
        guesses = _guesses(drafter.loaded, shared_vocabulary(target, drafter.loaded), [*text, *output], len(output))
        exact = drafter.loaded.info.dtype == "float32"
        token_texts = _pieces(target, [*output, *guesses])
        return DraftGuesses(drafter.info, output, guesses, None, token_texts, exact, perf_counter() - began)
    return None


def _guesses(draft: LoadedModel, vocabulary: int, text: list[int], count: int) -> list[int]:
    """The draft's likeliest next token before each of the text's last `count` tokens."""
    model = CachedModel(draft, vocabulary)
    first = len(text) - count - 1  # the guess at the output's first token follows the prompt's last
    model.prefill(text[:first])
    guesses: list[int] = []
    for start in range(first, len(text) - 1, CHUNK):
        guesses += model.read(text[start : min(start + CHUNK, len(text) - 1)]).argmax(-1).tolist()
    return guesses


def _pieces(target: LoadedModel, token_ids: Iterable[int]) -> dict[int, str]:
    token_texts = TokenTexts(target.tokenizer)
    return {token_id: token_texts[token_id] for token_id in token_ids}
