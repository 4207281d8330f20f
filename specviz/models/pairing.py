"""Whether a draft fits a target, decided before anything is loaded; if not, the answer says what would work."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

from specviz.core.errors import InputError
from specviz.models.devices import choose_device
from specviz.models.loaded_model import LoadedModel
from specviz.models.memory import needed_bytes, shortage
from specviz.models.read_model import Inspection, inspect_model
from specviz.models.tokens import Tokens


class Difference(NamedTuple):
    """The first token id that differs between two tokenizers; None where one of them has no such id."""

    token_id: int
    target: str | None
    draft: str | None


def same_tokens(target: Tokens, draft: Tokens) -> bool:
    return target is draft or _vocabulary(target) == _vocabulary(draft)


def _vocabulary(tokens: Tokens) -> bytes:
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
    """How many logits stand for tokens; further rows of an embedding are padding."""
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


TokenMatch = Literal["same", "padded", "different"]


@dataclass(frozen=True, slots=True)
class PairReport:
    target: str
    draft: str | None  # None: the drafter has no model
    tokens: TokenMatch | None = None  # padded: equal except unused rows of an embedding; None: not both are known
    problems: list[str] = field(default_factory=list)  # one sentence each: what is wrong, and what would work
    notes: list[str] = field(default_factory=list)  # one sentence each: worth knowing
    parameters: int = 0  # of both models
    sizes: dict[str, int] = field(default_factory=dict)  # parameters by model name
    bytes: int = 0  # memory that must be free before loading both: weights and working room
    context: int | None = None  # most tokens both can read, prompt and output together; None: no limit

    @property
    def ok(self) -> bool:
        return not self.problems


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

    Args:
        target, draft: bundled names, local folders or Hub ids; None: a drafter without a model.
        target_dtype, draft_dtype: float32, bfloat16 or auto.
        greedy: whether the run is greedy; sampling needs equal tokenizers.
        new_tokens: how many tokens the run may write.
        reclaimable: bytes of memory in models that would be released for this pair, or that belong to it.
    """
    problems: list[str] = []
    found = [_inspect(name, problems) for name in (target, draft) if name]
    known = [model for model in found if model]
    needs = [
        (model, needed_bytes(model.parameters, dtype))
        for model, dtype in zip(found, (target_dtype, draft_dtype), strict=False)
        if model
    ]
    windows = [model.context for model in known if model.context]
    context = min(windows, default=None)
    notes = [_sliding(model) for model in known if model.sliding_window]
    tokens: TokenMatch | None = None
    if len(known) == 2:
        tokens = _compare(known[0], known[1], greedy, problems, notes)
        if len(set(windows)) == 2:
            notes.append(
                f"The prompt and the output together may have {context} tokens: the shorter of the two context windows."
            )
    if context and new_tokens >= context:
        problems.append(f"{new_tokens} new tokens and a prompt do not fit a context window of {context}: choose fewer.")
    on_cpu = sum(need for model, need in needs if choose_device(model.name, need) == "cpu")
    if short := shortage(" and ".join(model.name for model in known), on_cpu - reclaimable):
        problems.append(short)
    parameters, needed = sum(model.parameters for model in known), sum(need for _, need in needs)
    sizes = {model.name: model.parameters for model in known}
    return PairReport(target, draft, tokens, problems, notes, parameters, sizes, needed, context)


def _inspect(name: str, problems: list[str]) -> Inspection | None:
    try:
        return inspect_model(name)
    except InputError as error:
        problems.append(str(error))
        return None


def _compare(target: Inspection, draft: Inspection, greedy: bool, problems: list[str], notes: list[str]) -> TokenMatch:
    if difference := first_difference(target.tokens, draft.tokens):
        said = f"The tokenizers of {target.name} and {draft.name} {in_words(difference)}"
        if greedy:
            notes.append(
                f"{said}: the draft's text is tokenized again for the target, which works for greedy decoding only."
            )
        else:
            problems.append(f"{said}: set the temperature to 0, or use two models of the same family.")
        return "different"
    tokens = len(target.tokens)
    if target.rows == draft.rows == tokens:
        return "same"
    notes.append(
        f"Both tokenizers have the same {tokens} tokens. The embeddings have {target.rows} rows (target) and "
        f"{draft.rows} (draft): the rows without a token are padding and are never written."
    )
    return "padded"


def _sliding(model: Inspection) -> str:
    return f"{model.name} looks back {model.sliding_window} tokens in some layers (a sliding window), which works here."
