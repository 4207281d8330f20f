"""The check before loading: what is refused and why, from configurations, tokenizers and headers alone."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

from specviz import InputError, load_model
from specviz.models import devices, transformers_models
from specviz.models.loading import inspect_model
from specviz.models.pairing import check_pair
from tests.support.architectures import DECODABLE, GPT2, REFUSED, SMALL
from tests.support.tiny_models import tiny_model, tokenizer_of, word_tokenizer

SEVENTY_B = {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64}
SEVENTY_B |= {"num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128256, "tie_word_embeddings": False}


@pytest.fixture(autouse=True)
def nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check must not read weights: the function that would is gone."""
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", lambda *_, **__: pytest.fail("weights were read"))


def model_of(kind: str, config: dict[str, object], folder: Path, tokens: int = 11) -> str:
    """A random model of any architecture, saved."""
    made = AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model(kind, **config))
    made.save_pretrained(folder)
    word_tokenizer(tokens).save_pretrained(folder)
    return str(folder)


def change(folder: Path, **entries: object) -> str:
    config = folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | entries))
    return str(folder)


def problem_of(*pair: str | None, **more: Any) -> str:
    with pytest.raises(InputError) as refused:
        check_pair(*pair, **more)
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert len(sentence) < 500
    return sentence


@pytest.mark.parametrize("kind", DECODABLE)
def test_causal_models_with_a_cache_that_can_be_rolled_back_are_accepted(kind: str, tmp_path: Path) -> None:
    name = model_of(kind, DECODABLE[kind], tmp_path)
    assert check_pair(name, name)[1] == ""
    if kind == "bloom":  # which has no limit
        check_pair(name, None, new_tokens=10**6)


@pytest.mark.parametrize("kind", [*REFUSED, "rwkv"])
def test_recurrent_models_and_those_without_a_cache_are_refused(kind: str, tmp_path: Path) -> None:
    rwkv = SMALL | {"hidden_size": 16, "num_hidden_layers": 2, "attention_hidden_size": 16, "context_length": 64}
    config = rwkv if kind == "rwkv" else REFUSED[kind][0]
    sentence = problem_of("wren-base", model_of(kind, config, tmp_path))
    assert "a recurrent state or no cache" in sentence


@pytest.mark.parametrize(
    ("kind", "architecture"),
    [("bert", "BertForMaskedLM"), ("bert", "BertModel"), ("bert", None), ("roberta", "RobertaForMaskedLM"),
     ("llama", "LlamaForSequenceClassification"), ("t5", "T5ForConditionalGeneration"), ("vit", "ViTModel")],
)  # fmt: skip
def test_what_is_no_causal_model_is_refused(kind: str, architecture: str | None, folder: Path) -> None:
    (folder / "config.json").unlink()
    transformers.AutoConfig.for_model(kind).save_pretrained(folder)
    sentence = problem_of(change(folder, architectures=[architecture] if architecture else None), None)
    assert "is not a causal language model" in sentence
    assert "such as GPT-2" in sentence


WORDS = {f"w{i}": i for i in range(7)}


def test_tokenizers_that_differ_are_named_and_sampling_refused(saved: Path, folder: Path) -> None:
    tokenizer_of({**WORDS, "w5": 6, "w6": 5}).save_pretrained(folder)
    assert "greedy decoding only" in check_pair(str(saved), str(folder))[1]
    assert "set the temperature to 0" in problem_of(str(saved), str(folder), greedy=False)


def test_a_model_too_large_for_this_machine_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = change(folder, **SEVENTY_B)
    monkeypatch.setattr(
        transformers_models, "headers_in_folder", lambda *_: {}
    )  # as of a model in so many files on the Hub
    monkeypatch.setattr(devices, "available_bytes", lambda: 20 * 10**9)
    assert "would take 310.4 GB of memory, but 20.0 GB are free here" in problem_of(name, "wren-nano")
    with pytest.raises(InputError, match="would take 310"):
        load_model(name)


@pytest.mark.parametrize(("dtype", "room", "ok"), [("float32", 5, True), ("float32", 4, False), ("bfloat16", 3, True)])
def test_memory_is_the_dtypes(saved: Path, dtype: str, room: int, ok: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = 2 * tiny_model(seed=1).info.parameters
    monkeypatch.setattr(devices, "available_bytes", lambda: room * parameters)  # 4.4 a parameter are needed, or 2.2
    sizes, _ = check_pair(str(saved), str(saved), dtype, dtype, reclaimable=parameters)  # what leaves makes room
    assert sizes == {str(saved): parameters // 2}
    if ok:
        check_pair(str(saved), str(saved), dtype, dtype)
    else:
        assert "of memory" in problem_of(str(saved), str(saved), dtype, dtype)


@pytest.mark.parametrize("version", [2, 1])
def test_a_containers_limit_counts(version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    none, limit, used, inactive = ("max", "memory.max", "memory.current", "inactive_file")
    if version == 1:
        none, limit, used = "9223372036854771712", "memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"
        inactive = "total_inactive_file"
    monkeypatch.setattr(devices, "CGROUP", tmp_path)
    monkeypatch.setattr(devices.psutil, "virtual_memory", lambda: SimpleNamespace(available=10**9))
    assert devices.available_bytes() == 10**9
    (tmp_path / "memory").mkdir()
    (tmp_path / limit).write_text(f"{none}\n")
    (tmp_path / used).write_text("60000\n")
    (tmp_path / used).with_name("memory.stat").write_text(f"anon 1\n{inactive} 10000\nactive_file 7\n\n")
    assert devices.available_bytes() == 10**9
    (tmp_path / limit).write_text("100000\n")
    assert devices.available_bytes() == 50_000


def test_the_context_of_a_pair_is_the_shorter_one(tmp_path: Path, saved: Path) -> None:
    short = change(shutil.copytree(saved, tmp_path / "short"), max_position_embeddings=32)
    check_pair(str(saved), short)
    assert "context window of 32: choose fewer." in problem_of(str(saved), short, new_tokens=32)


def test_a_checkpoint_without_the_prefix_or_a_tied_copy_is_accepted(tmp_path: Path) -> None:
    """As openai-community/gpt2 is stored: no `transformer.` before the names, no output layer, and masks besides."""
    name = model_of("gpt2", GPT2 | {"tie_word_embeddings": True}, tmp_path)
    model = AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model("gpt2", **GPT2))
    weights = {key.removeprefix("transformer."): value for key, value in model.state_dict().items()}
    del weights["lm_head.weight"]
    weights["h.0.attn.bias"] = torch.ones(1, 1, 64, 64)
    save_file(weights, tmp_path / "model.safetensors")
    check_pair(name, None)
    assert inspect_model(name).parameters == sum(
        value.numel() for key, value in weights.items() if key != "h.0.attn.bias"
    )
