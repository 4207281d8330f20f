"""Models of seven tokens that are letters, and a grammar so small that every text it allows can be listed."""

from itertools import product

from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast

from specviz.data.prompts.grammars import Grammar
from specviz.models.loaded_model import LoadedModel
from tests.support.tiny_models import tiny_model, with_tokenizer

ALPHABET = ["<end>", "a", "b", "c", "ab", "bc", "ca"]
LANGUAGE = Grammar("regex", "(ab|b|ca){1,3}")
WORDS = {"".join(parts) for n in (1, 2, 3) for parts in product(("ab", "b", "ca"), repeat=n)}


def letters() -> PreTrainedTokenizerFast:
    model = BPE({token: i for i, token in enumerate(ALPHABET)}, [("a", "b"), ("b", "c"), ("c", "a")])
    tokenizer = Tokenizer(model)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>")


def lettered(layers: int, vocabulary: int = 7) -> LoadedModel:
    """A model whose tokens are letters; a vocabulary of more than 7 has rows that no token uses."""
    return with_tokenizer(tiny_model(seed=1, layers=layers, vocabulary=vocabulary, name=f"tiny-{layers}"), letters())


def may_follow(written: str, token: int) -> bool:
    """By definition: some word of the language begins so; at an end, is one."""
    if token == 0:
        return written in WORDS
    return any(word.startswith(written + ALPHABET[token]) for word in WORDS)
