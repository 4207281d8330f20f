"""A byte-level BPE for a corpus: the same for all models of a family, so that the small ones can draft."""

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from training.data import SEPARATOR


def train_tokenizer(texts: Iterable[str], vocabulary: int, folder: Path, context: int = 512) -> None:
    """Train a tokenizer and write it for transformers; id 0 begins, ends and pads a text."""
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
