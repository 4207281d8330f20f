"""The bundled models decode as transformers does, id for id, whoever drafts; nothing here depends on their weights."""

from functools import cache
from itertools import cycle

import pytest

from specviz import DecodeSettings, ModelDrafter, autoregressive_decode, load_model, speculative_decode
from specviz.core.metrics import count, first_difference
from specviz.core.trace import dump_trace, parse_trace
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import make_drafter
from specviz.measure.calibration import calibrate
from specviz.measure.compare import quality
from specviz.measure.proof.draws import Draws, draw_batches, greedy_row
from specviz.models.catalogue import bundled_heads, head_folder, weights_hash
from specviz.models.heads import load_head
from specviz.models.loaded_model import LoadedModel
from tests.support.tiny_models import greedy_of_transformers

TOKENS = 24
PROMPTS = [workload.prompts[0].text for workload in WORKLOADS]
STORY = PROMPTS[0]
CHAINS: list[tuple[int, str | None]] = [(1, None), (4, None), (16, None)]
TREES: list[tuple[int, str | None]] = [(2, "2,2"), (3, "4,2,1"), (4, "dynamic:9")]
CELLS = [
    *((name, *way) for name in ("wren-nano", "early-exit:1", "wren-eagle", "wren-medusa") for way in CHAINS + TREES),
    *((name, *way) for name in ("wren-mini", "early-exit:4", "prompt-lookup") for way in CHAINS),
]
HEADS = ("wren-eagle", "wren-medusa", "lookup-wren-eagle")


@cache
def expected(prompt: str) -> list[int]:
    target = load_model("wren-base")
    return greedy_of_transformers(target, target.tokenizer(prompt)["input_ids"], TOKENS)


def test_greedy_text_is_that_of_generate_for_every_drafter_length_and_tree(target: LoadedModel) -> None:
    """One difference is allowed, between near-equal tokens: passes of other widths round differently."""
    for prompt in PROMPTS[:4]:
        plain = autoregressive_decode(target, prompt, DecodeSettings(max_new_tokens=TOKENS))
        assert plain.output.token_ids == expected(prompt)
    ties = []
    for (name, length, tree), prompt in zip(CELLS, cycle(PROMPTS), strict=False):
        settings = DecodeSettings(max_new_tokens=TOKENS, draft_length=length, tree=tree)
        trace = speculative_decode(target, make_drafter(name, target), prompt, settings, record=False)
        if first_difference(trace.output.token_ids, expected(prompt)) is not None:
            plain = autoregressive_decode(target, prompt, settings)
            ties.append((prompt, name, length, tree, quality(target, trace, plain).explained))
    assert all(tie[-1] == "rounding" for tie in ties), ties
    assert len(ties) <= 1, ties


@pytest.mark.parametrize("name", ["wren-nano", *HEADS])
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_bfloat16_runs_write_valid_traces_that_name_their_drafter(name: str, temperature: float) -> None:
    half = load_model("wren-base", "bfloat16")
    drafter = ModelDrafter(load_model(name, "bfloat16")) if name == "wren-nano" else make_drafter(name, half)
    settings = DecodeSettings(max_new_tokens=16, temperature=temperature, stop_at_eos=False)
    trace = speculative_decode(half, drafter, STORY, settings)
    assert parse_trace(dump_trace(trace)) == trace
    said = (trace.target.dtype, trace.drafter.dtype, trace.drafter.name)
    assert said == ("bfloat16", "float32" if name in HEADS else "bfloat16", name)
    assert len(trace.output.token_ids) == 16
    assert count(trace.rounds).accepted > 0


def test_end_of_text_ends_the_run_where_transformers_ends_it(target: LoadedModel, nano: LoadedModel) -> None:
    prompt, settings = "They lived happily ever after. The end.", DecodeSettings(max_new_tokens=48)
    trace = speculative_decode(target, ModelDrafter(nano), prompt, settings)
    written = trace.output.token_ids
    assert written == greedy_of_transformers(target, trace.prompt.token_ids, 48)
    assert [token in target.end_ids for token in written] == [False] * (len(written) - 1) + [True], "it does not end"
    assert "<|endoftext|>" not in trace.output.text


def test_heads_are_listed_with_their_target_and_share_its_output_embedding(target: LoadedModel) -> None:
    assert [(head.name, head.kind, head.target) for head in bundled_heads().values()] == [
        ("smol-eagle", "eagle", "smollm2"),
        ("wren-eagle", "eagle", "wren-base"),
        ("wren-medusa", "medusa", "wren-base"),
        ("lookup-smol-eagle", "lookup-eagle", "smollm2"),
        ("lookup-wren-eagle", "lookup-eagle", "wren-base"),
    ]
    for name in HEADS:
        head = load_head(name, target)
        assert make_drafter(name, target).info.weights_hash == weights_hash(head_folder(name))
        output = head.network.output if name == "wren-medusa" else head.network.body.output  # type: ignore[union-attr]
        assert output is target.llama.output


@pytest.mark.parametrize("name", HEADS)
def test_a_head_is_calibrated_and_put_to_the_proof(target: LoadedModel, name: str) -> None:
    head = load_head(name, target)
    costs = calibrate(target, head, turns=1)
    assert (costs.draft, costs.draft_dtype, costs.cost_ratio > 0) == (name, "float32", True)
    settings = DecodeSettings(temperature=1.0, draft_length=3)
    draws = Draws(target, head, STORY, settings, "lossless", "second")
    (batch,) = [found for found in draw_batches(draws, 0, 20, [0]) if found]
    assert sum(batch.speculative) == 20
    (row,) = [row for row in greedy_row(target, head, STORY, DecodeSettings(16), target) if row]
    assert row.identical
