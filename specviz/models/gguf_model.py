"""A model in a GGUF file, the format of llama.cpp, LM Studio and Ollama: Llama, Mistral, Qwen2 and Qwen3.

The light forward pass reads it. llama.cpp's own package `gguf` unpacks the numbers. The head is read here: that package
makes arrays of each entry of a vocabulary (seconds, and 150 MB for 49,152 tokens), and believes every count that a file
states. The format, and the names of fields and tensors: github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from collections import UserDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from math import prod
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.texts import Sentences, join_choices
from specviz.core.trace import ModelInfo
from specviz.models.catalogue import ModelEntry, weights_hash
from specviz.models.devices import check_memory, choose_device, needed_bytes
from specviz.models.downloads import broken
from specviz.models.llama_weights import build, explain_unsupported, frequencies
from specviz.models.loaded_model import DTYPES, LoadedModel, light_model
from specviz.models.tokens import LightTokens

say = Sentences("models")

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# ---- the head of a file, and its weights as numbers

MAGIC, VERSIONS = b"GGUF", (2, 3)
MOST_FIELDS, MOST_TENSORS, MOST_DIMENSIONS = 2_000, 20_000, 4
MOST_LISTED = 1_200_000  # entries of all lists together; 256,000 tokens come with 256,000 kinds and 514,000 merges
MOST_TEXT = 2**20  # bytes of one text; a chat template has some thousand
MOST_HEAD = 32 * 2**20  # bytes before the weights; those of 256,000 tokens take 18 million
SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}  # a field's type: how `struct` calls it
TEXT, LIST = 8, 9
_NAMES = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K")
PACKINGS = [GGMLQuantizationType[name] for name in _NAMES]
UNROUNDED = PACKINGS[:3]
EMBEDDING = "token_embd.weight"
PART = 2**22  # numbers that are unpacked at a time


@dataclass(frozen=True, slots=True)
class StoredTensor:
    shape: tuple[int, ...]  # as torch writes it: what lies together comes last
    packing: GGMLQuantizationType
    start: int  # bytes from the beginning of the file

    @property
    def row_bytes(self) -> int:
        numbers, taken = GGML_QUANT_SIZES[self.packing]
        return self.shape[-1] // numbers * taken


@dataclass(frozen=True, slots=True)
class GgufFile:
    path: Path
    fields: Mapping[str, Any]  # numbers, texts and lists of them
    tensors: Mapping[str, StoredTensor]

    def read_tensor(self, name: str, dtype: torch.dtype) -> Tensor:
        """Its numbers, unpacked a part at a time: never more than one copy is in memory."""
        stored = self.tensors[name]
        columns, rows = stored.shape[-1], prod(stored.shape[:-1])
        end = stored.start + rows * stored.row_bytes
        whole = torch.from_file(str(self.path), shared=False, size=end, dtype=torch.uint8)  # mapped, not read
        packed = whole[stored.start :].view(rows, stored.row_bytes)
        unpacked, step = torch.empty(rows, columns, dtype=dtype), max(1, PART // columns)
        for first in range(0, rows, step):
            numbers = torch.from_numpy(dequantize(packed[first : first + step].clone().numpy(), stored.packing))
            few_bits = dtype == torch.float32 and stored.packing not in UNROUNDED
            unpacked[first : first + step] = _rounded(numbers) if few_bits else numbers
        return unpacked.view(stored.shape)


def _rounded(numbers: Tensor) -> Tensor:
    """To the nearest float16, which changes a number of a few bits by a 2000th at most; then it can be packed."""
    rounded = numbers.half()
    return rounded.float() if bool(rounded.isfinite().all()) else numbers


def read_gguf(path: Path) -> GgufFile:
    """Read the head of a file; nothing that the file states is believed before it is compared with its size.

    Raises InputError: it is no GGUF file, is cut off, or has weights in a packing that does not load.
    """
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return _Head(path, content).read()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(say("no_gguf", name=path.name)) from error


class _Head:
    """Reads one value after the other."""

    def __init__(self, path: Path, content: mmap) -> None:
        self._path, self._content, self._at, self._listed = path, content, 0, 0

    def read(self) -> GgufFile:
        if self._bytes(4) != MAGIC or self._number("I") not in VERSIONS:
            raise InputError(say("no_gguf", name=self._path.name))
        tensors, fields = self._count("Q", MOST_TENSORS), self._count("Q", MOST_FIELDS)
        read = {self._text(): self._value(self._number("I")) for _ in range(fields)}
        stored = dict(self._tensor() for _ in range(tensors))
        return GgufFile(self._path, read, self._placed(stored, read.get("general.alignment", 32)))

    def _value(self, kind: int) -> Any:
        if kind == TEXT:
            return self._text()
        if kind in SCALARS:
            return self._number(SCALARS[kind])
        if kind != LIST:
            raise self._broken()
        kind, length = self._number("I"), self._count("Q", MOST_LISTED - self._listed)
        self._listed += length
        if kind == TEXT:
            return [self._text() for _ in range(length)]
        if kind not in SCALARS:
            raise self._broken()
        form = f"<{length}{SCALARS[kind]}"
        return list(struct.unpack(form, self._bytes(struct.calcsize(form))))

    def _tensor(self) -> tuple[str, StoredTensor]:
        """With its place among the weights, whose beginning is known only once all are read."""
        name = self._text()
        shape = [self._number("Q") for _ in range(self._count("I", MOST_DIMENSIONS))]
        kind, place = self._number("I"), self._number("Q")
        packing = next((each for each in PACKINGS if each == kind), None)
        if packing is None:
            named = [each.name for each in GGMLQuantizationType if each == kind] or [f"type {kind}"]
            raise _unknown(self._path.name, name[:80], named[0], join_choices([each.name for each in PACKINGS], "and"))
        if not shape or not all(shape) or shape[0] % GGML_QUANT_SIZES[packing][0]:
            raise broken(self._path.name, name)
        return name, StoredTensor(tuple(reversed(shape)), packing, place)

    def _placed(self, stored: Mapping[str, StoredTensor], alignment: Any) -> Mapping[str, StoredTensor]:
        if not isinstance(alignment, int) or alignment < 1:
            raise broken(self._path.name, "general.alignment")
        begin = -(-self._at // alignment) * alignment
        placed = {name: replace(each, start=begin + each.start) for name, each in stored.items()}
        for name, each in placed.items():
            if each.start + prod(each.shape[:-1]) * each.row_bytes > len(self._content):
                raise broken(self._path.name, name)
        return placed

    def _text(self) -> str:
        return self._bytes(self._count("Q", MOST_TEXT)).decode("utf-8", "replace")

    def _count(self, form: str, most: int) -> int:
        count: int = self._number(form)
        if count > most:
            raise self._broken()
        return count

    def _number(self, form: str) -> Any:
        return struct.unpack(f"<{form}", self._bytes(struct.calcsize(f"<{form}")))[0]

    def _bytes(self, count: int) -> bytes:
        found = self._content[self._at : self._at + count]
        if self._at + count > MOST_HEAD or len(found) < count:
            raise self._broken()
        self._at += count
        return found

    def _broken(self) -> InputError:
        return broken(self._path.name, f"byte {self._at}")


def _unknown(name: str, field: str, value: object, known: str) -> InputError:
    return InputError(say("not_known", name=name, field=field, value=f"{value!r:.60}", known=known))


# ---- its tokenizer and chat template, as the library `tokenizers` reads them
#
# A file names the way a text is cut before tokens are looked for (`tokenizer.ggml.pre`) and leaves its rule to
# llama.cpp (src/llama-vocab.cpp, build 11434), where these rules are from. Two kinds of vocabulary are read: byte-level
# BPE, and SentencePiece's with scores.

GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BY_DIGITS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA_3, QWEN_2 = BY_DIGITS.format(digits=r"\p{N}{1,3}"), BY_DIGITS.format(digits=r"\p{N}")
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*|\p{{N}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
RULES: Mapping[str, tuple[str, ...]] = {  # by the file's word: regular expressions that cut, one after the other
    **dict.fromkeys(("gpt-2", "olmo", "mpt", "phi-2"), (GPT_2,)),
    **dict.fromkeys(("smollm", "starcoder", "refact", "codeshell"), (r"\p{N}", GPT_2)),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "dbrx", "smaug-bpe"), (LLAMA_3,)),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen"), (QWEN_2,)),
    "tekken": (TEKKEN,),
}
# With these a word that is a token needs no merges, and a text begins with a mark unless the file says otherwise.
WHOLE_WORDS = ("llama-bpe", "llama3", "llama-v3", "falcon3", "tekken")
NORMAL, CONTROL, USER = 1, 3, 4  # kinds of tokens: marks, and texts that are never cut
CHAT_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>")  # end a turn wherever there are such tokens
LONGEST_PIECE = 64  # characters of what is joined; SentencePiece makes pieces of 16 unless told otherwise
SPACE = "▁"  # SentencePiece writes it for a space


def read_tokens(file: GgufFile) -> LightTokens:
    """Raises InputError: it has no tokenizer, or one of a kind that does not load."""
    fields, name = file.fields, file.path.name
    words = fields.get("tokenizer.ggml.tokens")
    if not (isinstance(words, list) and words and isinstance(words[0], str)):
        raise broken(name, "tokenizer.ggml.tokens")
    if EMBEDDING in file.tensors and len(words) > file.tensors[EMBEDDING].shape[0]:
        raise broken(name, EMBEDDING)
    kind = fields.get("tokenizer.ggml.model")
    make = {"gpt2": _byte_level, "llama": _sentence_piece}.get(str(kind))
    if make is None:
        raise _unknown(name, "tokenizer.ggml.model", kind, "gpt2, llama")
    if make is _byte_level:
        _check_cuts(name, fields, words)
    try:
        made = make(fields, {word: number for number, word in enumerate(words)})
        kinds = fields.get("tokenizer.ggml.token_type") or []
        marks = [(word, kind == CONTROL) for word, kind in zip(words, kinds, strict=False) if kind in (CONTROL, USER)]
        marks += [(word, True) for word in CHAT_ENDS if word in made.get_vocab()]
        made.add_tokens([AddedToken(word, special=is_mark, normalized=False) for word, is_mark in marks])
        end, begin = _mark(fields, "eos"), _mark(fields, "bos") if _is_begun(fields) else None
        if begin is not None:
            first = [(words[begin], begin)]
            made.post_processor = processors.TemplateProcessing(f"{words[begin]} $A", special_tokens=first)
    except Exception as error:  # tokenizers raises this class itself
        raise broken(name, "tokenizer") from error
    return LightTokens(made, end)


def _check_cuts(name: str, fields: Mapping[str, Any], words: list[str]) -> None:
    """Refuse what would cut a text into other tokens than the model's own: no rule, an unknown one, or no merges."""
    rule = str(fields.get("tokenizer.ggml.pre", ""))
    if rule in ("", "default"):
        raise InputError(say("no_cuts", name=name))
    if rule not in RULES:
        raise _unknown(name, "tokenizer.ggml.pre", rule, join_choices([*RULES], "and"))
    kinds = fields.get("tokenizer.ggml.token_type") or [NORMAL] * len(words)
    longer = (kind == NORMAL and len(word) > 1 for word, kind in zip(words, kinds, strict=False))
    if not fields.get("tokenizer.ggml.merges") and any(longer):
        raise InputError(say("no_merges", name=name))


def end_ids(file: GgufFile) -> frozenset[int]:
    """The tokens that end a text, or a turn of a chat."""
    keys = ("eos_token_id", "eot_token_id", "eom_token_id")
    ends = (file.fields.get(f"tokenizer.ggml.{key}") for key in keys)
    words = file.fields.get("tokenizer.ggml.tokens", [])
    of_chats = (number for number, word in enumerate(words) if word in CHAT_ENDS)
    return frozenset([*(each for each in ends if isinstance(each, int)), *of_chats])


def chat_template(file: GgufFile) -> tuple[str | None, str | None]:
    """The template, and the mark at the beginning, which llama.cpp writes once, whether the template does or not."""
    template, begin = file.fields.get("tokenizer.chat_template"), _mark(file.fields, "bos")
    mark = None if begin is None else file.fields["tokenizer.ggml.tokens"][begin]
    if template and mark and _is_begun(file.fields) and "bos_token" not in template and mark not in template:
        template = "{{ bos_token }}" + template
    return template, mark


def _is_begun(fields: Mapping[str, Any]) -> bool:
    """Whether every text begins with a mark."""
    is_usual = fields.get("tokenizer.ggml.model") == "llama" or fields.get("tokenizer.ggml.pre") in WHOLE_WORDS
    return bool(fields.get("tokenizer.ggml.add_bos_token", is_usual))


def _mark(fields: Mapping[str, Any], key: str) -> int | None:
    """The id of the token at the end or the beginning of a text; None without one."""
    mark, count = fields.get(f"tokenizer.ggml.{key}_token_id"), len(fields["tokenizer.ggml.tokens"])
    if mark is not None and not (isinstance(mark, int) and 0 <= mark < count):
        raise ValueError(f"no token {mark!r}")
    return mark


def _byte_level(fields: Mapping[str, Any], vocabulary: dict[str, int]) -> Tokenizer:
    rule = fields.get("tokenizer.ggml.pre", "")
    merges = [tuple(each.split(" ", 1)) for each in fields.get("tokenizer.ggml.merges", [])]
    made = Tokenizer(BPE(vocabulary, merges, ignore_merges=rule in WHOLE_WORDS))
    if RULES[rule] == (QWEN_2,):
        made.normalizer = normalizers.NFC()  # as Qwen's own tokenizer does; llama.cpp does not
    cuts = [pre_tokenizers.Split(Regex(each), "isolated") for each in RULES[rule]]
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([*cuts, bytes_of])
    made.decoder = decoders.ByteLevel()
    return made


def _sentence_piece(fields: Mapping[str, Any], vocabulary: dict[str, int]) -> Tokenizer:
    scores = dict(zip(vocabulary, fields.get("tokenizer.ggml.scores", []), strict=True))
    unknown = dict(enumerate(vocabulary)).get(fields.get("tokenizer.ggml.unknown_token_id", -1))
    made = Tokenizer(BPE(vocabulary, _merges(scores, vocabulary), unk_token=unknown, fuse_unk=True, byte_fallback=True))
    is_led = fields.get("tokenizer.ggml.add_space_prefix", True)
    lead = [normalizers.Prepend(SPACE)] if is_led else []
    made.normalizer = normalizers.Sequence([*lead, normalizers.Replace(" ", SPACE)])
    spaces = decoders.Replace(SPACE, " ")
    made.decoder = decoders.Sequence(
        [spaces, decoders.ByteFallback(), decoders.Fuse(), *([decoders.Strip(" ", 1, 0)] if is_led else [])]
    )
    return made


def _merges(scores: Mapping[str, float], vocabulary: Mapping[str, int]) -> list[tuple[str, str]]:
    """Every pair of pieces whose whole is one too, the best score first: so SentencePiece joins them."""
    found = []
    for whole, score in scores.items():
        if len(whole) > LONGEST_PIECE:
            continue
        cuts = [cut for cut in range(1, len(whole)) if whole[:cut] in vocabulary and whole[cut:] in vocabulary]
        pairs = sorted(((whole[:cut], whole[cut:]) for cut in cuts), key=lambda pair: [*map(vocabulary.get, pair)])
        found += [(score, pair) for pair in pairs]
    found.sort(key=lambda each: (each[0], len(each[1][0]), len(each[1][1])), reverse=True)
    return [pair for _, pair in found]


# ---- the model

ARCHITECTURES = ("llama", "qwen2", "qwen3")  # Mistral's files say llama
WITH_BIAS = ("attn_q", "attn_k", "attn_v", "attn_output")
FACTORS = "rope_freqs.weight"  # of Llama 3.1 and later: by what the angles are divided
STRETCHED = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
STRETCHED |= {"original_max_position_embeddings": 8192}
MOST_LAYERS = 1000  # the deepest models have a tenth of that


def inspect_gguf(name: str, path: Path) -> tuple[ModelEntry, LightTokens]:
    """Raises InputError: it cannot be loaded here; one sentence."""
    file = read_gguf(path)
    config = configuration(file)
    parameters = sum(prod(stored.shape) for tensor, stored in file.tensors.items() if tensor != FACTORS)
    return ModelEntry(name, parameters, "its file", context=config["max_position_embeddings"]), read_tokens(file)


def load_gguf(name: str, path: Path, dtype: str) -> LoadedModel:
    """Its weights are unpacked to "float32" or "bfloat16", and take that much memory."""
    seen, tokens = inspect_gguf(name, path)
    needed = needed_bytes(seen.parameters, dtype)
    check_memory([(name, needed)])
    file, device = read_gguf(path), torch.device(choose_device(name, needed))
    config, info = configuration(file), ModelInfo(name, seen.parameters, dtype, weights_hash(path))
    llama = build(config, _Weights(file, config, DTYPES[dtype], device))
    make_model = cache(partial(_transformers, file, config, dtype))
    return light_model(llama, tokens, info, config, end_ids(file), make_model, cache(partial(_tokenizer, file)))


def configuration(file: GgufFile) -> dict[str, Any]:
    """What config.json would say. Raises InputError: its numbers and its tensors do not make a model that is read."""
    kind, name = file.fields.get("general.architecture"), file.path.name
    if file.fields.get("general.type") == "adapter":
        raise InputError(say("adapter", name=name))
    if file.fields.get("split.count", 1) not in (0, 1):
        raise InputError(say("split_file", name=name, count=file.fields["split.count"]))
    if kind not in ARCHITECTURES:
        raise _unknown(name, "general.architecture", kind, join_choices([*ARCHITECTURES], "and"))
    count, heads = partial(_number, file, int), _number(file, int, "attention.head_count")
    if experts := file.fields.get(f"{kind}.expert_count"):
        raise _unknown(name, f"{kind}.expert_count", experts, "0")
    if EMBEDDING not in file.tensors:
        raise broken(name, EMBEDDING)
    config = {
        "model_type": kind,
        "hidden_act": "silu",
        "hidden_size": count("embedding_length"),
        "intermediate_size": count("feed_forward_length"),
        "num_hidden_layers": count("block_count", most=MOST_LAYERS),
        "num_attention_heads": heads,
        "num_key_value_heads": count("attention.head_count_kv", heads),
        "head_dim": count("attention.key_length", count("embedding_length") // heads),
        "max_position_embeddings": count("context_length"),
        "rms_norm_eps": _number(file, float, "attention.layer_norm_rms_epsilon"),
        "vocab_size": file.tensors[EMBEDDING].shape[0],
        "tie_word_embeddings": "output.weight" not in file.tensors,
        "attention_bias": "blk.0.attn_q.bias" in file.tensors,
        "sliding_window": file.fields.get(f"{kind}.attention.sliding_window"),
        "rope_parameters": _rotation(file, _number(file, float, "rope.freq_base", 10_000.0)),
        "eos_token_id": file.fields.get("tokenizer.ggml.eos_token_id"),
    }
    if unsupported := explain_unsupported(config):
        raise _unknown(name, *unsupported)
    turned = file.fields.get(f"{kind}.rope.dimension_count", config["head_dim"])
    if turned != config["head_dim"] or turned % 2:
        raise _unknown(name, f"{kind}.rope.dimension_count", turned, str(config["head_dim"]))
    if heads % config["num_key_value_heads"]:
        raise broken(name, f"{kind}.attention.head_count_kv")
    wanted = {tensor: shape for tensor, (_, shape) in _tensors(config).items()}
    wanted |= {FACTORS: (config["head_dim"] // 2,)} if FACTORS in file.tensors else {}
    for tensor, stored in file.tensors.items():
        if wanted.pop(tensor, None) != stored.shape:
            raise broken(name, tensor)
    if missing := [tensor for tensor in wanted if not tensor.endswith(".bias")]:
        raise broken(name, missing[0])
    return config


def _number(file: GgufFile, kind: type, key: str, default: Any = None, most: int = 2**31) -> Any:
    key = f"{file.fields['general.architecture']}.{key}"
    value = file.fields.get(key, default)
    if not (type(value) is kind and isinstance(value, int | float) and 0 < value <= most):
        raise broken(file.path.name, f"{key}: {value!r:.40}")
    return value


def _rotation(file: GgufFile, theta: float) -> dict[str, Any]:
    """How queries and keys are turned, as config.json says it. Llama 3.1 and 3.2 differ by a factor."""
    rope = f"{file.fields['general.architecture']}.rope"
    kind = file.fields.get(f"{rope}.scaling.type", "linear")  # as llama.cpp takes older files, which name only a factor
    factor = file.fields.get(f"{rope}.scaling.factor", file.fields.get(f"{rope}.scale_linear", 1.0))
    if kind != "none" and factor not in (0.0, 1.0):
        return {"rope_type": str(kind)[:40]}
    plain = {"rope_type": "default", "rope_theta": theta}
    if FACTORS not in file.tensors:
        return plain
    divided = file.read_tensor(FACTORS, torch.float32).flatten()
    for factor in (8.0, 32.0):
        scaled = plain | STRETCHED | {"factor": factor}
        ours = frequencies(plain, 2 * len(divided)) / frequencies(scaled, 2 * len(divided))
        if torch.allclose(ours, divided, rtol=1e-3):
            return scaled
    return {"rope_type": FACTORS}


def _tensors(config: Mapping[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """By llama.cpp's name: that of a checkpoint, and the shape. Biases may be missing."""
    hidden, inner, size = (config[key] for key in ("hidden_size", "intermediate_size", "head_dim"))
    queries, keys = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    layer: dict[str, tuple[str, tuple[int, ...]]] = {
        "attn_norm": ("input_layernorm", (hidden,)),
        "attn_q": ("self_attn.q_proj", (queries, hidden)),
        "attn_k": ("self_attn.k_proj", (keys, hidden)),
        "attn_v": ("self_attn.v_proj", (keys, hidden)),
        "attn_output": ("self_attn.o_proj", (hidden, queries)),
        "ffn_norm": ("post_attention_layernorm", (hidden,)),
        "ffn_gate": ("mlp.gate_proj", (inner, hidden)),
        "ffn_up": ("mlp.up_proj", (inner, hidden)),
        "ffn_down": ("mlp.down_proj", (hidden, inner)),
    }
    if config["model_type"] == "qwen3":
        layer |= {"attn_q_norm": ("self_attn.q_norm", (size,)), "attn_k_norm": ("self_attn.k_norm", (size,))}
    rows = config["vocab_size"]
    every: dict[str, tuple[str, tuple[int, ...]]] = {EMBEDDING: ("model.embed_tokens.weight", (rows, hidden))}
    every["output_norm.weight"] = ("model.norm.weight", (hidden,))
    if not config["tie_word_embeddings"]:
        every["output.weight"] = ("lm_head.weight", (rows, hidden))
    for index in range(config["num_hidden_layers"]):
        for tensor, (name, shape) in layer.items():
            every[f"blk.{index}.{tensor}.weight"] = (f"model.layers.{index}.{name}.weight", shape)
            if tensor in WITH_BIAS:
                every[f"blk.{index}.{tensor}.bias"] = (f"model.layers.{index}.{name}.bias", shape[:1])
    return every


class _Weights(UserDict[str, Tensor]):
    """By a checkpoint's names. Each is unpacked when it is asked for, so that no weight is in memory twice."""

    def __init__(self, file: GgufFile, config: Mapping[str, Any], dtype: torch.dtype, device: torch.device) -> None:
        super().__init__()
        self._file, self._config, self._dtype, self._device = file, config, dtype, device
        self.tensors = {name: each for each, (name, _) in _tensors(config).items() if each in file.tensors}

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __missing__(self, name: str) -> Tensor:
        tensor = self.tensors[name]
        weight = self._file.read_tensor(tensor, self._dtype)
        if tensor.split(".")[-2] in ("attn_q", "attn_k") and self._config["model_type"] == "llama":
            # llama.cpp turns a Llama head's numbers in neighbouring pairs, and stores its rows so; we turn its halves.
            pairs = weight.view(-1, self._config["head_dim"] // 2, 2, *weight.shape[1:])
            weight = pairs.transpose(1, 2).reshape(weight.shape)
        return weight.to(self._device)


def _transformers(file: GgufFile, config: Mapping[str, Any], dtype: str) -> "PreTrainedModel":
    """The same weights in transformers' class, for who asks for it: the decoders here do not."""
    from transformers import AutoConfig, AutoModelForCausalLM  # seconds and 120 MB

    made: PreTrainedModel = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config), dtype=DTYPES[dtype])
    weights = _Weights(file, config, DTYPES[dtype], torch.device("cpu"))
    made.load_state_dict({name: weights[name] for name in weights.tensors}, strict=False)
    made.tie_weights()
    return made.eval().requires_grad_(False)


def _tokenizer(file: GgufFile) -> "PreTrainedTokenizerBase":
    from transformers import PreTrainedTokenizerFast

    light, (template, begin) = read_tokens(file), chat_template(file)
    end = light.eos_token_id
    return PreTrainedTokenizerFast(
        tokenizer_object=light.backend_tokenizer,
        eos_token=None if end is None else light.convert_ids_to_tokens(end),
        bos_token=begin,
        chat_template=template,
    )
