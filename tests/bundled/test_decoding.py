"""Bundled models in bfloat16, and the heads that come with them. Nothing here depends on their weights."""

import pytest

from specviz import DecodeSettings, ModelDrafter, load_model, speculative_decode
from specviz.core.metrics import count
from specviz.core.steps import result_of
from specviz.core.trace import dump_trace, parse_trace
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import make_drafter
from specviz.measure.calibration import calibrate
from specviz.measure.proof.draws import greedy_row
from specviz.models.catalogue import bundled_heads, head_folder, weights_hash
from specviz.models.heads import load_head
from specviz.models.loaded_model import Dtype, LoadedModel
from tests.support.grids import grid
from tests.support.known import known
from tests.support.records import tree_run

STORY = WORKLOADS[0].prompts[0].text
HEADS = ("wren-eagle", "wren-medusa", "lookup-wren-eagle")


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


@pytest.mark.parametrize(("target", "draft"), [("float32", "bfloat16"), ("bfloat16", "float32")])
def test_with_bfloat16_the_replay_says_that_it_may_differ(target: Dtype, draft: Dtype) -> None:
    """Passes over one, two or nine tokens round differently, so another draft length may write another text."""
    drafter = ModelDrafter(load_model("wren-nano", draft))
    assert not known(result_of(drafter.guess_along(load_model("wren-base", target), [5, 6], [7, 8, 9]))).exact


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


@pytest.mark.parametrize("name", grid(HEADS, ("wren-eagle",)))
def test_a_head_is_calibrated_and_put_to_the_proof(target: LoadedModel, name: str) -> None:
    head = load_head(name, target)
    measured = calibrate(target, head, turns=1)
    assert (measured.draft, measured.draft_dtype, measured.costs.cost_ratio > 0) == (name, "float32", True)
    (row,) = [row for row in greedy_row(target, head, STORY, DecodeSettings(16), target) if row]
    assert row.identical


def test_a_recorded_run_is_decoded_again(target: LoadedModel, nano: LoadedModel) -> None:
    """Tests without models draw and count it. With other weights: `specviz run` with its prompt and its settings."""
    recorded = tree_run()
    again = speculative_decode(target, ModelDrafter(nano), recorded.prompt.text, recorded.settings)
    judged, told = (
        [[(token.id, token.status, token.parent) for token in round.drafted] for round in trace.rounds]
        for trace in (again, recorded)
    )
    assert judged == told
    assert again.output == recorded.output
