"""Temperature, top-k and top-p against transformers' own, on random logits."""

from itertools import product

import pytest
import torch
from transformers import LogitsProcessorList, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from specviz import DecodeSettings
from specviz.decoding.sampler import Sampling

LOGITS = 4 * torch.randn(20, 101, generator=torch.Generator().manual_seed(7))
TIES = LOGITS.round()  # equal logits at the edge of top-k
CASES = list(product((0.3, 1.0, 1.7), (None, 1, 2, 40, 500), (None, 0.1, 0.9, 1.0)))


def expected(logits: torch.Tensor, temperature: float, top_k: int | None, top_p: float | None) -> torch.Tensor:
    warpers = LogitsProcessorList([TemperatureLogitsWarper(temperature)])
    if top_k is not None:
        warpers.append(TopKLogitsWarper(top_k))
    if top_p is not None and top_p < 1:
        warpers.append(TopPLogitsWarper(top_p))
    warped: torch.Tensor = warpers(torch.LongTensor(), logits)
    return warped.softmax(-1)


@pytest.mark.parametrize("logits", [LOGITS, TIES], ids=["different", "ties"])
@pytest.mark.parametrize(("temperature", "top_k", "top_p"), CASES)
def test_scores_are_the_probabilities_of_transformers_warpers(
    logits: torch.Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> None:
    settings = DecodeSettings(temperature=temperature, top_k=top_k, top_p=top_p)
    before = logits.clone()
    ours = Sampling(settings, torch.Generator()).scores(logits)
    assert torch.equal(ours, expected(logits, temperature, top_k, top_p))
    assert torch.equal(logits, before), "the logits stay as they are"
