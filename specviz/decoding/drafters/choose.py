"""Which drafter a name means, and which one fits a target and what was loaded to draft for it.

The methods are entries in `core/drafters.py`. Each entry names a module, which has two functions:

    load(name, target, dtype)        what this name needs in memory, or None
    fit(target, loaded, settings)    the `Drafter` made of it
"""

from importlib import import_module
from typing import Any

from specviz.core.drafters import Method, method_of
from specviz.core.settings import DecodeSettings
from specviz.decoding.drafters.protocol import Drafter
from specviz.models.catalogue import method_named
from specviz.models.heads import LoadedHead
from specviz.models.loaded_model import Dtype, LoadedModel

Loaded = LoadedModel | LoadedHead | Method | None  # what drafts; a method needs nothing in memory; None: prompt lookup


def make_drafter(
    name: str, target: LoadedModel, settings: DecodeSettings | None = None, dtype: Dtype = "float32"
) -> Drafter:
    """The drafter of a name, as the Draft menu, links and `--draft` take it.

    - a model's name (bundled, a folder, or on the Hub): a smaller model writes the guesses;
    - "wren-eagle": an EAGLE head on wren-base, which reads its last hidden state, one guess after the other;
    - "lookup-wren-eagle": that head where prompt lookup finds no match; so with any head that guesses one by one;
    - "wren-medusa": Medusa heads on wren-base, all guesses at once;
    - "early-exit:2": the target's own first two layers; any number below that of its layers;
    - "prompt-lookup" ("lookup" in links): what followed the same words earlier in the text.

    `settings` are those of the planned run; `dtype` is that of the draft model or head: an early exit has the target's.
    Raises InputError: there is nothing of that name, or it cannot draft for the target.
    """
    return fit_drafter(target, load_draft(name, target, dtype), settings or DecodeSettings())


def load_draft(name: str, target: LoadedModel, dtype: Dtype = "float32") -> Loaded:
    method = method_named(name)
    loaded: Loaded = _module(method).load(name, target, dtype)
    return loaded or method


def own_model(draft: Loaded) -> LoadedModel | None:
    """The model that drafts, if it is one of its own: a head and an early exit belong to the target."""
    return draft if isinstance(draft, LoadedModel) and draft.kind == "model" else None


def fit_drafter(target: LoadedModel, draft: Loaded, settings: DecodeSettings) -> Drafter:
    """Raises InputError: the tokenizers differ and the settings ask for sampling."""
    draft = draft or method_of("prompt-lookup")
    made: Drafter = _module(method_of(draft.kind)).fit(target, draft, settings)
    return made


def _module(method: Method) -> Any:
    assert method.module, method
    return import_module(method.module)
