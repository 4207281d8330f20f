"""Decoding: the plain loop, the speculative loop, the acceptance rule and the drafters. No screens, no files."""

from specviz.decoding.alternating import take_turns
from specviz.decoding.autoregressive import AutoregressiveRun, autoregressive_decode
from specviz.decoding.drafters import (
    Draft,
    DraftContext,
    Drafter,
    ModelDrafter,
    PromptLookupDrafter,
    Proposer,
    TranslatedDrafter,
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
    "ModelDrafter",
    "PromptLookupDrafter",
    "Proposer",
    "SpeculativeRun",
    "TranslatedDrafter",
    "Verification",
    "autoregressive_decode",
    "iter_speculative_decode",
    "make_constraint",
    "make_drafter",
    "speculative_decode",
    "take_turns",
]
