"""Every kind of drafter that a tiny target has, by name, and a target of another family."""

from functools import cache

from specviz import ModelDrafter, PromptLookupDrafter
from specviz.decoding import Drafter, HeadDrafter, LookupFirstDrafter, make_drafter
from specviz.models.loaded_model import LoadedModel
from tests.support.architectures import family_model
from tests.support.tiny_heads import FEW_WORDS, tiny_head
from tests.support.tiny_models import tiny_model

TARGET = tiny_model(seed=1, name="target", context=1024)
DRAFT = tiny_model(seed=1, layers=1, name="draft", context=1024)  # the target's own weights: it agrees now and then
BEHIND = ("lookup, else eagle of few words", "lookup, else model")
DRAFTERS = ("model", "lookup", "early exit", "eagle", FEW_WORDS, "medusa", *BEHIND, "early exit of qwen3")
CHAINS_ONLY = ("lookup", *BEHIND)  # they grow no trees
NO_GUESSES = BEHIND[1:]  # they have no `guess_along`


@cache
def pair_of(name: str) -> tuple[LoadedModel, Drafter]:
    """A target, and the drafter of this name for it; both read only."""
    target = family_model("qwen3") if "qwen3" in name else TARGET
    if name == "lookup":
        return target, PromptLookupDrafter()
    if name in BEHIND:
        second = pair_of(name.removeprefix("lookup, else "))[1]
        return target, LookupFirstDrafter(second, "lookup-eagle")
    if name in ("eagle", FEW_WORDS, "medusa"):
        return target, HeadDrafter(tiny_head(name, target))
    if name.startswith("early exit"):
        return target, make_drafter("early-exit:1", target)
    return target, ModelDrafter(DRAFT)
