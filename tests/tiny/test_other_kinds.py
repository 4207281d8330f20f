"""What is published beside models, and models that lack something: each gets a sentence that says what it is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from specviz import DecodeSettings, InputError, PromptLookupDrafter
from specviz.measure.compare import PairedRuns
from specviz.measure.sweep.measure import sweep
from specviz.measure.sweep.plan import SweepPair, SweepPlan
from specviz.measure.sweep.prompt_files import read_prompts
from specviz.models.loading import inspect_model
from tests.support.strategies import assert_one_sentence
from tests.support.tiny_models import save, tiny_model, tokenizer_of, with_tokenizer

Weights = dict[str, Tensor]
NAMES = ("model.layers.0.", "model.layers.1.")


def change(folder: Path, weights: Callable[[Weights], Weights], **config: object) -> str:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | config))
    save_file(weights(load_file(folder / "model.safetensors")), folder / "model.safetensors")
    return str(folder)


def refused(name: str) -> str:
    with pytest.raises(InputError) as found:
        inspect_model(name)
    assert_one_sentence(str(found.value).replace(name, "It"))
    assert str(found.value).startswith(name)
    return str(found.value)


def eagle(weights: Weights) -> Weights:
    """As EAGLE's authors publish it: one layer, its input layer, and no output embedding."""
    one = {name.removeprefix("model."): weight for name, weight in weights.items() if NAMES[0] in name}
    return one | {"embed_tokens.weight": weights["model.embed_tokens.weight"], "fc.weight": torch.ones(16, 32)}


def eagle_3(weights: Weights) -> Weights:
    one = {name.replace(NAMES[0], "midlayer."): weight for name, weight in weights.items() if NAMES[0] in name}
    tables = {"d2t": torch.zeros(7, dtype=torch.int64), "t2d": torch.ones(7, dtype=torch.bool)}
    return one | tables | {"fc.weight": torch.ones(16, 48), "lm_head.weight": weights["lm_head.weight"]}


def medusa(_: Weights) -> Weights:
    return {f"{head}.0.linear.weight": torch.ones(16, 16) for head in range(4)}


@pytest.mark.parametrize(
    ("weights", "config", "shown"),
    [
        (eagle, {"num_hidden_layers": 1}, "(fc.weight)"),
        (eagle_3, {"num_hidden_layers": 1}, "(d2t)"),
        (eagle_3, {"architectures": ["LlamaForCausalLMEagle3"]}, "(LlamaForCausalLMEagle3)"),
        (medusa, {}, "(0.0.linear.weight)"),
    ],
)
def test_a_published_head_is_called_one(
    weights: Callable[[Weights], Weights], config: dict[str, object], shown: str, folder: Path
) -> None:
    sentence = refused(change(folder, weights, **config))
    assert "is a head such as EAGLE or Medusa" in sentence
    assert shown in sentence
    assert "use a draft model, or wren-eagle and wren-medusa with wren-base" in sentence


def mlx(weights: Weights) -> Weights:
    """Eight numbers of four bits in one, and a scale and a bias for each group."""
    made: Weights = {}
    for name, weight in weights.items():
        if weight.dim() == 1:
            made[name] = weight
            continue
        stem, rows = name.removesuffix(".weight"), len(weight)
        made[name] = torch.zeros(rows, weight.shape[1] // 8, dtype=torch.uint32)
        made |= {f"{stem}.{part}": torch.ones(rows, 1) for part in ("scales", "biases")}
    return made


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        ({"quantization": {"group_size": 64, "bits": 4}}, "quantization"),
        ({}, "lm_head.scales"),
    ],
)
def test_mlxs_four_bits_are_called_quantized(config: dict[str, object], shown: str, folder: Path) -> None:
    sentence = refused(change(folder, mlx, **config))
    assert f"is quantized ({shown})" in sentence


def without(name: str) -> Callable[[Weights], Weights]:
    return lambda weights: {key: weight for key, weight in weights.items() if name not in key}


def test_an_untied_model_without_its_output_embedding_is_told_which_tensor(folder: Path) -> None:
    sentence = refused(change(folder, without("lm_head"), tie_word_embeddings=False))
    assert "(lm_head.weight)" in sentence
    assert inspect_model(change(folder, dict, tie_word_embeddings=True)).rows == 7


def test_any_other_tensor_that_is_missing_is_named(folder: Path) -> None:
    sentence = refused(change(folder, without("layers.1.mlp.down_proj")))
    assert "(model.layers.1.mlp.down_proj.weight)" in sentence


def test_a_missing_part_is_called_missing(tmp_path: Path) -> None:
    parts = sorted(save(tiny_model(seed=1), tmp_path, shard="8KB").glob("model-*.safetensors"))
    assert len(parts) > 1
    parts[1].unlink()
    sentence = refused(str(tmp_path))
    assert f"is incomplete or broken ({parts[1].name})" in sentence


def test_a_folder_with_a_gguf_file_is_told_to_give_the_file(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    for _ in range(2):
        with pytest.raises(InputError, match=r"A GGUF file such as model\.gguf loads by its path"):
            inspect_model(str(tmp_path))
        (tmp_path / "config.json").write_text("{}")


# ---- prompts that cannot be measured

TARGET = tiny_model(seed=1)


def test_a_prompt_that_is_too_long_is_told_the_number_of_tokens_that_were_asked_for() -> None:
    settings = DecodeSettings(max_new_tokens=40, draft_length=4)
    runs = PairedRuns(TARGET, PromptLookupDrafter(), [1] * 60, settings)
    with pytest.raises(InputError, match=r"The prompt \(60 tokens\) and 40 new tokens do not fit"):
        runs.warm_up()


def test_a_prompt_of_a_file_is_named_before_anything_is_measured() -> None:
    """Of a tokenizer that has more tokens than the model has rows."""
    target = with_tokenizer(TARGET, tokenizer_of({f"w{i}": i for i in range(9)}))
    settings = DecodeSettings(max_new_tokens=8)
    plan = SweepPlan(read_prompts(b"w1\n\nw8\n").prompts, (SweepPair("tiny", "lookup"),), (1,), settings=settings)
    measured = sweep(plan.cells(), lambda _: (target, None))
    said = r"Prompt line-3: The prompt contains token id 8 \('w8'\), which is outside 0 to 6, the tokens of tiny\."
    with pytest.raises(InputError, match=said):
        next(measured)
