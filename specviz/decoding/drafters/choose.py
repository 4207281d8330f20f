"""Which drafter fits a pair of models."""

from specviz.core.settings import DecodeSettings
from specviz.decoding.drafters.model import ModelDrafter
from specviz.decoding.drafters.prompt_lookup import PromptLookupDrafter
from specviz.decoding.drafters.protocol import Drafter
from specviz.decoding.drafters.translated import TranslatedDrafter
from specviz.models.loaded_model import LoadedModel
from specviz.models.vocabularies import same_tokens


def make_drafter(target: LoadedModel, draft: LoadedModel | None, settings: DecodeSettings) -> Drafter:
    """The drafter that fits the pair: token by token if the tokenizers are equal, else by way of the text.

    Args:
        target: the model whose output is wanted.
        draft: the draft model; None is prompt lookup.
        settings: the settings of the planned run.

    Raises:
        InputError: the tokenizers differ and the settings ask for sampling.
    """
    if draft is None:
        return PromptLookupDrafter()
    if same_tokens(target.tokens, draft.tokens):
        return ModelDrafter(draft)
    drafter = TranslatedDrafter(draft, target)
    drafter.check(settings)
    return drafter
