"""Output that follows a JSON schema or a regular expression: llguidance does the parsing."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import torch
from llguidance import LLMatcher, LLTokenizer
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.texts import Sentences
from specviz.data.prompts.grammars import Grammar, compile_grammar, shorten_message
from specviz.decoding.drafters.translated import common_length
from specviz.decoding.run_setup import prompt_ids
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import shared_vocabulary
from specviz.models.tokens import Tokens

say = Sentences("decoding")

MASKS = 2 * MAX_DRAFT_LENGTH  # stored ones: the target needs the masks that the draft has used in the same round

# llguidance needs up to a second to read a tokenizer. Weak: the entry is removed together with its model.
_TOKENS: WeakKeyDictionary[Tokens, dict[tuple[int, ...], LLTokenizer]] = WeakKeyDictionary()


def make_constraint(target: LoadedModel, grammar: Grammar, prompt: str | Sequence[int]) -> "GrammarConstraint":
    """The constraint for one prompt. Runs of both decoders may share it, one after another, with any draft.

    The output and `grammar.opened`, the end of the prompt, are together what the grammar describes.
    """
    source = compile_grammar(grammar)
    vocabulary = shared_vocabulary(target)
    token_ids = prompt_ids(target, prompt, vocabulary)
    text = prompt if isinstance(prompt, str) else str(target.tokens.decode(token_ids))
    if not text.endswith(grammar.opened):
        raise InputError(say("prompt_opens", grammar=grammar.name, opened=repr(grammar.opened)))
    ends = sorted(end for end in target.end_ids if end < vocabulary)
    if not ends:
        raise InputError(say("no_end", target=target.name, grammar=grammar.name))
    return GrammarConstraint(source, _tokens_of(target, ends), ends, vocabulary, len(token_ids), grammar.opened)


class GrammarConstraint:
    """Allows only tokens that can still lead to what the grammar describes; a `LogitsConstraint`.

    An end of text is allowed where the output is complete; after it, only another one is allowed. Each token is read
    once: a text that only became longer costs its new tokens, and rejected guesses are rolled back. `opened` is the end
    of the prompt, which is the beginning of what the grammar describes. Raises InputError: it cannot begin so; later,
    from `allowed`, the grammar has become too complex to follow.
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
        self._read: list[int] = []  # the part of the output that the matcher has consumed
        self._masks: dict[int, Tensor] = {}  # the latest few, by the number of tokens of `_read` before them
        self._check()
        if not self._matcher.consume_tokens(tokens.tokenize_str(opened)):
            raise InputError(say("cannot_begin", opened=repr(opened)))

    def allowed(self, token_ids: Sequence[int]) -> Tensor:
        output = list(token_ids[self._prompt_length :])
        if not self._ends.isdisjoint(output):  # the matcher never reads it: it could not roll it back
            return self._only_ends
        if output != self._read[: len(output)]:
            same = common_length(self._read, output)
            self._forget(same)
            self._read += output[same : same + self._matcher.try_consume_tokens(output[same:])]
        if len(output) > len(self._read):
            return self._anything  # after a guess that is not allowed: it will be rejected, and this mask is not used
        if len(output) not in self._masks:
            self._forget(len(output))
            self._masks[len(output)] = self._mask()
            self._masks.pop(len(output) - MASKS, None)
        return self._masks[len(output)]

    def _forget(self, length: int) -> None:
        self._matcher.rollback(len(self._read) - length)
        del self._read[length:]
        self._masks = {place: mask for place, mask in self._masks.items() if place <= length}

    def _mask(self) -> Tensor:
        bias = bytearray(self._matcher.compute_logit_bias())  # a byte for each token, 0 if it is not allowed
        self._check()
        mask = torch.frombuffer(bias, dtype=torch.uint8)[: len(self._only_ends)] != 0
        return mask if mask.any() else self._only_ends  # the pair does not share a token that is allowed

    def _check(self) -> None:
        if self._matcher.is_error():
            error = shorten_message(self._matcher.get_error())
            raise InputError(
                say("no_allowed_token") if error == "NoExtensionBias" else say("not_followed", problem=error)
            )


def _tokens_of(target: LoadedModel, ends: Sequence[int]) -> LLTokenizer:
    from llguidance.hf import from_tokenizer  # imports transformers: seconds

    known = _TOKENS.setdefault(target.tokens, {})
    key = tuple(ends)
    if key not in known:
        try:
            known[key] = from_tokenizer(target.tokenizer, eos_token=list(ends))
        except (ValueError, TypeError, RuntimeError) as error:
            raise InputError(say("not_constrained", target=target.name, error=shorten_message(str(error)))) from error
    return known[key]
