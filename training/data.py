"""The corpus and its tokenizer: read once, split into training and held-out parts, and sampled at random places."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import Tensor

from specviz.core.errors import InputError

SEPARATOR = "<|endoftext|>"  # on its own line between documents
HELD_OUT = 0.02  # the last documents of each file


def say(line: str) -> None:
    """How far a run is, for who waits for it."""
    print(time.strftime("%H:%M:%S"), line, flush=True)


@dataclass(frozen=True, slots=True)
class Domain:
    """One kind of text. Each document is followed by the separator's id."""

    name: str
    training: Tensor  # (tokens,), int32
    held_out: Tensor  # (tokens,), int32


def read_documents(folder: Path) -> dict[str, list[str]]:
    """Documents of each `*.txt` in the folder, by the file's name without its ending.

    InputError: it has no such file, or one has fewer than two documents.
    """
    documents = {}
    for file in sorted(folder.glob("*.txt")):
        parts = f"\n{file.read_text(encoding='utf-8')}\n".split(f"\n{SEPARATOR}\n")
        documents[file.stem] = [part.strip("\n") for part in parts if part.strip()]
        if len(documents[file.stem]) < 2:
            raise InputError(f"{file} has fewer than two documents; they are separated by a line {SEPARATOR}.")
    if not documents:
        raise InputError(f"The folder {folder} has no .txt files to train on.")
    return documents


def train_tokenizer(texts: Iterable[str], vocabulary: int, folder: Path, context: int = 512) -> None:
    """Train a byte-level BPE, the same for all models of a family, so that the small ones can draft; written for
    transformers. Id 0 begins, ends and pads a text.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[SEPARATOR],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{SEPARATOR} $A", pair=f"{SEPARATOR} $A $B", special_tokens=[(SEPARATOR, 0)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = dict.fromkeys(("bos_token", "eos_token", "pad_token"), SEPARATOR)
    settings |= {"tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"model_max_length": context}, indent=2) + "\n")


def held_out_count(documents: int) -> int:
    """How many of the last documents of a file are not used for training."""
    return max(1, round(documents * HELD_OUT))


def read_corpus(folder: Path, tokenizer: Tokenizer, cache: Path | None = None) -> list[Domain]:
    """Every file of the folder as ids; `cache` is a file that stores them for the next run."""
    if cache and cache.is_file():
        return [Domain(*values) for values in torch.load(cache, weights_only=True)]
    domains = []
    for name, documents in read_documents(folder).items():
        count = held_out_count(len(documents))
        domains.append(Domain(name, _ids(documents[:-count], tokenizer), _ids(documents[-count:], tokenizer)))
    if cache:
        cache.parent.mkdir(parents=True, exist_ok=True)
        torch.save([(domain.name, domain.training, domain.held_out) for domain in domains], cache)
    return domains


def _ids(documents: list[str], tokenizer: Tokenizer) -> Tensor:
    end = tokenizer.token_to_id(SEPARATOR)
    encoded = tokenizer.encode_batch(documents, add_special_tokens=False)
    return torch.tensor([token for document in encoded for token in (*document.ids, end)], dtype=torch.int32)


class Mixture:
    """Draws batches. A batch depends only on the seed and the step, so a resumed run gets the same ones."""

    def __init__(self, texts: Mapping[str, Tensor], shares: Mapping[str, float], seed: int) -> None:
        if unknown := sorted(set(shares) - set(texts)):
            raise InputError(f"The mix names {unknown[0]}, but the corpus has only {', '.join(sorted(texts))}.")
        self._texts = [texts[name] for name in shares]
        self._weights = torch.tensor(list(shares.values()), dtype=torch.float64)
        self._seed = seed

    def batch(self, step: int, rows: int, length: int) -> Tensor:
        """Rows of `length` + 1 ids from random places, (rows, length + 1); the last id is only a label."""
        if (shortest := min(map(len, self._texts))) <= length:
            raise InputError(f"Rows of {length} tokens do not fit: a part of the corpus has only {shortest}.")
        generator = torch.Generator().manual_seed(self._seed * 1_000_003 + step)
        kinds = torch.multinomial(self._weights, rows, replacement=True, generator=generator).tolist()
        places = torch.rand(rows, generator=generator, dtype=torch.float64).tolist()
        drawn = []
        for text, place in zip((self._texts[kind] for kind in kinds), places, strict=True):
            start = int(place * (len(text) - length))
            drawn.append(text[start : start + length + 1])
        return torch.stack(drawn).long()
