"""GGUF files: the same numbers, texts and tokens as transformers has of the same model; and files that are none."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from struct import pack
from typing import Any

import pytest
import torch
from gguf import GGUFWriter
from gguf.quants import dequantize

from specviz.models.gguf_model import CHAT_ENDS, PACKINGS, read_gguf, read_tokens
from specviz.models.loaded_model import chat_ids
from specviz.models.loading import inspect_model, load_model
from specviz.models.packing import MOST_LOST, plain
from specviz.models.tokens import byte_alphabet
from tests.support.architectures import KNOWN, STRETCHED, random_weights
from tests.support.gguf_files import finish, write_byte_level, write_gguf, write_pieces
from tests.support.strategies import assert_one_sentence, refusal_and_peak, value_or_sentence

CASES = KNOWN | {
    "biases": ("llama", {"attention_bias": True}),
    "llama 3 rotary": ("llama", {"rope_parameters": STRETCHED | {"original_max_position_embeddings": 8192}}),
}
WIDE = {"vocab_size": 40, "hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 1}
SMALL = random_weights("llama", {"num_hidden_layers": 1})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Of the test's own, to break."""
    return write_gguf(tmp_path / "a.gguf", SMALL)


@pytest.mark.parametrize("case", CASES)
def test_a_file_of_each_family_has_the_models_own_logits(case: str, tmp_path: Path) -> None:
    model, ids = random_weights(*CASES[case]), torch.arange(20)
    loaded = load_model(str(write_gguf(tmp_path / "a.gguf", model)))
    torch.testing.assert_close(loaded.open_reader().read(ids), model(ids[None]).logits[0], rtol=0, atol=1e-4)
    assert torch.equal(loaded.model(ids[None]).logits[0], model(ids[None]).logits[0])


@pytest.mark.parametrize("kind", [each.name for each in PACKINGS])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_file_in_each_packing_is_read(kind: str, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts, as a large file is; transformers reads the same numbers to the same logits."""
    monkeypatch.setattr("specviz.models.gguf_model.PART", 3 * 256)
    file = write_gguf(tmp_path / "a.gguf", random_weights("llama", WIDE), kind)
    loaded, stored = load_model(str(file), dtype), read_gguf(file).tensors["blk.0.ffn_down.weight"]
    assert stored.packing.name == kind
    raw = file.read_bytes()[stored.start : stored.start + 256 * stored.row_bytes]
    rows = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(256, -1)
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
    cuts = {"gpt-2": "12345", "llama-bpe": "123 45"} | dict.fromkeys(("smollm", "qwen2", "tekken"), "1 2 3 4 5")
    merges = ("1 2", "12 3", "123 4", "1234 5", "4 5", "Ġ a", "i s", "Ġa s")
    for rule, numbers in cuts.items():
        writer = GGUFWriter(tmp_path / f"{rule}.gguf", "llama")
        write_byte_level(writer, 300, rule, *merges)
        tokens = read_tokens(read_gguf(finish(writer, tmp_path / f"{rule}.gguf")))
        for text in ("is as 12345", "\n\n  é 🎉\tit's", "<end>", " lead"):
            assert tokens.decode(tokens(text)["input_ids"]) == text
        assert [tokens.convert_ids_to_tokens(each) for each in tokens("12345")["input_ids"]] == numbers.split(), rule
        assert tokens("<end>")["input_ids"] == [299] != tokens("<end>", split_special_tokens=True)["input_ids"]
        assert (tokens.eos_token_id, tokens.all_special_tokens) == (299, ["<end>"])


def test_pieces_are_joined_by_their_scores_and_begin_with_a_mark(tmp_path: Path) -> None:
    """By hand: "▁a" has a better score than "ab", so "ab" is never joined; a text without a piece is bytes."""
    scores = {"▁": -1.0, "a": -2.0, "b": -3.0, "▁a": -4.0, "ab": -5.0, "▁ab": -6.0, "bb": -7.0}
    writer = GGUFWriter(tmp_path / "a.gguf", "llama")
    write_pieces(writer, scores)
    tokens = read_tokens(read_gguf(finish(writer, tmp_path / "a.gguf")))
    for text, pieces in (("ab", ["▁ab"]), ("bb a", ["▁", "bb", "▁a"]), ("é", ["▁", "<0xC3>", "<0xA9>"])):
        assert [tokens.convert_ids_to_tokens(each) for each in tokens(text)["input_ids"]] == ["<s>", *pieces]
    assert tokens.decode(tokens("bb abé")["input_ids"], skip_special_tokens=True) == "bb abé"


def chat_file(folder: Path, mark: str, **fields: Any) -> str:
    """Of a model with this token as number 256."""
    words = [*byte_alphabet(), mark, *(f"[unused{place}]" for place in range(42)), "<end>"]
    named = {f"tokenizer__{key}": value for key, value in ({"ggml__tokens": words} | fields).items()}
    return str(write_gguf(folder / "a.gguf", random_weights("llama", {"vocab_size": 300}), **named))


@pytest.mark.parametrize("begin", ["{{ bos_token }}", "<s>", ""])
def test_a_conversation_is_written_by_the_files_own_template_with_its_mark_once(begin: str, tmp_path: Path) -> None:
    fields = {"ggml__token_type": [1] * 256 + [3] + [5] * 42 + [3], "ggml__bos_token_id": 256}
    template = begin + "{% for m in messages %}{{ m.role }}:{{ m.content }}|{% endfor %}"
    template += "{% if add_generation_prompt %}>{% endif %}"
    file = chat_file(tmp_path, "<s>", ggml__add_bos_token=True, chat_template=template, **fields)
    loaded = load_model(file)
    assert loaded.tokens.decode(chat_ids(loaded, [("user", "Hi")])) == "<s>user:Hi|>"


@pytest.mark.parametrize("mark", CHAT_ENDS)
def test_a_chat_ends_at_the_marks_of_its_turns(mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = chat_file(tmp_path, mark)
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
    words = [f"t{place}" for place in range(24)]
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
        "(token_embd.weight)": {"tokenizer__ggml__tokens": words},
        "tokenizer.ggml.model is ['gpt2']": {"tokenizer__ggml__model": ["gpt2"]},
        "tokenizer.ggml.model is 'rwkv'": {"tokenizer__ggml__model": "rwkv"},
        "tokenizer.ggml.pre is 'poro-chat'": {"tokenizer__ggml__pre": "poro-chat"},
        "does not name the rule by which texts are cut": {"tokenizer__ggml__pre": "default"},
        "without merges": {"tokenizer__ggml__tokens": words[:23], "tokenizer__ggml__token_type": [1] * 23},
        "rope_type is 'linear'": {"llama__rope__scale_linear": 4.0},
        "is an adapter (LoRA)": {"general__type": "adapter"},
        "is one of 3 parts of a model": {"split__count": 3},
    }
    for sentence, changes in said.items():
        assert sentence in refused(write_gguf(tmp_path / "a.gguf", SMALL, **changes)), changes


def test_weights_in_an_unknown_packing_are_named(file: Path) -> None:
    whole, name = file.read_bytes(), b"blk.0.ffn_up.weight"
    place = whole.index(name) + len(name) + 4 + 2 * 8
    for kind, said in ((20, "IQ4_NL"), (9999, "type 9999")):
        file.write_bytes(whole[:place] + pack("<I", kind) + whole[place + 4 :])
        assert f"blk.0.ffn_up.weight is '{said}', and only these are read: F32, F16, BF16, Q8_0" in refused(file)


Change = Callable[[bytes], bytes]


def put(start: int, content: bytes) -> Change:
    return lambda whole: whole[:start] + content + whole[start + len(content) :]


def field(content: bytes) -> Change:
    """The first one has the name "a" and this value."""
    return lambda whole: whole[:16] + pack("<QQ", 1, 1) + b"a" + content


LONG_TEXT = pack("<Q", 2**20) + b"x" * 2**20
LISTS = [pack("<QBIIQ", 1, 97 + number, 9, 7, 10**6) + bytes(10**6) for number in range(20)]  # each in a field
HOSTILE: dict[str, tuple[Change, str]] = {
    "empty": (lambda _: b"", "is not a GGUF file"),
    "other bytes": (put(0, b"PK\3\4"), "is not a GGUF file"),
    "version 9": (put(4, pack("<I", 9)), "version 2 or 3"),
    "the other byte order": (put(4, pack(">I", 3)), "version 2 or 3"),
    "many tensors": (put(8, pack("<Q", 2**60)), "broken (byte"),
    "many fields": (put(16, pack("<Q", 2**40)), "broken (byte"),
    "more fields than there are": (put(16, pack("<Q", 1999)), "broken (byte"),
    "a huge text": (put(24, pack("<Q", 2**62)), "broken (byte"),
    "a long list": (field(pack("<IIQ", 9, 0, 2**50)), "broken (byte"),
    "many long texts": (field(pack("<IIQ", 9, 8, 40) + LONG_TEXT * 40), "broken (byte"),
    "many long lists": (lambda whole: whole[:16] + pack("<Q", 20) + b"".join(LISTS), "broken (byte"),
    "lists in lists": (field(pack("<IIQ", 9, 9, 5)), "broken (byte"),
    "a field of no type": (field(pack("<I", 77)), "broken (byte"),
    "only zeros after the counts": (lambda whole: whole[:24] + bytes(10_000_000), "broken"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_lies_gets_a_sentence_and_little_memory(case: str, file: Path) -> None:
    change, said = HOSTILE[case]
    file.write_bytes(change(file.read_bytes()))
    assert said in refused(file)


def test_a_file_that_is_cut_anywhere_or_has_a_wrong_byte_gets_a_sentence(file: Path) -> None:
    """With a wrong byte in its head it may also load as something else: it is never another error."""
    whole, random = file.read_bytes(), Random(0)
    for length in {1, 3, 5, 8, 20, *range(24, len(whole), 997), len(whole) - 1}:
        file.write_bytes(whole[:length])
        assert "is incomplete or broken" in refused(file)
    end = whole.index(b"blk.0.ffn_up.weight") + 40
    for place in random.sample(range(4, end), 300):
        file.write_bytes(put(place, random.randbytes(1))(whole))
        value_or_sentence(lambda: inspect_model(str(file)))
