"""Which acceptance rule a run uses."""

import torch

from specviz.core.settings import DecodeSettings
from specviz.decoding.block_verification import BlockRule
from specviz.decoding.tree_verification import GreedyTreeRule, SamplingTreeRule
from specviz.decoding.verification import AcceptanceRule, GreedyRule, SamplingRule


def make_rule(settings: DecodeSettings, generator: torch.Generator) -> AcceptanceRule:
    """The lossless rule for these settings."""
    if settings.tree:
        return GreedyTreeRule() if settings.greedy else SamplingTreeRule(generator)
    if settings.greedy:
        return GreedyRule()
    return BlockRule(generator) if settings.verification == "block" else SamplingRule(generator)
