"""Output that follows a JSON schema or a regular expression: llguidance keeps the grammar, this the place in it."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import torch
from llguidance import LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.grammars import Grammar, compile_grammar, in_short
from specviz.decoding.run_setup import prompt_ids
from specviz.decoding.translated import common_length
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import same_tokens, shared_vocabulary

KEPT = 2 * MAX_DRAFT_LENGTH  # masks kept: the target asks for those the draft has asked for, a round later at most

# A tokenizer takes llguidance up to a second to read. Weak: it goes with the model it belongs to.
_TOKENS: WeakKeyDictionary[PreTrainedTokenizerBase, dict[tuple[int, ...], LLTokenizer]] = WeakKeyDictionary()


def make_constraint(
    target: LoadedModel, draft: LoadedModel | None, grammar: Grammar, prompt: str | Sequence[int]
) -> "GrammarConstraint":
    """The constraint for one prompt and pair; runs one after another may share it, of both decoders.

    Args:
        target: the model whose output is constrained.
        draft: the draft model, to know how many tokens both have; None is prompt lookup, or the target alone.
        grammar: what the output, after `grammar.opened` at the prompt's end, must be.
        prompt: as given to the decoder.

    Raises:
        InputError: the grammar cannot be used (see `compile_grammar`) or does not fit the prompt's end; the target has
            no end of text to close an output with, or a tokenizer that llguidance cannot read; a bad prompt.
    """
    source = compile_grammar(grammar)
    vocabulary = shared_vocabulary(target, draft if draft and same_tokens(target.tokenizer, draft.tokenizer) else None)
    token_ids = prompt_ids(target, prompt, vocabulary)
    text = prompt if isinstance(prompt, str) else str(target.tokenizer.decode(token_ids))
    if not text.endswith(grammar.opened):
        raise InputError(f"The {grammar.name} goes on from {grammar.opened!r}, and the prompt does not end with that.")
    ends = sorted(end for end in target.end_ids if end < vocabulary)
    if not ends:
        raise InputError(f"{target.name} has no end-of-text token, so no {grammar.name} can say where its output ends.")
    return GrammarConstraint(source, _tokens_of(target, ends), ends, vocabulary, len(token_ids), grammar.opened)


class GrammarConstraint:
    """Which tokens keep the output on its way to what the grammar describes; a `LogitsConstraint`.

    An end of text is allowed where the output is complete; after one, only another. Reads each token once: a text that
    only went on costs one token, and guesses taken back are rolled back.

    Args:
        source: as `compile_grammar` returns it.
        tokens: the target's, as llguidance knows them.
        ends: ids that end the text, each below `vocabulary`.
        vocabulary: entries of a mask.
        prompt_length: tokens before the output.
        opened: text before the output that belongs to what the grammar describes.

    Raises:
        InputError: `opened` is not how it begins; later, of `allowed`, that the grammar grew too complex to follow.
    """

    def __init__(
        self,
        source: str,
        tokens: LLTokenizer,
        ends: Sequence[int],
        vocabulary: int,
        prompt_length: int,
        opened: str = "",
    ) -> None:
        self._matcher = LLMatcher(tokens, source, log_level=0)
        self._prompt_length = prompt_length
        self._ends = frozenset(ends)
        self._only_ends = torch.zeros(vocabulary, dtype=torch.bool)
        self._only_ends[list(ends)] = True
        self._anything = torch.ones(vocabulary, dtype=torch.bool)
        self._read: list[int] = []  # of the output: what the matcher has consumed
        self._masks: dict[int, Tensor] = {}  # by how much of `_read` goes before; the latest few
        self._check()
        if not self._matcher.consume_tokens(tokens.tokenize_str(opened)):
            raise InputError(f"What the grammar describes cannot begin with {opened!r}.")

    def allowed(self, text: Sequence[int]) -> Tensor:
        """Boolean mask (vocabulary,) after `text` (prompt and output)."""
        output = list(text[self._prompt_length :])
        if not self._ends.isdisjoint(output):  # it is never shown to the matcher, which does not count it to roll back
            return self._only_ends
        if output != self._read[: len(output)]:
            self._follow(output)
        if len(output) > len(self._read):  # a guess of prompt lookup that is not allowed: it will be rejected,
            return self._anything  # and with it what follows, though that is asked for before the target has judged
        if len(output) not in self._masks:
            self._forget(len(output))
            self._masks[len(output)] = self._mask()
            self._masks.pop(len(output) - KEPT, None)
        return self._masks[len(output)]

    def _follow(self, output: list[int]) -> None:
        """Read the output, or as much of it as the grammar takes."""
        same = common_length(self._read, output)
        self._forget(same)
        self._read += output[same : same + self._matcher.try_consume_tokens(output[same:])]

    def _forget(self, length: int) -> None:
        """Go back to where `length` tokens of the output were read."""
        self._matcher.rollback(len(self._read) - length)
        del self._read[length:]
        self._masks = {place: mask for place, mask in self._masks.items() if place <= length}

    def _mask(self) -> Tensor:
        bias = bytearray(self._matcher.compute_logit_bias())  # a byte for each token, 0 where it may not come
        self._check()
        mask = torch.frombuffer(bias, dtype=torch.uint8)[: len(self._only_ends)] != 0
        return mask if mask.any() else self._only_ends  # what could go on is not among the tokens the pair shares

    def _check(self) -> None:
        if self._matcher.is_error():
            error = in_short(self._matcher.get_error())
            what = "the model has no token that goes on as it asks" if error == "NoExtensionBias" else error
            raise InputError(f"The grammar cannot be followed: {what}.")


def _tokens_of(target: LoadedModel, ends: Sequence[int]) -> LLTokenizer:
    known = _TOKENS.setdefault(target.tokenizer, {})
    key = tuple(ends)
    if key not in known:
        try:
            known[key] = from_tokenizer(target.tokenizer, eos_token=list(ends))  # type: ignore[arg-type]
        except (ValueError, TypeError, RuntimeError) as error:
            raise InputError(
                f"{target.name}'s tokenizer does not say which bytes its tokens stand for, so its output cannot be "
                f"constrained: {in_short(str(error))}."
            ) from error
    return known[key]
