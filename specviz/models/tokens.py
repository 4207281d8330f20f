"""What decoding needs of a tokenizer: a part of what transformers' tokenizers can do, by the same names.

`LightTokens` needs no transformers, and so neither do a bundled model and a GGUF file: importing it takes seconds.
"""

import codecs
import re
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Tokens: TypeAlias = "LightTokens | PreTrainedTokenizerBase"


class LightTokens:
    """A tokenizer without transformers around it; `end` is the id of the token that ends a text."""

    def __init__(self, tokenizer: Tokenizer, end: int | None) -> None:
        self.eos_token_id = end
        self.backend_tokenizer = tokenizer
        marks = self.backend_tokenizer.get_added_tokens_decoder()
        self.all_special_ids = [number for number, each in marks.items() if each.special]
        self.all_special_tokens = [str(each.content) for each in marks.values() if each.special]

    def __len__(self) -> int:
        return self.backend_tokenizer.get_vocab_size()

    def get_vocab(self) -> dict[str, int]:
        return self.backend_tokenizer.get_vocab()

    def __call__(
        self, text: str, *, add_special_tokens: bool = True, split_special_tokens: bool = False, verbose: bool = True
    ) -> dict[str, list[int]]:
        self.backend_tokenizer.encode_special_tokens = split_special_tokens
        return {"input_ids": self.backend_tokenizer.encode(text, add_special_tokens=add_special_tokens).ids}

    def decode(
        self, token_ids: Any, skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool = False
    ) -> str:
        if clean_up_tokenization_spaces:
            raise ValueError("these tokenizers clean up no spaces")
        return self.backend_tokenizer.decode(list(token_ids), skip_special_tokens=skip_special_tokens)

    def convert_ids_to_tokens(self, ids: int) -> str | None:
        return self.backend_tokenizer.id_to_token(ids)


def _show_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"⟨{byte:02X}⟩" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("specviz.show_bytes", _show_bytes)


class TokenTexts(dict[int, str]):
    """Display text by token id, made once for each id. Never join these into text: decode the ids instead."""

    def __init__(self, tokenizer: Tokens) -> None:
        self._tokenizer = tokenizer
        backend = getattr(tokenizer, "backend_tokenizer", None)
        self._byte_level = isinstance(getattr(backend, "decoder", None), ByteLevel)

    def __missing__(self, token_id: int) -> str:
        raw = self._tokenizer.convert_ids_to_tokens(token_id)
        text = f"⟨token {token_id}⟩" if raw is None else str(raw)
        if raw is not None and token_id not in self._tokenizer.all_special_ids:
            text = token_bytes(text, self._byte_level).decode("utf-8", "specviz.show_bytes")
        self[token_id] = text
        return text


def token_bytes(raw: str, byte_level: bool) -> bytes:
    """The bytes that a vocabulary entry means, in GPT-2's byte alphabet or SentencePiece's spelling."""
    if byte_level:
        alphabet = byte_alphabet()
        return b"".join(alphabet.get(char) or char.encode() for char in raw)
    if match := re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", raw):
        return bytes.fromhex(match[1])
    return raw.replace("▁", " ").encode()


@cache
def byte_alphabet() -> dict[str, bytes]:
    """The byte behind each character of GPT-2's printable alphabet: bytes that print are themselves."""
    prints = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in prints]
    spelled = {chr(byte): byte for byte in prints} | {chr(256 + place): byte for place, byte in enumerate(others)}
    return {char: bytes([byte]) for char, byte in spelled.items()}
