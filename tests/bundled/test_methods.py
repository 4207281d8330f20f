"""Every way to draft that needs no training, on the bundled target: greedy text is that of `generate`, id for id."""

import pytest
import torch

from specviz import DecodeSettings, autoregressive_decode, speculative_decode
from specviz.core.metrics import first_difference
from specviz.data.workloads import WORKLOADS
from specviz.decoding import make_drafter
from specviz.measure.compare import quality
from specviz.models.loaded_model import LoadedModel

KINDS = ("story", "code", "structured", "prose")
PROMPTS = {workload.name: workload.prompts[0].text for workload in WORKLOADS if workload.name in KINDS}
CHAINS: list[tuple[int, str | None]] = [(1, None), (3, None), (7, None)]
TREES: list[tuple[int, str | None]] = [(2, "2,2"), (3, "4,2,1"), (4, "dynamic:9")]
WAYS = {
    "wren-nano": [*CHAINS, *TREES],
    "early-exit:1": [*CHAINS, *TREES],
    "early-exit:4": CHAINS,
    "prompt-lookup": CHAINS,
}
TOKENS = 24


pytestmark = pytest.mark.usefixtures("one_thread")


def test_greedy_output_is_that_of_generate_for_every_method_kind_length_and_tree(target: LoadedModel) -> None:
    """One difference is allowed, between near-equal tokens: passes of other widths round differently."""
    drafters = {name: make_drafter(name, target) for name in WAYS}
    ties: list[tuple[str, str, int, str | None, str]] = []
    for kind, prompt in PROMPTS.items():
        plain = autoregressive_decode(target, prompt, DecodeSettings(max_new_tokens=TOKENS))
        ids = torch.tensor([plain.prompt.token_ids])
        written = target.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=TOKENS, do_sample=False
        )
        expected = written[0, ids.shape[1] :].tolist()
        for name, drafter in drafters.items():
            for length, tree in WAYS[name]:
                settings = DecodeSettings(max_new_tokens=TOKENS, draft_length=length, tree=tree)
                trace = speculative_decode(target, drafter, prompt, settings, record=False)
                if first_difference(trace.output.token_ids, expected) is not None:
                    ties.append((kind, name, length, tree, quality(target, trace, plain)["explained"]))
    assert len(PROMPTS) == len(KINDS)
    assert all(explained == "rounding" for *_, explained in ties), ties
    assert len(ties) <= 1, ties


@pytest.mark.parametrize("name", ["wren-nano", "early-exit:4"])
def test_block_verification_accepts_and_writes_a_valid_run(target: LoadedModel, name: str) -> None:
    settings = DecodeSettings(max_new_tokens=24, temperature=0.8, draft_length=5, verification="block", seed=2)
    trace = speculative_decode(target, make_drafter(name, target), PROMPTS["story"], settings)
    judged = [token for round in trace.rounds for token in round.drafted if token.status != "discarded"]
    assert judged
    assert all(token.accept_prob is not None and token.u is not None for token in judged)
