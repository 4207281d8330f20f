"""The tokenizer that reads another system's record: that of the target, where its files are on this machine."""

from collections.abc import Sequence

from specviz.core.errors import InputError
from specviz.core.names import short_name
from specviz.models.token_texts import TokenTexts
from specviz.models.tokenizer_files import FILE, tokenizer_file
from specviz.models.tokens import LightTokens, Tokens

NO_END = -1  # a record says itself which token ended the text


class RecordTokenizer:
    """What `specviz.data.importers` needs of a tokenizer."""

    def __init__(self, tokens: Tokens) -> None:
        """Of any model."""
        self._tokens = tokens
        self._texts = TokenTexts(tokens)

    def texts(self, token_ids: Sequence[int]) -> list[str]:
        """The text of each id."""
        return [self._texts[token_id] for token_id in token_ids]

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without special tokens."""
        options = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
        return list(self._tokens(text, **options)["input_ids"])


def tokenizer_here(name: str) -> RecordTokenizer:
    """The tokenizer of a model that a visitor may name. Nothing is downloaded, and neither torch nor transformers is
    imported: the web server calls this.

    Args:
        name: a model that ships with the app, is in a folder that visitors may name, or was downloaded before.

    Raises:
        InputError: there is no such tokenizer on this server, or it cannot be read.
    """
    file = tokenizer_file(name)
    if file is None:
        raise InputError(
            f"The tokenizer of {short_name(name)[:100]} is not on this server: make a trace with "
            "`specviz import … --tokenizer NAME` on your machine, and open that."
        )
    try:
        return RecordTokenizer(LightTokens(file, NO_END))
    except Exception as error:  # tokenizers raises this class itself, for any fault of a file
        raise InputError(f"The {FILE} of {short_name(name)[:100]} cannot be read.") from error
