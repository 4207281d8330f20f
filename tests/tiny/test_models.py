"""Models from disk: what loads, on which device, what is refused, alone and as a pair, and what imports cost."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from specviz import DecodeSettings, InputError, ModelDrafter, load_model
from specviz.core.names import forward_in_words
from specviz.core.trace import ModelInfo
from specviz.decoding import autoregressive_decode, speculative_decode
from specviz.models import devices, loading
from specviz.models.catalogue import weights_hash as hash_of
from specviz.models.devices import accelerator, device_name
from specviz.models.loading import inspect_model
from specviz.models.pairing import check_pair
from specviz.models.transformers_models import from_transformers
from tests.conftest import ROOT
from tests.support.architectures import DECODABLE, GPT2, REFUSED
from tests.support.strategies import refusal
from tests.support.tiny_models import tiny_model, word_tokenizer

PARAMETERS = tiny_model(seed=1).info.parameters
needs_gpu = pytest.mark.skipif(accelerator() == "cpu", reason="there is no GPU here")


def memory(patch: pytest.MonkeyPatch, free: int) -> None:
    patch.setattr(devices, "available_bytes", lambda: free)


def test_a_saved_folder_loads_as_the_same_model_in_the_dtype_asked_for(saved: Path) -> None:
    loaded, half, original = load_model(str(saved)), load_model(str(saved), "bfloat16"), tiny_model(seed=1)
    settings = DecodeSettings(max_new_tokens=20)
    assert loaded.info == ModelInfo(str(saved), PARAMETERS, "float32", hash_of(saved), "light")
    assert (loaded.name, loaded.context) == (str(saved), 64)
    ours = autoregressive_decode(loaded, [1, 2, 3], settings).output
    assert ours == autoregressive_decode(original, [1, 2, 3], settings).output
    assert not loaded.model.training
    assert not any(weight.requires_grad for weight in loaded.model.parameters())
    assert (loaded.model.dtype, half.model.dtype, half.info.dtype) == (torch.float32, torch.bfloat16, "bfloat16")
    assert loaded.bytes == 2 * half.bytes == 4 * PARAMETERS
    said = refusal(lambda: load_model(str(saved), "float16"))  # type: ignore[arg-type]
    assert said.startswith("dtype must be ")
    assert said.endswith(" not float16.")


def test_a_model_goes_to_the_device_chosen_for_it_and_needs_no_memory_of_the_machine(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = Mock(return_value="meta")  # a device that every machine has
    memory(monkeypatch, 10)
    for module in (loading, devices):
        monkeypatch.setattr(module, "choose_device", choose)
    monkeypatch.setenv("SPECVIZ_FORWARD", "transformers")  # on this device nothing can be compared
    assert load_model(str(saved), "bfloat16").model.device.type == "meta"
    assert {call.args for call in choose.call_args_list} == {(str(saved), int(2.2 * PARAMETERS))}


@needs_gpu
def test_a_model_of_the_visitors_own_runs_on_the_gpu_says_so_and_writes_the_same(saved: Path) -> None:
    loaded, settings = load_model(str(saved)), DecodeSettings(max_new_tokens=24, stop_at_eos=False)
    assert loaded.device.type == accelerator()
    assert loaded.info.device == device_name(loaded.device)
    assert devices.free_bytes(accelerator()) > 0
    plain = autoregressive_decode(loaded, [1, 2, 3], settings).output.token_ids
    for how in (settings, replace(settings, tree="2,2,1", draft_length=3)):
        trace = speculative_decode(loaded, ModelDrafter(loaded), [1, 2, 3], how)
        assert trace.output.token_ids == plain
        assert forward_in_words(trace).endswith(f"on {loaded.info.device}")


@needs_gpu
@pytest.mark.parametrize("asked", ["cpu", accelerator()])
def test_the_operator_chooses_the_device_of_all_models(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_DEVICE", asked)
    assert load_model("wren-nano").device.type == asked


def test_a_dtype_that_does_not_fit_into_memory_is_not_measured(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory(monkeypatch, 3 * PARAMETERS)
    monkeypatch.setattr(loading, "pass_seconds", lambda *_, **__: pytest.fail("measured"))
    assert load_model(str(folder), "auto").info.dtype == "bfloat16"
    assert "not enough memory" in loading.choose_dtype(str(folder)).reason
    assert "of memory, but " in refusal(lambda: load_model(str(folder)))
    memory(monkeypatch, PARAMETERS)
    assert "of memory, but " in refusal(lambda: load_model(str(folder), "auto"))


@pytest.mark.parametrize(
    ("faster", "slower", "alone"),
    [("float32", "bfloat16", 0.004), ("bfloat16", "float32", 0.004), ("bfloat16", "float32", 0.006)],
)
def test_auto_is_the_dtype_with_the_smaller_sum_measured_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, faster: str, slower: str, alone: float
) -> None:
    times = {faster: {1: 0.005, 5: 0.0051}, slower: {1: alone, 5: 0.0071}}
    measure = Mock(side_effect=lambda loaded, lengths: {k: times[loaded.info.dtype][k] for k in lengths})
    monkeypatch.setattr(loading, "pass_seconds", measure)
    for _ in range(2):
        assert load_model(str(folder), "auto").info.dtype == faster
    assert measure.call_count == 2
    said = f"Compared with plain decoding in {slower}, a speedup of 2 would be 1.60."
    assert loading.choose_dtype(str(folder)).plain.endswith(said) == (alone < 0.005)


def test_end_of_text_is_the_generation_configs_then_the_tokenizers() -> None:
    loaded = tiny_model(seed=1)
    assert loaded.end_ids == frozenset()
    loaded.tokenizer.eos_token = "w3"
    assert loaded.end_ids == {3}
    loaded.model.generation_config.eos_token_id = [4, 5]
    assert from_transformers(loaded.model, loaded.tokenizer, "tiny", loaded.info).end_ids == {4, 5}


Wrong = dict[str, object] | tuple[str, bytes | None] | Callable[[Path], None]  # entries of config.json, or a file
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:abcd\nsize 3705504\n"


def stored(change: Callable[[str, torch.Tensor], tuple[str, torch.Tensor]]) -> Callable[[Path], None]:
    """The weights under other names or in another format, as `config.json` says too."""

    def made(folder: Path) -> None:
        weights = dict(change(*each) for each in load_file(folder / "model.safetensors").items())
        save_file(weights, folder / "model.safetensors")
        enter(folder, dtype=str(next(iter(weights.values())).dtype).removeprefix("torch."))

    return made


def renamed(old: str, new: str) -> Callable[[Path], None]:
    return stored(lambda name, weight: (name.replace(old, new), weight))


def another(kind: str, *architectures: str) -> Callable[[Path], None]:
    """The configuration of another kind of model."""

    def made(folder: Path) -> None:
        (folder / "config.json").unlink()
        transformers.AutoConfig.for_model(kind).save_pretrained(folder)
        enter(folder, architectures=[*architectures] or None)

    return made


def enter(folder: Path, **entries: object) -> str:
    """Write these entries into the configuration; the folder's name."""
    config = folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | entries))
    return str(folder)


BROKEN: list[tuple[Wrong, str]] = [
    ({"hidden_size": 32}, "is incomplete or broken (lm_head.weight)"),
    ({"hidden_size": 10**9}, "is incomplete or broken"),
    ({"vocab_size": 10**12}, ""),
    ({"num_key_value_heads": 1}, "(model.layers.0.self_attn.k_proj.weight)"),
    ({"num_hidden_layers": 3}, "(model.layers.2."),
    ({"num_hidden_layers": 10**9}, "(num_hidden_layers)"),
    ({"num_hidden_layers": "two"}, ""),
    ({"num_attention_heads": 0}, ""),
    ({"layer_types": ["none", "such"]}, ""),
    ({"model_type": None}, ""),
    ({"dtype": "nope"}, ""),
    ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "is quantized"),
    (("config.json", None), "is not a model: it has no config.json."),
    (("config.json", b"\xff\x00"), ""),
    (("config.json", b'{"a":' * 100_000), ""),
    (("tokenizer.json", None), "has no tokenizer"),
    (("tokenizer_config.json", b"[]"), ""),
    (("model.safetensors", None), "has no weights in safetensors, the only format that is loaded."),
    (("model.safetensors", b"\xff" * 100), "(model.safetensors)"),
    (("model.safetensors", b"\x02\x00\x00\x00\x00\x00\x00\x00{}"), ""),
    (("model.safetensors", b"cut"), ""),
    (("model.safetensors", LFS), "model.safetensors is only a pointer of Git LFS"),
    (("model.safetensors", b"<!doctype html><p>429"), "model.safetensors is a web page"),
    (("model.safetensors", b""), "incomplete or broken (model.safetensors)"),
    (("tokenizer.json", LFS), "tokenizer.json is only a pointer of Git LFS"),
    (("tokenizer.json", b'{"version": "1.0", "model": {"type": "NewKind"}}'), "The tokenizer of "),
    (stored(lambda name, weight: (f"_orig_mod.{name}", weight)), "begin with “_orig_mod.”"),  # torch.compile
    (stored(lambda name, weight: (f"base_model.model.{name}", weight)), "begin with “base_model.model.”"),  # PEFT
    (stored(lambda name, weight: (name, weight.to(torch.float8_e4m3fn))), "is stored as F8_E4M3, without scales"),
    (renamed("lm_head", "fc"), "is a head such as EAGLE or Medusa (fc.weight)"),
    (another("llama", "Eagle3LlamaForCausalLM"), "is a head such as EAGLE or Medusa (Eagle3LlamaForCausalLM)"),
    (renamed("lm_head.weight", "a.qweight"), "is quantized (a.qweight)"),
    (another("bert", "BertForMaskedLM"), "(BertForMaskedLM): use one such as GPT-2"),
    (another("bert"), "is not a causal language model"),
    (another("llama", "LlamaForSequenceClassification"), "is not a causal language model"),
    (another("t5", "T5ForConditionalGeneration"), "is not a causal language model"),
]


@pytest.mark.parametrize(("wrong", "says"), BROKEN, ids=lambda value: "" if callable(value) else str(value)[:60])
def test_what_is_wrong_is_a_sentence(folder: Path, wrong: Wrong, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04cos\nsystem\n(S'touch ran'\ntR.")  # never read
    if isinstance(wrong, dict):
        enter(folder, **wrong)
    elif callable(wrong):
        wrong(folder)
    elif wrong[1] is None:
        (folder / wrong[0]).unlink()
    else:
        whole = (folder / wrong[0]).read_bytes()
        (folder / wrong[0]).write_bytes(whole[:-100] if wrong[1] == b"cut" else wrong[1])
    with pytest.raises(InputError) as caught:
        load_model(str(folder))
    sentence = str(caught.value)  # it may end with a library's words
    assert ("\n" in sentence, str(folder) in sentence, len(sentence) < 500) == (False, True, True)
    assert capfd.readouterr() == ("", "")
    if says:
        assert says in sentence
        assert says in unread_refusal(str(folder), None)


# ---- the check of a pair, which reads no weights


def unread_refusal(*pair: str | None, **more: Any) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AutoModelForCausalLM, "from_pretrained", lambda *_, **__: pytest.fail("weights were read"))
        return refusal(lambda: check_pair(*pair, **more))


def model_of(kind: str, config: dict[str, object], folder: Path) -> str:
    """A random model of any architecture, saved."""
    made = AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model(kind, **config))
    made.save_pretrained(folder)
    word_tokenizer(11).save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("kind", ["gpt2", "gemma3_text", "bloom", *REFUSED])
def test_causal_models_with_a_cache_that_can_be_rolled_back_are_accepted_alone(kind: str, tmp_path: Path) -> None:
    name = model_of(kind, (DECODABLE | REFUSED)[kind], tmp_path)
    if kind in REFUSED:
        assert "a recurrent state or no cache" in unread_refusal("wren-base", name)
    else:
        assert check_pair(name, name, new_tokens=10**6 if kind == "bloom" else 1)[1] == "", "bloom has no limit"


def test_a_checkpoint_without_the_prefix_or_a_tied_copy_is_accepted(tmp_path: Path) -> None:
    """As openai-community/gpt2 is stored: no `transformer.` before the names, no output layer, and masks besides."""
    name = model_of("gpt2", GPT2 | {"tie_word_embeddings": True}, tmp_path)
    weights = {key.removeprefix("transformer."): w for key, w in load_file(tmp_path / "model.safetensors").items()}
    assert "lm_head.weight" not in weights
    save_file(weights | {"h.0.attn.bias": torch.ones(1, 1, 64, 64)}, tmp_path / "model.safetensors")
    check_pair(name, None)
    assert inspect_model(name)[0].parameters == sum(weight.numel() for weight in weights.values())


def test_the_context_of_a_pair_is_the_shorter_one(saved: Path, folder: Path) -> None:
    short = enter(folder, max_position_embeddings=32)
    check_pair(str(saved), short)
    assert "context window of 32: choose fewer." in unread_refusal(str(saved), short, new_tokens=32)


def test_sampling_with_two_tokenizers_is_refused(saved: Path) -> None:
    said = unread_refusal("wren-base", str(saved), greedy=False)
    assert f"{saved} cannot draft for wren-base, because their tokenizers differ" in said
    assert "set the temperature to 0, or use one family." in said


@pytest.mark.parametrize(("dtype", "room", "ok"), [("float32", 5, True), ("float32", 4, False), ("bfloat16", 3, True)])
def test_memory_is_the_dtypes(saved: Path, dtype: str, room: int, ok: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    memory(monkeypatch, room * 2 * PARAMETERS)  # 4.4 a parameter are needed, or 2.2
    pair = (str(saved), str(saved), dtype, dtype)
    assert check_pair(*pair, reclaimable=2 * PARAMETERS)[0] == {str(saved): PARAMETERS}, "what leaves makes room"
    assert check_pair(*pair) if ok else "of memory" in unread_refusal(*pair)


@pytest.mark.parametrize(
    ("none", "limit", "used", "inactive"),
    [
        ("max", "memory.max", "memory.current", "inactive_file"),
        ("9223372036854771712", "memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ],
)
def test_a_containers_limit_counts(
    none: str, limit: str, used: str, inactive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "CGROUP", tmp_path)
    monkeypatch.setattr(devices.psutil, "virtual_memory", lambda: SimpleNamespace(available=10**9))
    (tmp_path / "memory").mkdir()
    (tmp_path / used).write_text("60000\n")
    (tmp_path / used).with_name("memory.stat").write_text(f"anon 1\n{inactive} 10000\nactive_file 7\n\n")
    assert devices.available_bytes() == 10**9
    for said, free in ((none, 10**9), ("100000", 50_000)):
        (tmp_path / limit).write_text(f"{said}\n")
        assert devices.available_bytes() == free


def test_a_folders_own_code_is_never_run(folder: Path) -> None:
    (folder / "custom.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\nclass Model: pass\n")
    load_model(enter(folder, auto_map={"AutoModelForCausalLM": "custom.Model", "AutoConfig": "custom.Model"}))
    assert not (folder / "ran").exists()


def test_the_weights_hash_reads_the_files_in_order_of_their_names(tmp_path: Path) -> None:
    for name, content in (("b.safetensors", b"two"), ("a.safetensors", b"one"), ("config.json", b"{}")):
        (tmp_path / name).write_bytes(content)
    assert hash_of(tmp_path) == hashlib.sha256(b"onetwo").hexdigest()[:16]


LIGHT = """
import importlib, pkgutil, sys
sys.modules["plotly"] = None  # Streamlit imports its classes where it finds them; no page uses them
import specviz.core, specviz.data, specviz.ui
names = ["specviz", "specviz.models", "specviz.models.catalogue", "specviz.cli.main"]
for package in (specviz.core, specviz.data, specviz.ui):
    names += [module.name for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
assert len(names) > 100
for name in names:
    importlib.import_module(name)
heavy = {"torch", "transformers", "huggingface_hub", "psutil"}
assert not heavy.union({"tokenizers"}) & set(sys.modules)
from specviz.models.record_tokenizer import tokenizer_here
tokenizer_here("wren-base").encode("a")
assert not heavy & set(sys.modules), "the web server reads a record with a tokenizer alone"
from specviz import load_model
assert "torch" in sys.modules
"""


def test_the_light_modules_import_neither_torch_nor_transformers_nor_plotlys_classes() -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
