"""GGUF files: the same numbers, texts and tokens as transformers has of the same model; and files that are none."""

import struct
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import torch
from gguf import GGUFWriter
from gguf.quants import dequantize

from specviz import DecodeSettings, InputError, autoregressive_decode
from specviz.models.gguf_model import CHAT_ENDS, PACKINGS, read_gguf, read_tokens
from specviz.models.loaded_model import chat_ids
from specviz.models.loading import inspect_model, load_model
from specviz.models.packing import MOST_LOST, plain
from specviz.models.tokens import byte_alphabet
from tests.support.architectures import KNOWN, STRETCHED, random_weights
from tests.support.gguf_files import finish, write_byte_level, write_gguf, write_pieces
from tests.support.strategies import assert_one_sentence, refusal_and_peak
from tests.support.tiny_models import greedy_of_transformers

CASES = KNOWN | {
    "biases": ("llama", {"attention_bias": True}),
    "llama 3 rotary": ("llama", {"rope_parameters": STRETCHED | {"original_max_position_embeddings": 8192}}),
}
WIDE = {"vocab_size": 40, "hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 1}
SMALL = ("llama", {"num_hidden_layers": 1})


@pytest.mark.parametrize("case", CASES)
def test_a_file_of_each_family_has_the_models_own_logits_and_greedy_text(case: str, tmp_path: Path) -> None:
    model = random_weights(*CASES[case])
    loaded = load_model(str(write_gguf(tmp_path / "a.gguf", model)))
    ids = torch.arange(20)
    torch.testing.assert_close(loaded.open_reader().read(ids), model(ids[None]).logits[0], rtol=0, atol=1e-4)
    assert torch.equal(loaded.model(ids[None]).logits[0], model(ids[None]).logits[0])
    run = autoregressive_decode(loaded, [1, 2, 3], DecodeSettings(max_new_tokens=12))
    assert run.output.token_ids == greedy_of_transformers(loaded, [1, 2, 3], 12)


@pytest.mark.parametrize("kind", [each.name for each in PACKINGS])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_file_in_each_packing_is_read(kind: str, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts, as a large file is; transformers reads the same numbers to the same logits."""
    monkeypatch.setattr("specviz.models.gguf_model.PART", 3 * 256)
    file = write_gguf(tmp_path / "a.gguf", random_weights("llama", WIDE), kind)
    loaded = load_model(str(file), dtype)
    head = read_gguf(file)
    stored = head.tensors["blk.0.ffn_down.weight"]
    assert stored.packing.name == kind
    raw = file.read_bytes()[stored.start : stored.start + 256 * stored.row_bytes]
    rows = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(256, -1)
    assert loaded.llama
    numbers = torch.from_numpy(dequantize(rows.numpy(), stored.packing))
    expected = numbers.half() if dtype == "float32" and kind != "F32" else numbers
    down = plain(loaded.llama.layers[0].down)
    torch.testing.assert_close(down, expected.to(down.dtype), rtol=0, atol=MOST_LOST)
    ids = torch.arange(12)
    ours, theirs = loaded.open_reader().read(ids), loaded.model(ids[None]).logits[0]
    assert torch.isfinite(ours).all()
    apart = float(theirs.abs().max()) * {"float32": 1e-5, "bfloat16": 0.05}[dtype]
    torch.testing.assert_close(ours, theirs, rtol=0, atol=apart)


# ---- tokens


def test_byte_level_tokens_are_cut_joined_and_written_back(tmp_path: Path) -> None:
    """A merge joins no two parts that the file's rule cuts: digits stay alone by one, three together by another."""
    cuts = {"gpt-2": ["12345"], "smollm": ["1", "2", "3", "4", "5"], "llama-bpe": ["123", "45"], "qwen2": [*"12345"]}
    cuts["tekken"] = cuts["qwen2"]
    merges = ("1 2", "12 3", "123 4", "1234 5", "4 5", "Ġ a", "i s", "Ġa s")
    for rule, numbers in cuts.items():
        writer = GGUFWriter(tmp_path / f"{rule}.gguf", "llama")
        write_byte_level(writer, 300, rule, *merges)
        finish(writer)
        tokens = read_tokens(read_gguf(tmp_path / f"{rule}.gguf"))
        for text in ("is as 12345", "\n\n  é 🎉\tit's", "<end>", " lead"):
            assert tokens.decode(tokens(text)["input_ids"]) == text
        ids = tokens("12345")["input_ids"]
        assert [tokens.convert_ids_to_tokens(each) for each in ids] == numbers, rule
        assert tokens("<end>")["input_ids"] == [299]
        assert tokens("<end>", split_special_tokens=True)["input_ids"] != [299]
        assert (tokens.eos_token_id, tokens.all_special_tokens) == (299, ["<end>"])


def test_pieces_are_joined_by_their_scores_and_begin_with_a_mark(tmp_path: Path) -> None:
    """By hand: "▁a" has a better score than "ab", so "ab" is never joined; a text without a piece is bytes."""
    scores = {"▁": -1.0, "a": -2.0, "b": -3.0, "▁a": -4.0, "ab": -5.0, "▁ab": -6.0, "bb": -7.0}
    writer = GGUFWriter(tmp_path / "a.gguf", "llama")
    write_pieces(writer, scores)
    finish(writer)
    tokens = read_tokens(read_gguf(tmp_path / "a.gguf"))

    def pieces(text: str) -> list[str | None]:
        return [tokens.convert_ids_to_tokens(each) for each in tokens(text)["input_ids"]]

    assert pieces("ab") == ["<s>", "▁ab"]
    assert pieces("bb a") == ["<s>", "▁", "bb", "▁a"]
    assert pieces("é") == ["<s>", "▁", "<0xC3>", "<0xA9>"]
    assert tokens.decode(tokens("bb abé")["input_ids"], skip_special_tokens=True) == "bb abé"


@pytest.mark.parametrize("begin", ["{{ bos_token }}", "<s>", ""])
def test_a_conversation_is_written_by_the_files_own_template_with_its_mark_once(begin: str, tmp_path: Path) -> None:
    model = random_weights("llama", {"vocab_size": 300})
    words = [*byte_alphabet(), "<s>", *(f"[unused{place}]" for place in range(42)), "<end>"]
    kinds = [1] * 256 + [3] + [5] * 42 + [3]
    more = {"tokens": words, "token_type": kinds, "bos_token_id": 256, "add_bos_token": True}
    fields = {f"tokenizer__ggml__{key}": value for key, value in more.items()}
    template = begin + "{% for m in messages %}{{ m.role }}:{{ m.content }}|{% endfor %}"
    template += "{% if add_generation_prompt %}>{% endif %}"
    loaded = load_model(str(write_gguf(tmp_path / "a.gguf", model, tokenizer__chat_template=template, **fields)))
    assert loaded.tokens.decode(chat_ids(loaded, [("user", "Hi")])) == "<s>user:Hi|>"


@pytest.mark.parametrize("mark", CHAT_ENDS)
def test_a_chat_ends_at_the_marks_of_its_turns(mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_weights("llama", {"vocab_size": 300})
    words = [*byte_alphabet(), mark, *(f"[unused{place}]" for place in range(42)), "<end>"]
    file = str(write_gguf(tmp_path / "a.gguf", model, tokenizer__ggml__tokens=words))
    for forward in ("light", "transformers"):
        monkeypatch.setenv("SPECVIZ_FORWARD", forward)
        loaded = load_model(file)
        assert (loaded.info.forward, loaded.ends) == (forward, {256, 299})
        assert loaded.tokens(f"a{mark}")["input_ids"][-1] == 256


# ---- what does not load


def refused(file: Path) -> str:
    """The sentence, of a file in a folder that it does not name; the bounds of memory that a bad file may take."""
    sentence, peak = refusal_and_peak(lambda: inspect_model(str(file)))
    assert_one_sentence(sentence)
    assert sentence.startswith(file.name)
    assert peak < 80 * 2**20
    return sentence


def test_what_is_not_known_gets_a_sentence(tmp_path: Path) -> None:
    file, model = tmp_path / "a.gguf", random_weights(*SMALL)
    said = {
        "general.architecture is 'gemma3'": {"general__architecture": "gemma3"},
        "llama.expert_count is 8": {"llama__expert_count": 8},
        "rope_type is": {"llama__rope__scaling__type": "yarn", "llama__rope__scaling__factor": 4.0},
        "sliding_window is True": {"llama__attention__sliding_window": 16},
        "rope.dimension_count is 4": {"llama__rope__dimension_count": 4},
        "broken (token_embd.weight)": {"llama__embedding_length": 48},
        "(blk.1.": {"llama__block_count": 2},
        "(llama.block_count: 100000)": {"llama__block_count": 100_000},
        "(llama.attention.head_count_kv)": {"llama__attention__head_count_kv": 3},
        "(tokenizer)": {"tokenizer__ggml__eos_token_id": 23},
        "broken (tokenizer)": {"tokenizer__ggml__bos_token_id": "x", "tokenizer__ggml__add_bos_token": True},
        "or broken (tokenizer)": {"tokenizer__ggml__merges": ["x y"]},
        "(token_embd.weight)": {"tokenizer__ggml__tokens": [f"t{place}" for place in range(24)]},
        "tokenizer.ggml.model is ['gpt2']": {"tokenizer__ggml__model": ["gpt2"]},
        "tokenizer.ggml.model is 'rwkv'": {"tokenizer__ggml__model": "rwkv"},
        "tokenizer.ggml.pre is 'poro-chat'": {"tokenizer__ggml__pre": "poro-chat"},
        "does not name the rule by which texts are cut": {"tokenizer__ggml__pre": "default"},
        "has a tokenizer without merges": {
            "tokenizer__ggml__tokens": [f"t{place}" for place in range(23)],
            "tokenizer__ggml__token_type": [1] * 23,
        },
        "rope_type is 'linear'": {"llama__rope__scale_linear": 4.0},
        "is an adapter (LoRA)": {"general__type": "adapter"},
        "is one of 3 parts of a model": {"split__count": 3},
    }
    for sentence, changes in said.items():
        write_gguf(file, model, **changes)
        assert sentence in refused(file), changes


def test_weights_in_an_unknown_packing_are_named(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "a.gguf", random_weights(*SMALL))
    content = bytearray(file.read_bytes())
    name = b"blk.0.ffn_up.weight"
    place = content.index(name) + len(name) + 4 + 2 * 8
    for kind, said in ((20, "IQ4_NL"), (9999, "type 9999")):
        content[place : place + 4] = struct.pack("<I", kind)
        file.write_bytes(content)
        assert f"blk.0.ffn_up.weight is '{said}', and only these are read: F32, F16, BF16, Q8_0" in refused(file)


LONG_TEXT = struct.pack("<Q", 2**20) + b"x" * 2**20
FIELD = struct.pack("<QQ", 1, 1) + b"a"  # one field of this name
HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "is not a GGUF file"),
    "other bytes": (lambda whole: b"PK\3\4" + whole[4:], "is not a GGUF file"),
    "version 9": (lambda whole: whole[:4] + struct.pack("<I", 9) + whole[8:], "version 2 or 3"),
    "the other byte order": (lambda whole: whole[:4] + whole[4:8][::-1] + whole[8:], "version 2 or 3"),
} | {
    name: ((lambda whole, start=start, put=put: whole[:start] + put + whole[start + 8 :]), "broken (byte")
    for name, start, put in (
        ("many tensors", 8, struct.pack("<Q", 2**60)),
        ("many fields", 16, struct.pack("<Q", 2**40)),
        ("more fields than there are", 16, struct.pack("<Q", 1999)),
        ("a huge text", 24, struct.pack("<Q", 2**62)),
    )
} | {
    name: ((lambda whole, put=put: whole[:16] + FIELD + put), "broken (byte")
    for name, put in (
        ("a long list", struct.pack("<IIQ", 9, 0, 2**50)),
        ("many long texts", struct.pack("<IIQ", 9, 8, 40) + LONG_TEXT * 40),
        ("lists in lists", struct.pack("<IIQ", 9, 9, 5)),
        ("a field of no type", struct.pack("<I", 77)),
    )
} | {"only zeros after the counts": (lambda whole: whole[:24] + bytes(10_000_000), "broken")}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_lies_gets_a_sentence_and_little_memory(case: str, tmp_path: Path) -> None:
    change, said = HOSTILE[case]
    file = write_gguf(tmp_path / "a.gguf", random_weights(*SMALL))
    file.write_bytes(change(file.read_bytes()))
    assert said in refused(file)


def test_a_file_that_is_cut_anywhere_gets_a_sentence(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "a.gguf", random_weights(*SMALL))
    whole = file.read_bytes()
    for length in {1, 3, 5, 8, 20, *range(24, len(whole), 997), len(whole) - 1}:
        file.write_bytes(whole[:length])
        assert "is incomplete or broken" in refused(file)


def test_any_byte_of_the_head_may_be_wrong(tmp_path: Path) -> None:
    """It loads as something else, or gets a sentence: never another error."""
    file = write_gguf(tmp_path / "a.gguf", random_weights(*SMALL))
    whole, random = file.read_bytes(), Random(0)
    end = whole.index(b"blk.0.ffn_up.weight") + 40
    for place in random.sample(range(4, end), 300):
        file.write_bytes(whole[:place] + random.randbytes(1) + whole[place + 1 :])
        try:
            inspect_model(str(file))
        except InputError as error:
            assert_one_sentence(str(error))
