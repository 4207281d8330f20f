"""The accept/reject rule against cases worked by hand. No model."""

import pytest
import torch

from specviz.decoding.drafters.protocol import Draft
from specviz.decoding.verification import GreedyRule, SamplingRule, residual


class FixedUniforms:
    """A sampling rule whose random numbers are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, numbers: list[float]) -> None:
        monkeypatch.setattr(torch, "rand", lambda count, **_: torch.tensor(numbers[:count], dtype=torch.float64))


def probabilities(*rows: list[float]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float32)


def test_greedy_keeps_the_matching_prefix_and_corrects_with_the_targets_best() -> None:
    draft = Draft([2, 0, 1], probabilities([0, 0, 9], [9, 0, 0], [0, 9, 0]))
    target = probabilities([0, 0, 1], [0, 5, 1], [7, 0, 0], [0, 0, 1])
    verification = GreedyRule().verify(draft, target)
    assert (verification.accepted, verification.token_id) == (1, 1)
    assert verification.accept_probs == [1.0, 0.0]  # the third was never judged
    assert verification.drawn is None


def test_greedy_accepts_all_and_adds_a_bonus() -> None:
    draft = Draft([2, 0], probabilities([0, 0, 9], [9, 0, 0]))
    verification = GreedyRule().verify(draft, probabilities([0, 0, 1], [5, 0, 1], [0, 3, 0]))
    assert (verification.accepted, verification.token_id, verification.accept_probs) == (2, 1, [1.0, 1.0])


def test_a_round_without_a_draft_is_one_step_of_the_target() -> None:
    nothing = Draft([], None)
    assert GreedyRule().verify(nothing, probabilities([0, 0, 1])).token_id == 2
    verification = SamplingRule(torch.Generator().manual_seed(0)).verify(nothing, probabilities([0, 1, 0]))
    assert (verification.accepted, verification.token_id, verification.accept_probs) == (0, 1, [])


def test_sampling_keeps_with_p_over_q_and_draws_the_correction_from_the_residual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # token 0: q .5, p .25, so it is accepted with probability .5. (p - q)+ = [0, .15, .10] -> [0, .6, .4]
    draft = Draft([0], probabilities([0.5, 0.25, 0.25]))
    target = probabilities([0.25, 0.40, 0.35], [1.0, 0.0, 0.0])
    FixedUniforms(monkeypatch, [0.49])
    verification = SamplingRule(torch.Generator().manual_seed(0)).verify(draft, target)
    assert (verification.accepted, verification.token_id, verification.accept_probs, verification.drawn) == (
        1,
        0,
        [0.5],
        [0.49],
    )
    FixedUniforms(monkeypatch, [0.5])
    rejected = SamplingRule(torch.Generator().manual_seed(0)).verify(draft, target)
    assert (rejected.accepted, rejected.accept_probs) == (0, [0.5])
    assert rejected.token_id in (1, 2)
    assert rejected.residual is not None
    assert rejected.residual.tolist() == pytest.approx([0, 0.6, 0.4], abs=1e-6)


def test_sampling_always_keeps_what_the_target_likes_better(monkeypatch: pytest.MonkeyPatch) -> None:
    FixedUniforms(monkeypatch, [0.999999])
    draft = Draft([1], probabilities([0.9, 0.1]))
    verification = SamplingRule(torch.Generator().manual_seed(0)).verify(draft, probabilities([0.2, 0.8], [1, 0]))
    assert (verification.accepted, verification.accept_probs) == (1, [1.0])


def test_a_guess_without_a_distribution_is_a_point_mass(monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Draft([1], None)
    target = probabilities([0.2, 0.3, 0.5], [1, 0, 0])
    FixedUniforms(monkeypatch, [0.31])
    verification = SamplingRule(torch.Generator().manual_seed(0)).verify(draft, target)
    assert verification.accept_probs == pytest.approx([0.3])
    assert verification.accepted == 0
    assert verification.residual is not None
    assert verification.residual.tolist() == pytest.approx([2 / 7, 0, 5 / 7])


def test_a_residual_lost_to_rounding_falls_back_to_the_target() -> None:
    same = probabilities([0.5, 0.5])
    assert residual(same[0], Draft([0], same), 0).tolist() == [0.5, 0.5]
