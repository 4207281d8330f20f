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


def _vocabulary(tokens: Tokens) -> bytes:
    found = _vocabularies.get(tokens)
    if found is None:
        listed = json.dumps(tokens.get_vocab(), sort_keys=True)
        found = _vocabularies[tokens] = sha256(listed.encode("utf-8", "surrogatepass")).digest()
    return found


_vocabularies: WeakKeyDictionary[Tokens, bytes] = WeakKeyDictionary()


def difference(target: Tokens, draft: Tokens) -> str | None:
    """How two tokenizers differ, as the end of a sentence that begins with them; None if they are equal."""
    if same_tokens(target, draft):
        return None
    ours, theirs = ({token_id: token for token, token_id in each.get_vocab().items()} for each in (target, draft))
    first = min(each for each in ours.keys() | theirs.keys() if ours.get(each) != theirs.get(each))
    one, other = (repr(each[first][:40]) if first in each else "nothing" for each in (ours, theirs))
    return f"differ first at token {first}, {one} for the target and {other} for the draft"


def shared_vocabulary(target: LoadedModel, draft: LoadedModel | None = None) -> int:
    """How many logits stand for tokens; further rows of an embedding are padding."""
    size = min(len(target.tokens), target.rows)
    if draft is None or draft.tokens is target.tokens:
        return size
    if how := difference(target.tokens, draft.tokens):
        raise InputError(f"{draft.name} cannot draft for {target.name}: their tokenizers {how}.")
    return min(size, draft.rows)


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
    tokens = len(target.tokens)
    if how := difference(target.tokens, draft.tokens):
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
