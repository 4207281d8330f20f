"""What decoding needs of a tokenizer: a part of what transformers' tokenizers can do, by the same names.

`LightTokens` reads a tokenizer.json itself, so that a bundled model needs no transformers: importing it takes seconds.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from tokenizers import Tokenizer


class Tokens(Protocol):
    """Text to token ids and back. transformers' `PreTrainedTokenizerBase` is one."""

    @property
    def eos_token_id(self) -> Any:
        """The token that ends a text; None without one."""

    @property
    def all_special_ids(self) -> list[int]:
        """Ids of the tokens that are marks, not text."""

    @property
    def all_special_tokens(self) -> list[str]:
        """How they are written."""

    def __len__(self) -> int:
        """How many tokens there are."""

    def get_vocab(self) -> dict[str, int]:
        """The id of each token."""

    @property
    def __call__(self) -> Callable[..., Mapping[str, Any]]:
        """The ids of a text, under "input_ids"; with `split_special_tokens`, marks in it are text like any other."""

    @property
    def decode(self) -> Callable[..., Any]:
        """The text of these tokens."""

    def convert_ids_to_tokens(self, ids: int) -> Any:
        """How the vocabulary writes a token; None where there is no such id."""


class LightTokens:
    """The tokenizer of a bundled model, from its tokenizer.json alone."""

    def __init__(self, file: Path, end: int) -> None:
        """`end` is the id that ends a text."""
        self.eos_token_id = end
        self.backend_tokenizer: Tokenizer = Tokenizer.from_file(str(file))
        marks = self.backend_tokenizer.get_added_tokens_decoder()
        self.all_special_ids = [number for number, each in marks.items() if each.special]
        self.all_special_tokens = [str(each.content) for each in marks.values() if each.special]

    def __len__(self) -> int:
        return self.backend_tokenizer.get_vocab_size()

    def get_vocab(self) -> dict[str, int]:
        """See `Tokens`."""
        return self.backend_tokenizer.get_vocab()

    def __call__(
        self, text: str, *, add_special_tokens: bool = True, split_special_tokens: bool = False, verbose: bool = True
    ) -> dict[str, list[int]]:
        """See `Tokens`. `verbose` changes nothing here."""
        self.backend_tokenizer.encode_special_tokens = split_special_tokens
        return {"input_ids": self.backend_tokenizer.encode(text, add_special_tokens=add_special_tokens).ids}

    def decode(
        self, token_ids: Any, skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool = False
    ) -> str:
        """See `Tokens`.

        Raises:
            ValueError: spaces are to be cleaned up, which these tokenizers never do.
        """
        if clean_up_tokenization_spaces:
            raise ValueError("the tokenizers of the bundled models clean up no spaces")
        return self.backend_tokenizer.decode(list(token_ids), skip_special_tokens=skip_special_tokens)

    def convert_ids_to_tokens(self, ids: int) -> str | None:
        """See `Tokens`."""
        return self.backend_tokenizer.id_to_token(ids)
