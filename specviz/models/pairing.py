"""Whether a draft fits a target, decided before anything is loaded; if not, the answer says what would work."""

import json
from dataclasses import dataclass
from hashlib import sha256
from weakref import WeakKeyDictionary

from specviz.core.errors import InputError
from specviz.models.devices import memory_problem
from specviz.models.loaded_model import Inspection, LoadedModel
from specviz.models.loading import inspect_model
from specviz.models.memory import needed_bytes
from specviz.models.tokens import Tokens


def same_tokens(target: Tokens, draft: Tokens) -> bool:
    return target is draft or _vocabulary(target) == _vocabulary(draft)


def same_numbers(target: Tokens, draft: Tokens) -> bool:
    """Whether a token that both have has the same number, and what only one has comes after all that both have."""
    if same_tokens(target, draft):
        return True
    known = _compared.setdefault(target, WeakKeyDictionary())
    if draft not in known:
        few, many = sorted((target.get_vocab(), draft.get_vocab()), key=len)
        end = max(few.values(), default=-1) + 1
        known[draft] = bool(few) and few.items() <= {token: n for token, n in many.items() if n < end}.items()
        known[draft] &= sum(token_id < end for token_id in many.values()) == len(few)
    return known[draft]


def drafts_in_tokens(target: Tokens, draft: Tokens, *, greedy: bool) -> bool:
    """Whether the draft's tokens are used as they are: same numbers, and what only one has are marks, not text.

    A family's models often differ in a few special tokens at the end. A draft that lacks tokens of the text reads it
    badly: a greedy run then goes by way of the text, which cannot be done where tokens are drawn.
    """
    if same_tokens(target, draft):
        return True
    if not same_numbers(target, draft):
        return False
    few, many = sorted((target, draft), key=len)
    return not greedy or {*many.get_vocab().values()} - {*few.get_vocab().values()} <= _marks(many)


def _marks(tokens: Tokens) -> set[int]:
    """Tokens that were added to a vocabulary: no text is split into them."""
    backend = getattr(tokens, "backend_tokenizer", None)
    return {*tokens.all_special_ids, *(backend.get_added_tokens_decoder() if backend else ())}


def _vocabulary(tokens: Tokens) -> bytes:
    found = _vocabularies.get(tokens)
    if found is None:
        listed = json.dumps(tokens.get_vocab(), sort_keys=True)
        found = _vocabularies[tokens] = sha256(listed.encode("utf-8", "surrogatepass")).digest()
    return found


_vocabularies: WeakKeyDictionary[Tokens, bytes] = WeakKeyDictionary()
_compared: WeakKeyDictionary[Tokens, WeakKeyDictionary[Tokens, bool]] = WeakKeyDictionary()


def difference(target: Tokens, draft: Tokens) -> str | None:
    """How two tokenizers differ, as the end of a sentence that begins with them; None if they are equal."""
    if same_tokens(target, draft):
        return None
    ours, theirs = ({token_id: token for token, token_id in each.get_vocab().items()} for each in (target, draft))
    first = min(each for each in ours.keys() | theirs.keys() if ours.get(each) != theirs.get(each))
    one, other = (repr(each[first][:40]) if first in each else "nothing" for each in (ours, theirs))
    return f"differ first at token {first}, {one} for the target and {other} for the draft"


def shared_vocabulary(target: LoadedModel, draft: LoadedModel | None = None) -> int:
    """How many of the target's logits stand for tokens; further rows of an embedding are padding.

    The draft may have fewer or more tokens than the target, see `CachedModel`, but each must mean the same.
    """
    if draft is not None and not same_numbers(target.tokens, draft.tokens):
        how = difference(target.tokens, draft.tokens)
        raise InputError(f"{draft.name} cannot draft for {target.name}: their tokenizers {how}.")
    return min(len(target.tokens), target.rows)


@dataclass(frozen=True, slots=True)
class PairReport:
    problems: list[str]  # one sentence each: what is wrong, and what would work; none: the pair works
    notes: list[str]  # one sentence each: worth knowing
    sizes: dict[str, int]  # parameters by model name


def check_pair(
    target: str,
    draft: str | None,
    target_dtype: str = "float32",
    draft_dtype: str = "float32",
    greedy: bool = True,
    new_tokens: int = 1,
    reclaimable: int = 0,
) -> PairReport:
    """Check a pair from its configurations, tokenizers and weight file headers; nothing is loaded.

    No draft: the drafter has no model. `greedy`: sampling needs equal tokenizers. `reclaimable`: bytes of memory in
    models that would be released for this pair, or that belong to it.
    """
    problems: list[str] = []
    found: list[tuple[Inspection, int]] = []  # with the memory that it needs
    for name, dtype in ((target, target_dtype), (draft, draft_dtype)):
        try:
            if name:
                model = inspect_model(name)
                found.append((model, needed_bytes(model.parameters, dtype)))
        except InputError as error:
            problems.append(str(error))
    known = [model for model, _ in found]
    notes = [
        f"{model.name} looks back {model.sliding_window} tokens in some layers (a sliding window), which works here."
        for model in known
        if model.sliding_window
    ]
    windows = [model.context for model in known if model.context]
    context = min(windows, default=None)
    if len(known) == 2:
        _compare(known[0], known[1], greedy, problems, notes)
        if len(set(windows)) == 2:
            notes.append(
                f"The prompt and the output together may have {context} tokens: the shorter of the two context windows."
            )
    if context and new_tokens >= context:
        problems.append(f"{new_tokens} new tokens and a prompt do not fit a context window of {context}: choose fewer.")
    if short := memory_problem([(model.name, needed) for model, needed in found], reclaimable):
        problems.append(short)
    return PairReport(problems, notes, {model.name: model.parameters for model in known})


def _compare(target: Inspection, draft: Inspection, greedy: bool, problems: list[str], notes: list[str]) -> None:
    tokens, drafts = len(target.tokens), len(draft.tokens)
    if tokens != drafts and drafts_in_tokens(target.tokens, draft.tokens, greedy=greedy):
        both = min(tokens, drafts)
        more = "target" if tokens > drafts else "draft"
        notes.append(
            f"{target.name} and {draft.name} have the first {both} tokens in common; the {more} has "
            f"{abs(tokens - drafts)} more, which the draft never guesses."
        )
    elif how := difference(target.tokens, draft.tokens):
        said = f"The tokenizers of {target.name} and {draft.name} {how}"
        if greedy:
            notes.append(
                f"{said}: the draft's text is tokenized again for the target, which works for greedy decoding only."
            )
        else:
            problems.append(f"{said}: set the temperature to 0, or use two models of the same family.")
    elif not target.rows == draft.rows == tokens:
        notes.append(
            f"Both tokenizers have the same {tokens} tokens. The embeddings have {target.rows} rows (target) and "
            f"{draft.rows} (draft): the rows without a token are padding and are never written."
        )
