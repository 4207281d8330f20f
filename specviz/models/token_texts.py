"""The text of one token for display. A token may be part of a character: its bytes are then shown as ⟨E2⟩⟨80⟩."""

import codecs
import re
from collections.abc import Iterable
from functools import cache

from tokenizers.decoders import ByteLevel

from specviz.models.tokens import Tokens


def _show_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"⟨{byte:02X}⟩" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("specviz.show_bytes", _show_bytes)


class TokenTexts:
    """Display text by token id, made once for each id. Never join these into text: decode the ids instead."""

    def __init__(self, tokenizer: Tokens) -> None:
        self._tokenizer = tokenizer
        self._byte_level = isinstance(
            getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None), ByteLevel
        )
        self._known: dict[int, str] = {}

    def __getitem__(self, token_id: int) -> str:
        text = self._known.get(token_id)
        if text is None:
            text = self._known[token_id] = self._make(token_id)
        return text

    def _make(self, token_id: int) -> str:
        raw = self._tokenizer.convert_ids_to_tokens(token_id)
        if raw is None:
            return f"⟨token {token_id}⟩"
        if token_id in self._tokenizer.all_special_ids:
            return str(raw)
        return token_bytes(str(raw), self._byte_level).decode("utf-8", "specviz.show_bytes")


def texts_of(tokenizer: Tokens, token_ids: Iterable[int]) -> dict[int, str]:
    """The display text of each of these tokens."""
    token_texts = TokenTexts(tokenizer)
    return {token_id: token_texts[token_id] for token_id in token_ids}


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
