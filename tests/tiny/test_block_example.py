"""The worked example of block verification in "Why?" is what the app's own rule does with its numbers."""

from dataclasses import replace

import pytest
import torch

from specviz.core.settings import DecodeSettings
from specviz.core.texts import fill
from specviz.data.lessons.block_example import BLOCK_EXAMPLE, BlockExample
from specviz.data.lessons.questions import answer_facts, faq
from specviz.decoding.drafters.protocol import Draft
from specviz.decoding.verification import Verification, make_rule


def judged(example: BlockExample, way: str, monkeypatch: pytest.MonkeyPatch) -> Verification:
    """What the app's rule says of the example, where the dice show its rolls."""
    settings = replace(DecodeSettings(temperature=1.0), verification=way)
    rows, guesses = torch.tensor([*example.p, example.p[0]]), [0] * len(example.p)
    monkeypatch.setattr(torch, "rand", lambda *_, **__: torch.tensor(example.rolls, dtype=torch.float64))
    return make_rule(settings, torch.Generator()).verify(Draft(guesses, torch.tensor(example.q)), rows)


@pytest.mark.parametrize("rolls", [BLOCK_EXAMPLE.rolls, (0.1, 0.9), (0.1, 0.1), (0.9, 0.9)])
@pytest.mark.parametrize("p", [BLOCK_EXAMPLE.p, BLOCK_EXAMPLE.q, ((0.5, 0.2, 0.3), (0.2, 0.1, 0.7))])
def test_the_example_is_judged_as_the_apps_own_rule_judges_it(
    p: tuple[tuple[float, ...], ...], rolls: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if p == BLOCK_EXAMPLE.q:  # both models alike: nothing is left, and every prefix passes
        assert judged(replace(BLOCK_EXAMPLE, p=p, rolls=rolls), "block", monkeypatch).accepted == len(p)
        return
    example = replace(BLOCK_EXAMPLE, p=p, rolls=rolls)
    verification = judged(example, "block", monkeypatch)
    assert verification.accept_probs == pytest.approx(example.chances, abs=1e-6)
    assert verification.accepted == example.accepted


def test_the_answer_says_what_both_rules_do(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = next(each for each in faq().questions if each.name == "block")
    said = fill(answer.answer, answer_facts(answer.trace))
    assert judged(BLOCK_EXAMPLE, "block", monkeypatch).accepted == 2
    assert "is accepted: two guesses" in said
    by_token = judged(BLOCK_EXAMPLE, "token", monkeypatch)
    assert (by_token.accepted, len(by_token.accept_probs)) == (0, 1)
    assert "the first guess is rejected, and the second one is discarded" in said
    first, last = BLOCK_EXAMPLE.rolls[0] < BLOCK_EXAMPLE.chances[0], BLOCK_EXAMPLE.rolls[1] < BLOCK_EXAMPLE.chances[1]
    assert (first, last) == (False, True), "the first prefix fails, the second one passes"
    assert "verification=block" in answer.href
