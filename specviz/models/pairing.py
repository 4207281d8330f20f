"""Whether a draft fits a target, decided before anything is loaded; if not, the answer says what would work."""

from weakref import WeakKeyDictionary

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.models.devices import check_memory, needed_bytes
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import inspect_model
from specviz.models.tokens import Tokens

say = Sentences("models")


def same_tokens(target: Tokens, draft: Tokens) -> bool:
    return target is draft or (len(target) == len(draft) and same_numbers(target, draft))


def same_numbers(target: Tokens, draft: Tokens) -> bool:
    """Whether a token that both have has the same number, and what only one has comes after all that both have."""
    if target is draft:
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
    backend = getattr(many, "backend_tokenizer", None)
    marks = {*many.all_special_ids, *(backend.get_added_tokens_decoder() if backend else ())}
    return not greedy or {*many.get_vocab().values()} - {*few.get_vocab().values()} <= marks


_compared: WeakKeyDictionary[Tokens, WeakKeyDictionary[Tokens, bool]] = WeakKeyDictionary()


def shared_vocabulary(target: LoadedModel, draft: LoadedModel | None = None) -> int:
    """How many of the target's logits stand for tokens; further rows of an embedding are padding.

    The draft may have fewer or more tokens than the target, see `CachedModel`, but each must mean the same.
    """
    if draft is not None and not same_numbers(target.tokens, draft.tokens):
        raise InputError(say("tokenizers_differ", draft=draft.name, target=target.name))
    return min(len(target.tokens), target.rows)


def check_pair(
    target: str,
    draft: str | None,
    target_dtype: str = "float32",
    draft_dtype: str = "float32",
    greedy: bool = True,
    new_tokens: int = 1,
    reclaimable: int = 0,
) -> tuple[dict[str, int], str]:
    """Check a pair from its configurations, tokenizers and weight file headers; nothing is loaded.

    No draft: the drafter has no model. `greedy`: sampling needs equal tokenizers. `reclaimable`: bytes of memory in
    models that would be released for this pair, or that belong to it. Returns the parameters by model name, and one
    sentence worth knowing or an empty text. InputError: the pair does not work, with what would.
    """
    models, tokens = zip(*(inspect_model(name) for name in (target, draft) if name), strict=True)
    note = ""
    if draft and not drafts_in_tokens(*tokens, greedy=greedy):
        if not greedy:
            raise InputError(say("tokenizers_differ", target=target, draft=draft))
        note = say("tokenized_again", target=target, draft=draft)
    context = min((model.context for model in models if model.context), default=None)
    if context and new_tokens >= context:
        raise InputError(say("no_fit", count=new_tokens, context=context))
    dtypes = target_dtype, draft_dtype
    needs = [needed_bytes(model.parameters, dtype) for model, dtype in zip(models, dtypes, strict=False)]
    check_memory([(model.name, needed) for model, needed in zip(models, needs, strict=True)], reclaimable)
    return {model.name: model.parameters for model in models}, note
