"""The bundled models from disk: what their files say, the texts of their tokens, the logits, and what loading costs."""

import re
import socket
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from specviz import DecodeSettings, PromptLookupDrafter, load_model
from specviz.core.trace import DrafterInfo, ModelInfo
from specviz.decoding import autoregressive_decode, speculative_decode
from specviz.models import llama_weights, loaded_model, loading
from specviz.models.catalogue import MODELS_FOLDER, bundled_models, bundled_names, changed_weights, count_parameters
from specviz.models.catalogue import weights_hash as hash_of
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.models.tokens import LightTokens, TokenTexts
from specviz.models.transformers_models import MOST_APART, TransformersReader
from tests.conftest import ROOT
from tests.support.fake_traces import fake_trace
from tests.support.tiny_models import save, tiny_model


@pytest.mark.parametrize("model", bundled_models(), ids=lambda model: model.name)
def test_a_bundled_model_is_what_its_files_say_and_needs_no_network(model: Any, monkeypatch: Any) -> None:
    refuse, folder = Mock(side_effect=OSError("no network in this test")), MODELS_FOLDER / model.name
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    loaded = load_model(model.name)
    assert not refuse.called
    config, stored = loaded.model.config, count_parameters(folder / "model.safetensors")
    assert model.parameters == loaded.model.num_parameters() == loaded.info.parameters == stored
    found = (config.num_hidden_layers, config.hidden_size, loaded.context)
    assert (model.layers, model.width, model.context) == found
    assert loaded.info.weights_hash == hash_of(folder)


def test_a_bundled_name_wins_and_memory_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaded_model, "give_back", given := Mock())
    save(tiny_model(seed=1), tmp_path / "wren-nano")
    monkeypatch.chdir(tmp_path)
    assert len(load_model("wren-nano").tokenizer) == 4096
    assert given.called


def test_weights_that_changed_since_a_trace_are_named() -> None:
    base, small = (hash_of(MODELS_FOLDER / name) for name in ("wren-base", "wren-nano"))
    for name, weights, kind, draft, changed in (
        ("wren-base", base, "model", small, 0),
        ("wren-base", base, "model", "0" * 16, 1),
        ("someone/else", "0" * 16, "prompt-lookup", None, 0),  # nothing here to compare with
    ):
        info, drafter = ModelInfo(name, 1, "float32", weights), DrafterInfo(kind, "wren-nano", 1, "float32", draft)
        assert len(changed_weights(replace(fake_trace(tokens=8), target=info, drafter=drafter))) == changed


# ---- tokens


def test_pieces_show_spaces_line_ends_and_the_bytes_of_a_character_cut_in_two(nano: LoadedModel) -> None:
    pieces, text = TokenTexts(nano.tokenizer), "Once upon a time\n\t“hi” 日"
    shown = [pieces[token_id] for token_id in nano.tokenizer(text, add_special_tokens=False)["input_ids"]]
    assert shown[:3] == ["Once", " upon", " a"]
    assert {"\n", "\t", " time", "⟨E2⟩"} <= set(shown)
    as_bytes = [bytes.fromhex(re.sub("[⟨⟩]", "", piece)) if piece[0] == "⟨" else piece.encode() for piece in shown]
    assert b"".join(as_bytes).decode() == text
    assert (pieces[0], pieces[4096]) == ("<|endoftext|>", "⟨token 4096⟩"), "a mark, and a token that there is not"


def test_a_special_token_spelled_out_in_a_prompt_is_text_and_output_is_decoded_whole(nano: LoadedModel) -> None:
    prompt, cut = "a <|endoftext|> b", "“日本” “日本” “日本” “日"
    trace = autoregressive_decode(nano, prompt, DecodeSettings(max_new_tokens=1))
    assert 0 not in trace.prompt.token_ids[1:]  # the first is the one the tokenizer begins every text with
    assert "".join(trace.prompt.tokens[1:]) == trace.prompt.text == prompt
    trace = speculative_decode(nano, PromptLookupDrafter(), cut, DecodeSettings(max_new_tokens=24))
    assert any("⟨" in token.text for round in trace.rounds for token in round.drafted)
    assert "⟨" not in trace.output.text
    assert trace.output.text == nano.tokenizer.decode(trace.output.token_ids, skip_special_tokens=True)


TEXTS = [
    "Once upon a time",
    " two  spaces\n\n\tand a tab ",
    "<|endoftext|> spelled out<|endoftext|>",
    "Königin, 日本語, 🙂‍↔️, \x00 and \ud7ff",
    "",
]


def test_a_text_has_the_same_tokens_and_every_token_and_mark_is_written_the_same(nano: LoadedModel) -> None:
    light, theirs = nano.tokens, nano.tokenizer
    assert isinstance(light, LightTokens)
    for text, split, special in product(TEXTS, (True, False), (True, False)):
        options = {"add_special_tokens": special, "split_special_tokens": split}
        ids = light(text, **options)["input_ids"]
        assert ids == theirs(text, **options)["input_ids"], (text, options)
        for skip in (True, False):
            spelled = light.decode(ids, skip_special_tokens=skip, clean_up_tokenization_spaces=False)
            assert spelled == theirs.decode(ids, skip_special_tokens=skip, clean_up_tokenization_spaces=False)
    assert (len(light), light.get_vocab()) == (len(theirs), theirs.get_vocab())
    for name in ("eos_token_id", "all_special_ids", "all_special_tokens"):
        assert getattr(light, name) == getattr(theirs, name)
    ours, other = TokenTexts(light), TokenTexts(theirs)
    assert [ours[token] for token in range(len(light) + 2)] == [other[token] for token in range(len(light) + 2)]


# ---- the light forward pass gives transformers' own logits, without transformers' model classes

TEXT = torch.randint(4096, (300,), generator=torch.Generator().manual_seed(1))
PROCESSORS = ["AMD EPYC", "Intel(R) Xeon(R) Processor", "Apple M3"]  # by which the order of weights is chosen
CELLS = [(name, dtype, "") for name in bundled_names() for dtype in ("float32", "bfloat16")]


@pytest.mark.parametrize(("name", "dtype", "kind"), [*CELLS, *(("wren-nano", "float32", kind) for kind in PROCESSORS)])
def test_logits_differ_from_those_of_transformers_by_rounding_alone(
    name: str, dtype: Dtype, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind:
        monkeypatch.setattr(llama_weights, "processor", lambda: kind)
    loaded = loading.read_bundled(name, dtype)
    ours, theirs = loaded.open_reader(), TransformersReader(loaded.model, name)
    for part in TEXT.split([128, 72, 1, 5, 2, 17, 1, 4, 70]):
        one, two = ours.read(part).float(), theirs.read(part).float()
        if dtype == "float32":
            torch.testing.assert_close(one, two, rtol=1e-4 if kind else 1e-5, atol=1e-4 if kind else 2e-5)
        else:
            assert float((one - two).abs().max()) <= MOST_APART[torch.bfloat16] * float(two.abs().max())
        for reader in (ours, theirs):
            reader.crop(3)


@pytest.mark.full
def test_decoding_with_bundled_models_and_an_engine_import_no_transformers() -> None:
    program = """
import sys
import specviz.service.handlers, specviz.service.workshop
from specviz import DecodeSettings, ModelDrafter, load_model, speculative_decode
sampled = DecodeSettings(max_new_tokens=5, temperature=0.8, top_k=40, top_p=0.9)
trace = speculative_decode(load_model("wren-base"), ModelDrafter(load_model("wren-nano")), "Once upon a time", sampled)
print(trace.target.forward, "transformers" in sys.modules)
print(type(load_model("wren-nano").model).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["light", "False", "LlamaForCausalLM"]
