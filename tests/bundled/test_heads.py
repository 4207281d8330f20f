"""The bundled heads on the bundled target: greedy text is the target's own, and other targets are refused."""

from typing import Any

import pytest
import torch

from scripts.write_cards import with_section
from scripts.write_head_cards import measured_sections
from specviz import DecodeSettings, InputError, autoregressive_decode, load_model, speculative_decode
from specviz.cli.main import main
from specviz.core.metrics import count, first_difference
from specviz.core.trace import dump_trace, parse_trace
from specviz.data.workloads import WORKLOADS
from specviz.decoding import make_drafter
from specviz.measure.calibration import calibrate
from specviz.measure.compare import quality
from specviz.measure.proof.draws import Draws, draw_batches
from specviz.measure.proof.greedy import greedy_row
from specviz.models.catalogue import MODELS_FOLDER, bundled_heads, check_heads, head_names, weights_hash
from specviz.models.forward import LightForward
from specviz.models.head_files import load_head
from specviz.models.loaded_model import LoadedModel

HEADS = ("wren-eagle", "wren-medusa")
KINDS = ("story", "code", "structured", "prose")
PROMPTS = {workload.name: workload.prompts[0].text for workload in WORKLOADS if workload.name in KINDS}
WAYS = [(1, None), (3, None), (7, None), (2, "2,2"), (3, "4,2,1"), (4, "dynamic:9")]


pytestmark = pytest.mark.usefixtures("one_thread")


def test_both_are_listed_with_their_target() -> None:
    assert [(head.name, head.kind, head.target) for head in bundled_heads()] == [
        ("wren-eagle", "eagle", "wren-base"),
        ("wren-medusa", "medusa", "wren-base"),
    ]


def test_greedy_output_is_that_of_generate_for_every_kind_length_and_tree(target: LoadedModel) -> None:
    """One difference is allowed, between near-equal tokens: passes of other widths round differently."""
    ties: list[tuple[str, str, int, str | None, str]] = []
    for kind, prompt in PROMPTS.items():
        plain = autoregressive_decode(target, prompt, DecodeSettings(max_new_tokens=32))
        ids = torch.tensor([plain.prompt.token_ids])
        generate: Any = target.model.generate
        written = generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=32, do_sample=False)
        expected = written[0, ids.shape[1] :].tolist()
        for name in HEADS:
            drafter = make_drafter(name, target)
            for length, tree in WAYS:
                settings = DecodeSettings(max_new_tokens=32, draft_length=length, tree=tree)
                trace = speculative_decode(target, drafter, prompt, settings, record=False)
                if first_difference(trace.output.token_ids, expected) is not None:
                    ties.append((kind, name, length, tree, quality(target, trace, plain)["explained"]))
    assert len(PROMPTS) == len(KINDS)
    assert all(explained == "rounding" for *_, explained in ties), ties
    assert len(ties) <= 1, ties


@pytest.mark.parametrize("name", HEADS)
def test_a_run_is_a_valid_trace_that_names_the_head(target: LoadedModel, name: str) -> None:
    drafter = make_drafter(name, target)
    settings = DecodeSettings(max_new_tokens=24, temperature=0.8, seed=3)
    trace = speculative_decode(target, drafter, PROMPTS["story"], settings)
    assert parse_trace(dump_trace(trace)) == trace
    assert trace.drafter is not None
    (listed,) = [head for head in bundled_heads() if head.name == name]
    said = (trace.drafter.kind, trace.drafter.name, trace.drafter.parameters, trace.drafter.weights_hash)
    assert said == (listed.kind, name, listed.parameters, weights_hash(listed.folder))
    assert count(trace.rounds).accepted > 0


@pytest.mark.parametrize("name", HEADS)
def test_a_bfloat16_target_takes_a_float32_head(name: str) -> None:
    half = load_model("wren-base", "bfloat16")
    settings = DecodeSettings(max_new_tokens=16, stop_at_eos=False)
    trace = speculative_decode(half, make_drafter(name, half), PROMPTS["story"], settings)
    assert trace.drafter is not None
    assert (trace.target.dtype, trace.drafter.dtype) == ("bfloat16", "float32")
    assert count(trace.rounds).accepted > 0


@pytest.mark.parametrize("name", HEADS)
def test_it_is_refused_for_another_bundled_target(name: str) -> None:
    with pytest.raises(InputError, match=rf"^{name} drafts from the hidden states of wren-base, .* wren-mini\.$"):
        make_drafter(name, load_model("wren-mini"))


def test_the_output_embedding_is_the_targets_own(target: LoadedModel) -> None:
    assert isinstance(target.forward, LightForward)
    for name in head_names():
        network = load_head(name, target).network
        output = network.body.output if name == "wren-eagle" else network.output  # type: ignore[union-attr]
        assert output is target.forward.llama.output


@pytest.mark.parametrize("name", HEADS)
def test_the_card_says_which_weights_it_is_about_and_what_was_measured(name: str) -> None:
    (listed,) = [head for head in bundled_heads() if head.name == name]
    card = (listed.folder / "README.md").read_text(encoding="utf-8")
    said = " ".join(card.split())
    assert f"{listed.parameters:,} parameters" in said
    assert weights_hash(listed.folder) in said
    assert weights_hash(MODELS_FOLDER / listed.target) in said
    for title, body in measured_sections(name).items():
        assert with_section(card, title, body) == card, f"{title}: python -m scripts.write_head_cards"


def test_a_head_cannot_be_the_target_nor_draft_for_a_model_that_is_not_loaded_yet() -> None:
    with pytest.raises(InputError, match=r"^wren-medusa is a head: it drafts for wren-base and cannot be the target"):
        check_heads("wren-medusa", "wren-nano")
    with pytest.raises(InputError, match="cannot draft for somebody/else"):
        check_heads("somebody/else", "wren-eagle")


@pytest.mark.parametrize("name", HEADS)
def test_the_command_line_runs_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pair = ["--target", "wren-base", "--draft", name, "--prompt", PROMPTS["story"], "--max-new-tokens", "12"]
    assert main(["run", *pair, "--json", "-"]) == 0
    trace = parse_trace(capsys.readouterr().out)
    assert trace.drafter is not None
    assert trace.drafter.name == name


def test_the_command_line_refuses_another_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--target", "wren-mini", "--draft", "wren-eagle", "--prompt", "Once"]) == 2
    said = capsys.readouterr().err
    assert "wren-eagle drafts from the hidden states of wren-base, so it cannot draft for wren-mini." in said


def test_calibration_measures_what_a_head_costs(target: LoadedModel) -> None:
    costs = calibrate(target, load_head("wren-eagle", target), repeats=1)
    assert (costs.draft, costs.draft_dtype) == ("wren-eagle", "float32")
    assert costs.cost_ratio > 0


@pytest.mark.parametrize("name", HEADS)
def test_a_proof_can_draw_with_it(target: LoadedModel, name: str) -> None:
    settings = DecodeSettings(temperature=1.0, draft_length=3)
    draws = Draws(target, load_head(name, target), PROMPTS["story"], settings, "lossless", "second")
    (batch,) = [found for found in draw_batches(draws, 0, 20, [0]) if found]
    assert sum(batch.speculative) == 20
    acceptance = draws.acceptance()
    assert acceptance is not None
    assert 0 < acceptance[0] < acceptance[1] <= 1


def test_greedy_decoding_is_compared_with_it(target: LoadedModel) -> None:
    rows = greedy_row(target, load_head("wren-eagle", target), PROMPTS["story"], DecodeSettings(16), lambda: target)
    (row,) = [row for row in rows if row]
    assert row.identical
