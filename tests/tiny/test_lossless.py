"""Every lossless way to draft and to verify writes the target's own distribution; every lossy one does not.

Chi-squared over the joint distribution of three tokens, see `tests.support.joint`. The drafts are four tokens long, so
that block verification judges more than the tokens that are counted. The pair was not searched for: the target's seed
is the one of test_decoding.py, and the draft shares its first layer.

The odds of a false alarm are 1 in 10,000 for each test with new seeds, so about 1 in 1,000 for all of them together;
with these seeds it is decided for ever. What is lossy fails by far: with odds below 1 in 10⁹.
"""

import pytest

from specviz import DecodeSettings, ModelDrafter, PromptLookupDrafter
from specviz.core.settings import VERIFICATIONS, VerificationMode
from specviz.decoding import Drafter, HeadDrafter
from specviz.decoding.drafters.early_exit import EarlyExitDrafter
from specviz.measure.proof.other_rules import make_other_rule
from specviz.measure.proof.rule_names import RuleName
from specviz.models.early_exit import early_exit
from tests.support.joint import FALSE_ALARM, OddOnly, p_value_of_loop
from tests.support.tiny_heads import tiny_head
from tests.support.tiny_models import tiny_model

TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")
PROMPT = [1, 2, 1, 2, 1]  # so that prompt lookup has something to find
RUNS = 1000
CERTAIN = 1e-9

METHODS: dict[str, tuple[Drafter, dict[str, str]]] = {
    "model": (ModelDrafter(DRAFT), {}),
    "most probable tokens": (ModelDrafter(DRAFT), {"draft_sampling": "argmax"}),
    "unsure drafts": (ModelDrafter(DRAFT), {"draft_schedule": "confidence"}),
    "lookup": (PromptLookupDrafter(), {}),
    "early exit": (EarlyExitDrafter(early_exit("early-exit:1", 1, TARGET)), {}),
    "eagle": (HeadDrafter(tiny_head("eagle", TARGET)), {}),
    "medusa": (HeadDrafter(tiny_head("medusa", TARGET)), {}),
}


@pytest.mark.parametrize("verification", VERIFICATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_a_lossless_method_writes_the_targets_distribution(method: str, verification: VerificationMode) -> None:
    drafter, how = METHODS[method]
    settings = DecodeSettings(temperature=1.0, draft_length=4, verification=verification, **how)  # type: ignore[arg-type]
    assert p_value_of_loop(TARGET, drafter, PROMPT, settings, runs=RUNS) > FALSE_ALARM


def test_block_verification_is_lossless_after_top_k_and_top_p_too() -> None:
    settings = DecodeSettings(temperature=1.3, top_k=5, top_p=0.9, draft_length=4, verification="block")
    assert p_value_of_loop(TARGET, ModelDrafter(DRAFT), PROMPT, settings, runs=RUNS) > FALSE_ALARM


LOSSY: list[RuleName] = ["wrong-block", "typical", "ensemble", "no-residual", "lenient", "top-k"]


@pytest.mark.parametrize("name", LOSSY)
def test_a_lossy_rule_does_not(name: RuleName) -> None:
    settings = DecodeSettings(temperature=1.0, draft_length=4)
    found = p_value_of_loop(
        TARGET,
        ModelDrafter(DRAFT),
        PROMPT,
        settings,
        runs=RUNS,
        rule=lambda generator: make_other_rule(name, generator),
    )
    assert found < CERTAIN


@pytest.mark.parametrize("how", [{"verification": "block"}, {"draft_sampling": "argmax"}], ids=["block", "argmax"])
def test_under_a_constraint_they_write_what_the_constrained_target_writes(how: dict[str, str]) -> None:
    settings = DecodeSettings(temperature=1.0, draft_length=4, **how)  # type: ignore[arg-type]
    found = p_value_of_loop(TARGET, ModelDrafter(DRAFT), PROMPT, settings, runs=RUNS, constraint=OddOnly())
    assert found > FALSE_ALARM
