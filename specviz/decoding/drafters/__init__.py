"""Drafters: where the guesses of a round come from. `protocol` says what a drafter must do; each other file is one."""

from specviz.decoding.drafters.choose import fit_drafter, load_draft, make_drafter
from specviz.decoding.drafters.head import HeadDrafter
from specviz.decoding.drafters.model import ModelDrafter
from specviz.decoding.drafters.prompt_lookup import PromptLookupDrafter
from specviz.decoding.drafters.protocol import Draft, DraftContext, Drafter, Proposer
from specviz.decoding.drafters.translated import TranslatedDrafter

__all__ = [
    "Draft",
    "DraftContext",
    "Drafter",
    "HeadDrafter",
    "ModelDrafter",
    "PromptLookupDrafter",
    "Proposer",
    "TranslatedDrafter",
    "fit_drafter",
    "load_draft",
    "make_drafter",
]
