"""The tokenizer that reads another system's record: that of the target, where its files are on this machine."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.core.errors import InputError
from specviz.core.names import short_name
from specviz.core.texts import Sentences
from specviz.models.catalogue import MODELS_FOLDER, bundled_names, find_folder
from specviz.models.draft_menu import is_allowed, offered_names

say = Sentences("models")

if TYPE_CHECKING:
    from specviz.models.tokens import Tokens

FILE = "tokenizer.json"


def list_tokenizers() -> list[str]:
    return [name for name in offered_names() if tokenizer_file(name)]


def tokenizer_file(name: str) -> Path | None:
    """The tokenizer.json of a model that a visitor may name; None where it is not here. Nothing is downloaded."""
    if name in bundled_names():
        return MODELS_FOLDER / name / FILE
    if not is_allowed(name):
        return None
    folder = find_folder(name)
    found = [folder / FILE] if folder else []
    if not folder:  # in the Hub's cache, ours first; the newest version first
        stored = f"models--{name.replace('/', '--')}/snapshots/*/{FILE}"
        home = os.environ.get("HF_HOME") or f"{os.environ.get('XDG_CACHE_HOME') or '~/.cache'}/huggingface"
        hub = Path(os.environ.get("HF_HUB_CACHE") or f"{home}/hub").expanduser()  # as huggingface_hub finds it
        for cache in (hub / "specviz", hub):
            found += sorted(cache.glob(stored), key=os.path.getmtime, reverse=True)
    return next((file for file in found if file.is_file()), None)


class RecordTokenizer:
    """What `specviz.systems` needs of a tokenizer."""

    def __init__(self, tokens: "Tokens") -> None:
        from specviz.models.tokens import TokenTexts  # imports tokenizers, which a page without a record does not need

        self._tokens = tokens
        self._texts = TokenTexts(tokens)

    def texts(self, token_ids: Sequence[int]) -> list[str]:
        return [self._texts[token_id] for token_id in token_ids]

    def encode(self, text: str) -> list[int]:
        options = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
        return list(self._tokens(text, **options)["input_ids"])


def tokenizer_here(name: str) -> RecordTokenizer:
    """The tokenizer of a model that a visitor may name. Nothing is downloaded, and neither torch nor transformers is
    imported: the web server calls this.
    """
    from tokenizers import Tokenizer  # which a page without a record does not need

    from specviz.models.tokens import LightTokens

    file = tokenizer_file(name)
    if file is None:
        raise InputError(say("no_record_tokenizer", name=short_name(name)[:100]))
    try:
        return RecordTokenizer(LightTokens(Tokenizer.from_file(str(file)), None))  # a record says where its text ends
    except Exception as error:  # tokenizers raises this class itself, for any fault of a file
        raise InputError(say("record_tokenizer_broken", file=FILE, name=short_name(name)[:100])) from error
