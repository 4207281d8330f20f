"""GGUF files as llama.cpp's own tools write them, of models of transformers: by its package `gguf`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from gguf import GGML_QUANT_SIZES, MODEL_ARCH, GGMLQuantizationType, GGUFWriter, TokenType, get_tensor_name_map
from gguf.quants import quantize
from torch import Tensor
from transformers import PreTrainedModel

from specviz.models.llama_weights import frequencies
from specviz.models.tokens import byte_alphabet


def write_gguf(file: Path, model: PreTrainedModel, packing: str = "F32", **fields: Any) -> Path:
    """Matrices in this packing, norms and biases in F32; `fields` are more entries of the head, "." written as "__"."""
    config = model.config.to_dict()
    kind = {"mistral": "llama"}.get(config["model_type"], config["model_type"])
    writer = GGUFWriter(file, kind)
    names = get_tensor_name_map(MODEL_ARCH[kind.upper()], config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    if size := config.get("head_dim"):
        writer.add_key_length(size)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    write_byte_level(writer, config["vocab_size"])
    for key, value in fields.items():
        add(writer, key.replace("__", "."), value)
    for name, weight in model.named_parameters():
        numbers = turned(name, weight.data, config) if kind == "llama" else weight.data
        kept = packing if weight.dim() == 2 else "F32"
        add_tensor(writer, names.get_name(name, try_suffixes=(".weight", ".bias")), numbers, kept)
    if (rope := config["rope_parameters"])["rope_type"] == "llama3":
        size = int(config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"])
        plain = frequencies({"rope_type": "default", "rope_theta": rope["rope_theta"]}, size)
        add_tensor(writer, "rope_freqs.weight", plain / frequencies(rope, size), "F32")
    return finish(writer, file)


def finish(writer: GGUFWriter, file: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def add(writer: GGUFWriter, key: str, value: Any) -> None:
    kinds = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
    kinds.get(type(value), writer.add_array)(key, value)


def add_tensor(writer: GGUFWriter, name: str, numbers: Tensor, packing: str) -> None:
    kind = GGMLQuantizationType[packing]
    if packing in SCALES:
        packed = random_blocks(*numbers.shape, packing, seed=len(name)).numpy()
    else:
        packed = quantize(numbers.float().contiguous().numpy(), kind)
    writer.add_tensor(name, packed, raw_dtype=kind)


def turned(name: str, weight: Tensor, config: Mapping[str, Any]) -> Tensor:
    """Rows of queries and keys as llama.cpp stores a Llama: `permute` in its conversion/llama.py."""
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}.get(name.split(".")[-2])
    if heads is None:
        return weight
    count = config[heads]
    parts = weight.reshape(count, 2, weight.shape[0] // count // 2, *weight.shape[1:])
    return parts.swapaxes(1, 2).reshape(weight.shape)


def write_byte_level(writer: GGUFWriter, size: int, rule: str = "gpt-2", *merges: str) -> None:
    """Tokens of one byte each, then what the merges make, then a mark that ends a text; other rows are unused."""
    words = [*byte_alphabet(), *(merge.replace(" ", "") for merge in merges)][: size - 1]
    words += [f"[unused{place}]" for place in range(size - 1 - len(words))]
    kinds = [TokenType.UNUSED if word.startswith("[unused") else TokenType.NORMAL for word in words]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(rule)
    writer.add_token_list([*words, "<end>"])
    writer.add_token_types([*kinds, TokenType.CONTROL])
    writer.add_token_merges(list(merges))
    writer.add_eos_token_id(size - 1)


def write_pieces(writer: GGUFWriter, scores: Mapping[str, float]) -> None:
    """SentencePiece's tokens: three marks, all bytes, then these with their scores."""
    marks, singles = ["<unk>", "<s>", "</s>"], [f"<0x{byte:02X}>" for byte in range(256)]
    kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL, *[TokenType.BYTE] * 256]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([*marks, *singles, *scores])
    writer.add_token_scores([0.0] * 259 + list(scores.values()))
    writer.add_token_types([*kinds, *[TokenType.NORMAL] * len(scores)])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


# Where a block keeps its own scales, in bytes from its beginning: all else in it may be any bits.
SCALES = {"Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}


def random_blocks(rows: int, columns: int, packing: str, seed: int) -> Tensor:
    """Rows in a packing that the package unpacks but cannot write."""
    numbers, size = GGML_QUANT_SIZES[GGMLQuantizationType[packing]]
    blocks = torch.randint(256, (rows * columns // numbers, size), generator=torch.Generator().manual_seed(seed))
    scale = torch.tensor([0.002], dtype=torch.float16).view(torch.uint8)
    for place in SCALES[packing]:
        blocks[:, place : place + 2] = scale
    return blocks.to(torch.uint8).view(rows, -1)
