"""The bundled models from disk: what their files say, the texts of their tokens, the memory that loading uses."""

import os
import platform
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from specviz import DecodeSettings, PromptLookupDrafter, load_model
from specviz.core.trace import DrafterInfo, ModelInfo
from specviz.decoding import autoregressive_decode, speculative_decode
from specviz.models.catalogue import MODELS_FOLDER, bundled_models, bundled_names, changed_weights, count_parameters
from specviz.models.catalogue import weights_hash as hash_of
from specviz.models.loaded_model import LoadedModel
from specviz.models.token_texts import TokenTexts
from tests.support.fake_traces import fake_trace
from tests.support.tiny_models import save, tiny_model

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def nano() -> LoadedModel:
    return load_model("wren-nano")


@pytest.mark.parametrize("name", bundled_names())
def test_a_bundled_model_is_what_its_files_say_and_needs_no_network(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    def refuse(*arguments: object) -> None:
        calls.append(arguments)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    loaded = load_model(name)
    assert not calls
    described = next(model for model in bundled_models() if model.name == name)
    config = loaded.model.config
    assert described.parameters == count_parameters(described.folder / "model.safetensors")
    assert described.parameters == loaded.model.num_parameters() == loaded.info.parameters
    assert (described.layers, described.width, described.context) == (
        config.num_hidden_layers,
        config.hidden_size,
        loaded.context,
    )
    assert loaded.info.weights_hash == hash_of(described.folder)


def test_a_bundled_name_wins_over_a_folder_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tiny_model(seed=1), tmp_path / "wren-nano")
    monkeypatch.chdir(tmp_path)
    assert len(load_model("wren-nano").tokenizer) == 4096


def test_bundled_models_are_listed_largest_first() -> None:
    sizes = [model.parameters for model in bundled_models()]
    assert sizes == sorted(sizes, reverse=True)
    assert bundled_names()[0] == "wren-base"


def test_weights_that_changed_since_a_trace_are_named() -> None:
    base, small = (hash_of(MODELS_FOLDER / name) for name in ("wren-base", "wren-nano"))
    trace = fake_trace(tokens=8)
    unchanged = replace(
        trace,
        target=replace(trace.target, name="wren-base", weights_hash=base),
        drafter=DrafterInfo("model", "wren-nano", 1, "float32", small),
    )
    assert changed_weights(unchanged) == []
    other_draft = replace(unchanged, drafter=DrafterInfo("model", "wren-nano", 1, "float32", "0" * 16))
    assert changed_weights(other_draft) == ["The weights of wren-nano on this machine differ from those in this trace."]
    stranger = ModelInfo("someone/else", 1, "float32", "0" * 16)
    without_a_model = replace(unchanged, target=stranger, drafter=DrafterInfo("prompt-lookup", "wren-nano"))
    assert changed_weights(without_a_model) == []  # nothing here to compare with


def test_pieces_show_spaces_line_ends_and_the_bytes_of_a_character_cut_in_two(nano: LoadedModel) -> None:
    pieces = TokenTexts(nano.tokenizer)
    text = "Once upon a time\n\t“hi” 日"
    token_ids = nano.tokenizer(text, add_special_tokens=False)["input_ids"]
    shown = [pieces[token_id] for token_id in token_ids]
    assert shown[:3] == ["Once", " upon", " a"]
    assert {"\n", "\t", " time"} <= set(shown)
    assert "⟨E2⟩" in shown
    assert "".join(shown) != text  # the pieces show bytes ...
    assert nano.tokenizer.decode(token_ids) == text  # ... the text is decoded from the ids
    assert b"".join(as_bytes(piece) for piece in shown).decode() == text


def as_bytes(piece: str) -> bytes:
    if piece.startswith("⟨"):
        return bytes.fromhex(piece.replace("⟨", "").replace("⟩", ""))
    return piece.encode()


def test_every_piece_of_a_bundled_tokenizer_is_text_that_a_trace_may_hold(nano: LoadedModel) -> None:
    pieces = TokenTexts(nano.tokenizer)
    shown = [pieces[token_id] for token_id in range(len(nano.tokenizer))]
    assert all(shown)
    assert max(map(len, shown)) <= 2_000
    "".join(shown).encode()  # no lone surrogates


def test_pieces_of_special_and_of_impossible_tokens(nano: LoadedModel) -> None:
    pieces = TokenTexts(nano.tokenizer)
    assert pieces[0] == "<|endoftext|>"
    assert pieces[4096] == "⟨token 4096⟩"


def test_a_special_token_spelled_out_in_a_prompt_is_text(nano: LoadedModel) -> None:
    prompt = "a <|endoftext|> b"
    trace = autoregressive_decode(nano, prompt, DecodeSettings(max_new_tokens=1))
    assert 0 not in trace.prompt.token_ids[1:]  # the first is the one the tokenizer begins every text with
    assert "".join(trace.prompt.tokens[1:]) == prompt
    assert trace.prompt.text == prompt


def test_output_text_is_decoded_whole(nano: LoadedModel) -> None:
    trace = speculative_decode(
        nano, PromptLookupDrafter(), "“日本” “日本” “日本” “日", DecodeSettings(max_new_tokens=24)
    )
    assert any("⟨" in token.text for round in trace.rounds for token in round.drafted)
    assert "⟨" not in trace.output.text
    assert trace.output.text == nano.tokenizer.decode(trace.output.token_ids, skip_special_tokens=True)


HELD = """
import sys

import psutil

from specviz.models import layout, read_model

layout.processor = lambda: "AMD"  # there the weights are stored in another order than in the file
if sys.argv[1] == "held":
    read_model.give_back = lambda: False
read_model.read_model("wren-base")
print(psutil.Process().memory_info().rss / 1e6)  # MB
"""


@pytest.mark.skipif(sys.platform != "linux" or platform.libc_ver()[0] != "glibc", reason="only glibc gives memory back")
def test_what_loading_used_for_a_moment_goes_back_to_the_system() -> None:
    def held(how: str) -> float:
        theirs = os.environ | {"SPECVIZ_FORWARD": "transformers"}  # it reads a model twice; the light one does not
        done = subprocess.run(
            [sys.executable, "-c", HELD, how], cwd=ROOT, env=theirs, capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    assert held("given back") + 10 < held("held")
