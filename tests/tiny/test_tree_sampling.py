"""Sampling with trees: the rule by hand, its output against the target's exact distribution, and wrong rules that fail.

The statistical tests are chi-squared over the joint distribution of three tokens, see `tests.support.joint`, where the
odds of a false alarm are stated: 1 in 10,000 for each test with new seeds; with these seeds it is decided for ever.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from specviz import DecodeSettings, InputError, ModelDrafter
from specviz.decoding import Draft, Drafter, HeadDrafter, speculative_decode
from specviz.decoding.drafters.early_exit import EarlyExitDrafter
from specviz.decoding.tree_verification import GreedyTreeRule, SamplingTreeRule, children_of
from specviz.decoding.verification import AcceptanceRule, Verification
from specviz.measure.proof.other_rules import rule_of_proof
from specviz.measure.proof.rule_names import RULES
from specviz.models.early_exit import early_exit
from tests.support.joint import FALSE_ALARM, OddOnly, p_value_of_loop
from tests.support.tiny_heads import tiny_head
from tests.support.tiny_models import tiny_model

TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")
PROMPT = [1, 2, 1, 2, 1]
RUNS = 1000
CERTAIN = 1e-9
SHAPES = {"2,2": 2, "4,2,1": 3, "7,2": 2, "dynamic:5": 2, "dynamic:12": 4}


def settings_of(tree: str, **how: object) -> DecodeSettings:
    return DecodeSettings(**({"temperature": 1.0, "draft_length": SHAPES[tree], "tree": tree} | how))  # type: ignore[arg-type]


# ---- by hand


def rows(*values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)


class Numbers:
    """The random numbers of the rule, given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, numbers: list[float]) -> None:
        left = iter(numbers)
        monkeypatch.setattr(torch, "rand", lambda count, **_: torch.tensor([next(left)], dtype=torch.float64))


def test_the_second_sibling_is_judged_by_what_the_first_one_left(monkeypatch: pytest.MonkeyPatch) -> None:
    # q = [.5, .3, .2]; token 0 drawn first, then token 1 from [0, .6, .4]. p = [.1, .5, .4].
    # Token 0: accepted with .2. Then p := (p - q)+ = [0, .2, .2] -> [0, .5, .5]; token 1: accepted with .5 / .6.
    # If that fails too: (p - q)+ = [0, 0, .1] -> token 2 for certain.
    draft = Draft([0, 1], rows([0.5, 0.3, 0.2], [0, 0.6, 0.4]), parents=[-1, -1])
    target = rows([0.1, 0.5, 0.4], [1, 0, 0], [0, 0, 1])
    generator = torch.Generator().manual_seed(0)
    Numbers(monkeypatch, [0.21, 0.83])
    second = SamplingTreeRule(generator).verify(draft, target)
    assert (second.path, second.judged, second.token_id) == ([1], [0, 1], 2)
    assert second.accept_probs == pytest.approx([0.2, 5 / 6], abs=1e-6)
    assert second.residual is None  # a bonus: nothing was drafted after token 1
    Numbers(monkeypatch, [0.21, 0.84])
    neither = SamplingTreeRule(generator).verify(draft, target)
    assert (neither.path, neither.accepted, neither.token_id) == ([], 0, 2)
    assert neither.residual is not None
    assert neither.residual.tolist() == pytest.approx([0, 0, 1])
    Numbers(monkeypatch, [0.19])
    first = SamplingTreeRule(generator).verify(draft, target)
    assert (first.path, first.judged, first.token_id) == ([0], [0], 0)


def test_a_point_mass_is_accepted_with_what_is_left_of_p(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together that is one draw of the target's own: .2 and then .3 of the .8 that are left."""
    draft = Draft([0, 1], None, parents=[-1, -1])
    Numbers(monkeypatch, [0.9, 0.9])
    found = SamplingTreeRule(torch.Generator()).verify(draft, rows([0.2, 0.3, 0.5], [1, 0, 0], [1, 0, 0]))
    assert found.accept_probs == pytest.approx([0.2, 0.375])
    assert found.token_id == 2


def test_greedy_goes_down_the_tree_to_where_no_child_is_the_targets_own() -> None:
    #        0:4      1:5            2:6     (after the text)
    #        3:4      4:2 5:3        6:1
    draft = Draft([4, 5, 6, 4, 2, 3, 1], rows(*[[0.0] * 7] * 7), parents=[-1, -1, -1, 0, 1, 1, 2])
    best = [5, 0, 3, 0, 0, 0, 6, 0]  # after the text, then after each node
    scores = torch.nn.functional.one_hot(torch.tensor(best), 7).float()
    found = GreedyTreeRule().verify(draft, scores)
    assert (found.path, found.judged, found.token_id) == ([1, 5], [0, 1, 4, 5], 6)
    assert found.accept_probs == [0.0, 1.0, 0.0, 1.0]
    assert found.rows == [0, 2, 6]


def test_an_empty_tree_is_one_step_of_the_target() -> None:
    nothing = Draft([], None, parents=[])
    assert GreedyTreeRule().verify(nothing, rows([0, 0, 1])).token_id == 2
    found = SamplingTreeRule(torch.Generator()).verify(nothing, rows([0, 1, 0]))
    assert (found.token_id, found.path, found.rows, found.residual) == (1, [], [0], None)


# ---- by distribution


@pytest.mark.parametrize("tree", SHAPES)
def test_a_sampled_tree_writes_the_targets_distribution(tree: str) -> None:
    assert p_value_of_loop(TARGET, ModelDrafter(DRAFT), PROMPT, settings_of(tree), runs=RUNS) > FALSE_ALARM


@pytest.mark.parametrize("how", [{"draft_sampling": "argmax"}, {"temperature": 1.3, "top_k": 4, "top_p": 0.9}])
@pytest.mark.parametrize("tree", ["4,2,1", "dynamic:12"])
def test_so_it_does_with_the_most_probable_tokens_and_after_top_k_and_top_p(tree: str, how: dict[str, object]) -> None:
    settings = settings_of(tree, **how)
    assert p_value_of_loop(TARGET, ModelDrafter(DRAFT), PROMPT, settings, runs=RUNS) > FALSE_ALARM


OTHERS: dict[str, Drafter] = {
    "eagle": HeadDrafter(tiny_head("eagle", TARGET)),
    "medusa": HeadDrafter(tiny_head("medusa", TARGET)),
    "early exit": EarlyExitDrafter(early_exit("early-exit:1", 1, TARGET)),
}


@pytest.mark.parametrize(("name", "tree"), [("eagle", "4,2,1"), ("medusa", "dynamic:12"), ("early exit", "4,2,1")])
def test_so_it_does_whoever_grows_the_tree(name: str, tree: str) -> None:
    settings = replace(settings_of(tree), draft_length=3)
    assert p_value_of_loop(TARGET, OTHERS[name], PROMPT, settings, runs=RUNS) > FALSE_ALARM


def test_under_a_constraint_it_writes_what_the_constrained_target_writes() -> None:
    drafter = ModelDrafter(DRAFT)
    found = p_value_of_loop(TARGET, drafter, PROMPT, settings_of("4,2,1"), runs=RUNS, constraint=OddOnly())
    assert found > FALSE_ALARM


class Judged(SamplingTreeRule):
    """A frame for wrong rules: it judges a draft that is not quite the one that was drawn."""

    def __init__(self, generator: torch.Generator, change: Callable[[Draft], Draft]) -> None:
        super().__init__(generator)
        self._change = change

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        return super().verify(self._change(draft), target_scores)


def with_q_of_the_first(draft: Draft) -> Draft:
    """WRONG: forgets that the later siblings were drawn without the earlier ones."""
    assert draft.draft_scores is not None
    first = [children[0] for children in children_of(draft) if children]
    firsts = {draft.parents[guess]: guess for guess in first} if draft.parents else {}
    scores = draft.draft_scores[[firsts[parent] for parent in draft.parents or []]]
    return Draft(draft.token_ids, scores, parents=draft.parents)


class StaysWithP(SamplingTreeRule):
    """WRONG: judges every sibling by p itself, as if the earlier ones had not been tried."""

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        assert draft.draft_scores is not None
        path: list[int] = []
        node = -1
        while True:
            p, found = target_scores[node + 1], None
            for child in children_of(draft)[node + 1]:
                token_id = draft.token_ids[child]
                q = float(draft.draft_scores[child, token_id])
                if float(torch.rand(1, generator=self._generator)) * q < float(p[token_id]):
                    found = child
                    break
            if found is None:
                token_id = int(torch.multinomial(p, 1, generator=self._generator))
                return Verification(len(path), token_id, [], path=path, judged=[])
            path.append(found)
            node = found


WRONG: dict[str, Callable[[torch.Generator], AcceptanceRule]] = {
    "q of the first sibling": lambda generator: Judged(generator, with_q_of_the_first),
    "p of the text": StaysWithP,
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_does_not(name: str) -> None:
    found = p_value_of_loop(TARGET, ModelDrafter(DRAFT), PROMPT, settings_of("7,2"), runs=RUNS, rule=WRONG[name])
    assert found < CERTAIN


def test_recorded_probabilities_are_the_rules_own() -> None:
    settings = settings_of("4,2,1", max_new_tokens=40, seed=3)
    rounds = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings).rounds
    for round in rounds:
        for place, token in enumerate(round.drafted):
            judged = token.status in ("accepted", "rejected")
            assert (token.accept_prob is not None) == (token.u is not None) == judged
            if token.u is not None and token.accept_prob is not None:
                assert (token.u < token.accept_prob) == (token.status == "accepted")
            first = not any(other.parent == token.parent for other in round.drafted[:place])
            if judged and first and token.target_prob is not None and token.draft_prob:  # later ones: what is left of p
                assert token.accept_prob == pytest.approx(min(1, token.target_prob / token.draft_prob), rel=1e-5)
        kinds = {"correction": bool, "bonus": lambda residual: not residual, "none": lambda residual: not residual}
        assert kinds[round.emitted.kind](round.emitted.residual_top)


def test_the_proof_judges_a_tree_with_the_lossless_rule_and_refuses_the_others_in_one_sentence() -> None:
    generator = torch.Generator()
    assert isinstance(rule_of_proof("lossless", settings_of("2,2"), generator), SamplingTreeRule)
    for name in (rule.name for rule in RULES):
        if name != "lossless":
            with pytest.raises(InputError, match=r"^The rules for comparison judge a chain: .*\.$"):
                rule_of_proof(name, settings_of("2,2"), generator)
