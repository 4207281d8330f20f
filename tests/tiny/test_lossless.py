"""Every lossless way to draft and to verify writes the target's own distribution; every lossy one does not.

Chi-squared over the joint distribution of three tokens, see `tests.support.joint`. The drafts are three or four tokens
long, so that block verification judges more than the tokens that are counted. The pairs were not searched for: a draft
has the seed of its target and shares its first layer, so that it agrees now and then.

The odds of a false alarm are 1 in 10,000 for each cell with new seeds, so about 1 in 70 for the full grid; with these
seeds it is decided for ever. What is lossy fails by far: with odds below 1 in 10⁹.
"""

from functools import partial
from itertools import product

import pytest
import torch
from hypothesis import settings as hypothesis_settings

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter
from specviz.decoding import make_constraint, verification
from specviz.decoding.sampler import LogitsConstraint
from specviz.decoding.verification import SamplingTreeRule
from specviz.measure.proof.other_rules import rule_of_proof
from specviz.measure.proof.rows import RULES as PROOF_RULES
from specviz.measure.proof.rows import RuleName
from tests.support.grids import grid
from tests.support.joint import FALSE_ALARM, OddAndNew, p_value_of_loop
from tests.support.tiny_grammar import LANGUAGE, lettered
from tests.support.ways import CHAINS_ONLY, pair_of
from tests.support.ways import DRAFTERS as KINDS

PROMPT = [1, 2, 1, 2, 1]  # so that prompt lookup has something to find
RUNS, FEW_RUNS = 1000, 400  # few in the quick tests
CERTAIN = 1e-9

DRAFTERS: dict[str, dict[str, str]] = {kind: {} for kind in KINDS} | {  # and what is special in the settings
    "most probable tokens": {"draft_sampling": "argmax"},
    "unsure drafts": {"draft_schedule": "confidence"},
    "growing drafts": {"draft_schedule": "heuristic"},
}
RULES: dict[str, dict[str, object]] = {
    "token": {},
    "block": {"verification": "block"},
    "4,2,1": {"tree": "4,2,1", "draft_length": 3},
    "dynamic:12": {"tree": "dynamic:12"},
    "7,2": {"tree": "7,2", "draft_length": 2},
}
SAMPLING: dict[str, dict[str, float]] = {
    "T=1": {"temperature": 1.0},
    "T=0.7 k=4": {"temperature": 0.7, "top_k": 4},
    "T=1.3 p=0.8": {"temperature": 1.3, "top_p": 0.8},
    "T=1.3 k=5 p=0.9": {"temperature": 1.3, "top_k": 5, "top_p": 0.9},
}
SMALL = {  # each rule, each way to sample, and what was wrong once; the others: only the full grid
    *(("model", rule, "T=1") for rule in ("token", "block", "dynamic:12")),
    *((drafter, "token", "T=0.7 k=4") for drafter in ("unsure drafts", "lookup", "medusa")),
    ("growing drafts", "block", "T=1.3 p=0.8"),
    ("lookup, else model", "block", "T=0.7 k=4"),
    ("eagle", "4,2,1", "T=1.3 k=5 p=0.9"),
}
CELLS = [
    (drafter, rule, sampling)
    for drafter in DRAFTERS
    for rule in RULES
    for sampling in SAMPLING
    if drafter not in (*CHAINS_ONLY, "unsure drafts", "growing drafts") or "tree" not in RULES[rule]
]


def settings_of(drafter: str = "model", rule: str = "token", sampling: str = "T=1") -> DecodeSettings:
    return DecodeSettings(**({"draft_length": 4} | DRAFTERS[drafter] | RULES[rule] | SAMPLING[sampling]))  # type: ignore[arg-type]


def test_the_small_grid_has_every_way_to_sample() -> None:
    assert set(CELLS) >= SMALL
    assert {sampling for _, _, sampling in SMALL} == set(SAMPLING)


@pytest.mark.parametrize(("drafter", "rule", "sampling"), grid(CELLS, SMALL))
def test_sampled_text_is_distributed_as_the_targets(drafter: str, rule: str, sampling: str) -> None:
    pair = pair_of(drafter if drafter in KINDS else "model")
    quick = hypothesis_settings().max_examples < 50  # the profile of make test
    runs = FEW_RUNS if quick else RUNS
    assert p_value_of_loop(*pair, PROMPT, settings_of(drafter, rule, sampling), runs=runs) > FALSE_ALARM


CONSTRAINED = [*product(("model", "lookup"), ("token", "block")), ("model", "4,2,1")]  # prompt lookup grows no trees


@pytest.mark.parametrize(("drafter", "rule"), grid(CONSTRAINED, CONSTRAINED[:1]))
def test_under_a_constraint_it_is_distributed_as_the_constrained_targets(drafter: str, rule: str) -> None:
    """A grammar, with drafts that agree and disagree; and a bare rule about ids, which nothing but a mask knows."""
    target, draft = lettered(2), lettered(1)
    pair = PromptLookupDrafter() if drafter == "lookup" else ModelDrafter(draft)
    constraints: list[LogitsConstraint] = [make_constraint(target, LANGUAGE, PROMPT), OddAndNew()]
    for constraint in constraints:
        settings = settings_of(drafter, rule)
        found = p_value_of_loop(target, pair, PROMPT, settings, runs=RUNS, constraint=constraint)
        assert found > FALSE_ALARM


LOSSY: list[RuleName] = ["no-residual", "wrong-block", "typical", "ensemble", "lenient", "top-k"]


@pytest.mark.parametrize("name", grid(LOSSY, LOSSY[:1]))
def test_a_lossy_rule_is_seen(name: RuleName) -> None:
    rule = partial(rule_of_proof, name, settings_of())
    assert p_value_of_loop(*pair_of("model"), PROMPT, settings_of(), runs=RUNS, rule=rule) < CERTAIN


def test_a_tree_rule_that_judges_each_sibling_by_all_of_p_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "residual", lambda p, draft, child: p)
    assert p_value_of_loop(*pair_of("model"), PROMPT, settings_of(rule="7,2"), runs=RUNS) < CERTAIN


def test_the_proof_judges_a_tree_with_the_lossless_rule_and_refuses_the_others_in_one_sentence() -> None:
    generator, settings = torch.Generator(), settings_of(rule="4,2,1")
    assert isinstance(rule_of_proof("lossless", settings, generator), SamplingTreeRule)
    for name in (rule.name for rule in PROOF_RULES if rule.name != "lossless"):
        with pytest.raises(InputError, match=r"^The rules for comparison judge a chain: .*\.$"):
            rule_of_proof(name, settings, generator)
