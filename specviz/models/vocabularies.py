"""What the token ids of two models mean: the same, or where they differ first."""

import json
from hashlib import sha256
from typing import NamedTuple
from weakref import WeakKeyDictionary

from specviz.core.errors import InputError
from specviz.models.loaded_model import LoadedModel
from specviz.models.tokens import Tokens


class Difference(NamedTuple):
    """The first token id that differs between two tokenizers; None where one of them has no such id."""

    token_id: int
    target: str | None
    draft: str | None


def same_tokens(target: Tokens, draft: Tokens) -> bool:
    """Whether every token id means the same in both."""
    return target is draft or _vocabulary(target) == _vocabulary(draft)


def _vocabulary(tokens: Tokens) -> bytes:
    """A hash of what every token id means. Every run asks, and a large vocabulary takes 0.1 s to list."""
    found = _vocabularies.get(tokens)
    if found is None:
        listed = json.dumps(tokens.get_vocab(), sort_keys=True)
        found = _vocabularies[tokens] = sha256(listed.encode("utf-8", "surrogatepass")).digest()
    return found


_vocabularies: WeakKeyDictionary[Tokens, bytes] = WeakKeyDictionary()


def first_difference(target: Tokens, draft: Tokens) -> Difference | None:
    """The first token id with another meaning in the draft; None if the tokenizers are equal."""
    if same_tokens(target, draft):
        return None
    ours, theirs = ({token_id: token for token, token_id in each.get_vocab().items()} for each in (target, draft))
    token_id = min(each for each in ours.keys() | theirs.keys() if ours.get(each) != theirs.get(each))
    return Difference(token_id, ours.get(token_id), theirs.get(token_id))


def shared_vocabulary(target: LoadedModel, draft: LoadedModel | None = None) -> int:
    """How many logits stand for tokens; further rows of an embedding are padding.

    Raises:
        InputError: the tokenizers differ; the message names the first token that does.
    """
    size = min(len(target.tokens), target.facts.rows)
    if draft is None or draft.tokens is target.tokens:
        return size
    if difference := first_difference(target.tokens, draft.tokens):
        raise InputError(f"{draft.name} cannot draft for {target.name}: their tokenizers {in_words(difference)}.")
    return min(size, draft.facts.rows)


def in_words(difference: Difference) -> str:
    """The end of a sentence that begins with the two tokenizers."""
    token_id, target, draft = difference
    return f"differ first at token {token_id}, {_quoted(target)} for the target and {_quoted(draft)} for the draft"


def _quoted(token: str | None) -> str:
    return "nothing" if token is None else repr(token[:40])
