"""Decoding: the plain loop, the speculative loop, the acceptance rule and the drafters. No screens, no files."""

from specviz.decoding.alternating import take_turns
from specviz.decoding.autoregressive import AutoregressiveRun, autoregressive_decode
from specviz.decoding.drafters import (
    Draft,
    DraftContext,
    Drafter,
    HeadDrafter,
    ModelDrafter,
    PromptLookupDrafter,
    Proposer,
    TranslatedDrafter,
    fit_drafter,
    load_draft,
    make_drafter,
)
from specviz.decoding.grammar import GrammarConstraint, make_constraint
from specviz.decoding.speculative import SpeculativeRun, iter_speculative_decode, speculative_decode
from specviz.decoding.verification import AcceptanceRule, Verification

__all__ = [
    "AcceptanceRule",
    "AutoregressiveRun",
    "Draft",
    "DraftContext",
    "Drafter",
    "GrammarConstraint",
    "HeadDrafter",
    "ModelDrafter",
    "PromptLookupDrafter",
    "Proposer",
    "SpeculativeRun",
    "TranslatedDrafter",
    "Verification",
    "autoregressive_decode",
    "fit_drafter",
    "iter_speculative_decode",
    "load_draft",
    "make_constraint",
    "make_drafter",
    "speculative_decode",
    "take_turns",
]
