"""Whether a draft fits a target, decided before anything is loaded; if not, the answer says what would work."""

from dataclasses import dataclass, field
from typing import Literal

from specviz.core.errors import InputError
from specviz.models.devices import choose_device
from specviz.models.inspection import Inspection, inspect_model
from specviz.models.memory import needed_bytes, shortage
from specviz.models.vocabularies import first_difference, in_words

Tokens = Literal["same", "padded", "different"]


@dataclass(frozen=True, slots=True)
class PairReport:
    """What is known about a pair before its weights are loaded."""

    target: str
    draft: str | None  # None: the drafter has no model
    tokens: Tokens | None = None  # padded: equal except unused rows of an embedding; None: not both are known
    problems: list[str] = field(default_factory=list)  # one sentence each: what is wrong, and what would work
    notes: list[str] = field(default_factory=list)  # one sentence each: worth knowing
    parameters: int = 0  # of both models
    sizes: dict[str, int] = field(default_factory=dict)  # parameters by model name
    bytes: int = 0  # memory that must be free before loading both: weights and working room
    context: int | None = None  # most tokens both can read, prompt and output together; None: no limit

    @property
    def ok(self) -> bool:
        """Whether the pair can be loaded and run."""
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
        target: bundled name, local folder or Hub id.
        draft: the same; None for a drafter without a model.
        target_dtype: float32, bfloat16 or auto.
        draft_dtype: the same.
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
    tokens: Tokens | None = None
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


def _compare(target: Inspection, draft: Inspection, greedy: bool, problems: list[str], notes: list[str]) -> Tokens:
    """Compare the tokenizers, and add what follows from it to the problems or notes."""
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
