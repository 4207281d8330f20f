"""The catalogue: its numbers are those of the configurations it names, and nothing in it goes without a source."""

import json
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from specviz.core.theory import ideal_speedup
from specviz.models.catalogue import bundled_names, weight_bytes
from specviz.models.pairs import HUB_MODELS, NOT_MEASURED, PAIRS, known_names
from tests.support.commands import Cli, command_line


def pythia(layers: int, width: int, heads: int) -> dict[str, Any]:
    sizes = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": heads}
    return {"model_type": "gpt_neox", "vocab_size": 50304, "intermediate_size": 4 * width, **sizes}


def gpt2(layers: int, width: int, heads: int) -> dict[str, Any]:
    return {"model_type": "gpt2", "vocab_size": 50257, "n_layer": layers, "n_embd": width, "n_head": heads}


def llama_like(kind: str, vocabulary: int, layers: int, width: int, inner: int, heads: int, kv: int) -> dict[str, Any]:
    sizes = {"num_hidden_layers": layers, "hidden_size": width, "intermediate_size": inner}
    attention = {"num_attention_heads": heads, "num_key_value_heads": kv, "tie_word_embeddings": True}
    return {"model_type": kind, "vocab_size": vocabulary, **sizes, **attention}


# What the models' own config.json say
CONFIGS = {
    "EleutherAI/pythia-14m": pythia(6, 128, 4),
    "EleutherAI/pythia-70m": pythia(6, 512, 8),
    "EleutherAI/pythia-160m": pythia(12, 768, 12),
    "EleutherAI/pythia-410m": pythia(24, 1024, 16),
    "distilbert/distilgpt2": gpt2(6, 768, 12),
    "openai-community/gpt2": gpt2(12, 768, 12),
    "openai-community/gpt2-medium": gpt2(24, 1024, 16),
    "openai-community/gpt2-large": gpt2(36, 1280, 20),
    "HuggingFaceTB/SmolLM2-135M": llama_like("llama", 49152, 30, 576, 1536, 9, 3),
    "HuggingFaceTB/SmolLM2-360M": llama_like("llama", 49152, 32, 960, 2560, 15, 5),
    "Qwen/Qwen2.5-0.5B": llama_like("qwen2", 151936, 24, 896, 4864, 14, 2),
    "Qwen/Qwen2.5-1.5B": llama_like("qwen2", 151936, 28, 1536, 8960, 12, 2),
}


@pytest.mark.parametrize("model", HUB_MODELS, ids=lambda model: model.name)
def test_the_numbers_of_a_hub_model_follow_from_its_configuration(model: Any) -> None:
    config = AutoConfig.for_model(**CONFIGS[model.name])
    with torch.device("meta"):
        made = AutoModelForCausalLM.from_config(config)
    assert model.parameters == made.num_parameters()
    assert (model.layers, model.vocabulary) == (config.num_hidden_layers, config.vocab_size)


def test_every_pair_is_of_known_models_and_every_statement_has_a_source() -> None:
    assert len({(pair.target, pair.draft) for pair in PAIRS}) == len(PAIRS)
    for pair in PAIRS:
        assert {pair.target, pair.draft} <= set(known_names())
        for statement in pair.statements:
            assert statement.text.endswith(".")
            assert statement.source == NOT_MEASURED or len(statement.source) > 10


def test_there_is_something_to_learn_on_every_machine() -> None:
    bundled = [pair.lesson for pair in PAIRS if {pair.target, pair.draft} <= set(bundled_names())]
    assert set(bundled) == {"pays", "no better", "does not pay"}
    assert {pair.place for pair in PAIRS} >= {"anywhere", "4 GB", "GPU"}
    for pair in PAIRS:
        room = {"anywhere": 1e8, "4 GB": 4e9, "8 GB": 8e9, "GPU": 16e9}[pair.place]
        assert weight_bytes(pair.parameters, "float32") < 0.9 * room


def test_the_modelled_figure_is_the_papers_formula() -> None:
    best = max(ideal_speedup(0.8, length, 0.5) for length in range(1, 17))
    stated = [s.text for pair in PAIRS for s in pair.statements if s.source.startswith("modelled")]
    assert len(stated) == 1
    assert f"at most {best:.2f}." in stated[0]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cli:
    return command_line(capsys)


def test_the_command_line_lists_models_and_pairs_with_their_sizes(run: Cli) -> None:
    status, shown, err = run("models")
    assert (status, err) == (0, "")
    assert "405.33 M" in shown
    assert (
        "EleutherAI/pythia-410m + EleutherAI/pythia-70m: open (4 GB; 1.90 GB in float32, 952 MB in bfloat16)" in shown
    )
    assert f"[{NOT_MEASURED}]" in shown
    listed = json.loads(run("models", "--json", "-")[1])
    assert [pair["target"] for pair in listed["pairs"]] == [pair.target for pair in PAIRS]
    entry = next(model for model in listed["catalogue"] if model["name"] == "openai-community/gpt2")
    assert entry["memory_bytes"] == {"float32": 4 * 124_439_808, "bfloat16": 2 * 124_439_808}
