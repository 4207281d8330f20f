"""Which drafter a name means, and which one fits a target and what was loaded to draft for it."""

from specviz.core.request import PROMPT_LOOKUP, exit_layers
from specviz.core.settings import DecodeSettings
from specviz.decoding.drafters.early_exit import EarlyExitDrafter
from specviz.decoding.drafters.head import HeadDrafter
from specviz.decoding.drafters.model import ModelDrafter
from specviz.decoding.drafters.prompt_lookup import PromptLookupDrafter
from specviz.decoding.drafters.protocol import Drafter
from specviz.decoding.drafters.translated import TranslatedDrafter
from specviz.models.catalogue import head_names
from specviz.models.early_exit import EarlyExit, early_exit
from specviz.models.head_files import LoadedHead, load_head
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.models.loading import load_model
from specviz.models.vocabularies import same_tokens

Loaded = LoadedModel | LoadedHead | EarlyExit | None  # what drafts; None: prompt lookup, which needs nothing in memory


def make_drafter(
    name: str, target: LoadedModel, settings: DecodeSettings | None = None, dtype: Dtype = "float32"
) -> Drafter:
    """The drafter of a name, as the Draft menu, links and `--draft` take it.

    Args:
        name: of a model, of a head on the target, "early-exit:2" (the target's first two layers), or "prompt-lookup"
            ("lookup" in links).
        target: the model whose output is wanted.
        settings: those of the planned run; None: the defaults.
        dtype: of the draft model or head; an early exit has the target's.

    Raises:
        InputError: there is nothing of that name, or it cannot draft for the target.
    """
    return fit_drafter(target, load_draft(name, target, dtype), settings or DecodeSettings())


def load_draft(name: str, target: LoadedModel, dtype: Dtype = "float32") -> Loaded:
    """What a drafter's name needs in memory; arguments and errors as `make_drafter`."""
    if name in (PROMPT_LOOKUP, "prompt-lookup"):
        return None
    if (layers := exit_layers(name)) is not None:
        return early_exit(name, layers, target)
    return load_head(name, target, dtype) if name in head_names() else load_model(name, dtype)


def own_model(draft: Loaded) -> LoadedModel | None:
    """The model that drafts, if it is one of its own: a head and an early exit belong to the target."""
    return draft if isinstance(draft, LoadedModel) else None


def fit_drafter(target: LoadedModel, draft: Loaded, settings: DecodeSettings) -> Drafter:
    """The drafter that fits: token by token if the tokenizers are equal, else by way of the text.

    Args:
        target: the model whose output is wanted.
        draft: the draft model, or a part of the target; None is prompt lookup.
        settings: the settings of the planned run.

    Raises:
        InputError: the tokenizers differ and the settings ask for sampling.
    """
    if draft is None:
        return PromptLookupDrafter()
    if isinstance(draft, LoadedHead):
        return HeadDrafter(draft)
    if isinstance(draft, EarlyExit):
        return EarlyExitDrafter(draft)
    if same_tokens(target.tokens, draft.tokens):
        return ModelDrafter(draft)
    drafter = TranslatedDrafter(draft, target)
    drafter.check(settings)
    return drafter
