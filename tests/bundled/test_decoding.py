"""Bundled models in bfloat16, and the heads that come with them. Nothing here depends on their weights."""

import pytest

from specviz import DecodeSettings, ModelDrafter, load_model, speculative_decode
from specviz.core.trace import dump_trace, parse_trace
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import make_drafter
from specviz.models.catalogue import head_folder, weights_hash
from specviz.models.heads import load_head
from specviz.models.loaded_model import LoadedModel
from tests.support.records import tree_run

STORY = WORKLOADS[0].prompts[0].text
HEADS = ("wren-eagle", "wren-medusa", "lookup-wren-eagle")


@pytest.mark.parametrize("name", ["wren-nano", *HEADS])
def test_bfloat16_runs_write_valid_traces_that_name_their_drafter(name: str) -> None:
    half = load_model("wren-base", "bfloat16")
    drafter = ModelDrafter(load_model(name, "bfloat16")) if name == "wren-nano" else make_drafter(name, half)
    settings = DecodeSettings(max_new_tokens=16, temperature=0.8, stop_at_eos=False)
    trace = speculative_decode(half, drafter, STORY, settings)
    assert parse_trace(dump_trace(trace)) == trace
    said = (trace.target.dtype, trace.drafter.dtype, trace.drafter.name)
    assert said == ("bfloat16", "float32" if name in HEADS else "bfloat16", name)


@pytest.mark.parametrize("name", HEADS)
def test_a_head_is_the_one_in_its_folder_and_shares_its_targets_output_embedding(
    target: LoadedModel, name: str
) -> None:
    head = load_head(name, target)
    assert make_drafter(name, target).info.weights_hash == weights_hash(head_folder(name))
    output = head.network.output if name == "wren-medusa" else head.network.body.output  # type: ignore[union-attr]
    assert output is target.llama.output


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
