"""The drafts that a menu offers, in groups: what each group is, and who serves text with it. Never imports torch."""

from dataclasses import dataclass

from specviz.core.request import EARLY_EXIT, PROMPT_LOOKUP
from specviz.models.allowed import offered_names
from specviz.models.catalogue import bundled_names, head_names, part_of_target

EXITS = (1, 2, 4)  # layers; a link and `--draft` may name another number


@dataclass(frozen=True, slots=True)
class DraftGroup:
    """Drafts of one kind."""

    title: str
    about: str  # one sentence: how they guess
    used: str  # one sentence: who uses it in production
    names: tuple[str, ...]


def draft_groups() -> list[DraftGroup]:
    """The groups in the order of the menu."""
    no_model = (PROMPT_LOOKUP, *(f"{EARLY_EXIT}{layers}" for layers in EXITS))
    return [
        DraftGroup("Small models", SMALL, SMALL_USED, tuple(bundled_names())),
        DraftGroup("Heads on the target", HEADS, HEADS_USED, tuple(head_names())),
        DraftGroup("No model", NO_MODEL, NO_MODEL_USED, no_model),
    ]


def offered_drafts() -> list[str]:
    """The names of the menu, group by group; small models that must be downloaded come last."""
    names = [name for group in draft_groups() for name in group.names]
    return [*names, *(name for name in offered_names() if name not in names)]


def linked_names() -> list[str]:
    """The names that a link may hold: of models and heads. An early exit and prompt lookup need no list."""
    return [*offered_names(), *head_names()]


def is_offered(name: str) -> bool:
    """Whether the menus have this model or draft, so that it needs no download that they do not announce."""
    return name == PROMPT_LOOKUP or part_of_target(name) or name in offered_names()


SMALL = "A second, smaller language model of the same family writes the guesses, one token after the other."
SMALL_USED = "Used with llama.cpp, LM Studio, vLLM and transformers."
HEADS = (
    "A head is trained for one target and reads its last hidden state: wren-eagle guesses token after token, "
    "wren-medusa up to four tokens at once."
)
HEADS_USED = (
    "Served today: EAGLE heads with vLLM and SGLang; MTP heads, their relatives, with llama.cpp and transformers too."
)
NO_MODEL = (
    "Prompt lookup copies what followed the same words earlier. Early exit lets the target’s first layers guess; a "
    "target that was not trained for it mostly loses."
)
NO_MODEL_USED = "vLLM serves prompt lookup under the name n-gram; early exit is a research method (LayerSkip)."
