"""Tokenizers of different kinds, and tiny models that speak in their tokens: at random, or one text by heart."""

import json
from collections.abc import Sequence
from functools import cache

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from specviz.decoding.drafters.translated import TextTokens
from specviz.models.loaded_model import LoadedModel
from tests.support.tiny_models import tiny_model, with_tokenizer

STORY = "Once upon a time there was a little girl who loved to walk in the park and talk to the ducks. "
LETTERS = "Née à Zürich, 猫が好き、日本語の本 🦆🦆 déjà vu 👩‍👩‍👧 naïve, 犬も好き. "
CODE = "for i in range(10):\n    print(i, end=' ')\n\nwhile True:\n\tbreak\n"
LEARNED = 0.9  # the least probability that a taught model gives to any token of its text
MOST_STEPS = 5000  # 30 to 70 steps are enough where this was tried
TEXTS = [STORY, LETTERS, CODE, "the the  the   the"]


def bytes_tokenizer(text: str, size: int, start: bool = False) -> PreTrainedTokenizerFast:
    """As GPT-2's, trained on `text`; `start` puts <s> before every text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["</s>", "<s>"]
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator([text] * 3, trainer)
    if start:
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", bos_token="<s>")


def spaces_tokenizer(text: str, size: int) -> PreTrainedTokenizerFast:
    """As Llama 2's: ▁ for a space and before the text, <s> first, bytes for what it does not know."""
    learner = Tokenizer(models.BPE(unk_token="<unk>"))
    learner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    learner.train_from_iterator([piece for piece in text.split() for _ in range(3)], trainer)
    learned = json.loads(learner.to_str())["model"]
    vocabulary = learned["vocab"]
    vocabulary |= {f"<0x{byte:02X}>": len(vocabulary) + byte for byte in range(256)}
    merges = [(left, right) for left, right in learned["merges"]]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, byte_fallback=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = learner.pre_tokenizer
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    marks = {"eos_token": "</s>", "bos_token": "<s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks)


def words_tokenizer(words: Sequence[str], marked: bool = True) -> PreTrainedTokenizerFast:
    """Whole words; `marked` puts [CLS] before a text and [SEP] after it, as BERT has them."""
    vocabulary = {word: i for i, word in enumerate(["[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(words)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if marked:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
        )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")


@cache
def tokenizer(kind: str) -> PreTrainedTokenizerFast:
    if kind == "story":
        return bytes_tokenizer(STORY + LETTERS, 400)
    if kind == "code":
        return bytes_tokenizer(CODE, 290, start=True)
    if kind == "bare":
        return bytes_tokenizer("", 258)
    if kind == "spaces":
        return spaces_tokenizer(STORY + CODE, 420)
    return words_tokenizer((STORY + LETTERS + CODE).split())


KINDS = ["story", "code", "bare", "spaces", "words"]
PAIRS = [(target, draft) for target in KINDS for draft in KINDS if target != draft]


@cache
def random_model(kind: str, seed: int = 1) -> LoadedModel:
    """Random weights, so its text wanders over tokens, broken characters and all."""
    made = tokenizer(kind)
    loaded = tiny_model(seed=seed, vocabulary=len(made), name=kind, context=400)
    return with_tokenizer(loaded, made)


@cache
def learned_model(kind: str, text: str) -> LoadedModel:
    """Knows one text by heart, in its own tokens."""
    return taught(kind, TextTokens(tokenizer(kind)).open(text))


def taught(kind: str, token_ids: list[int]) -> LoadedModel:
    """Trained until every token of the text is far ahead of the others, so that no rounding changes what it writes."""
    made = tokenizer(kind)
    loaded = with_tokenizer(tiny_model(seed=2, vocabulary=len(made), name=kind, context=400), made)
    ids = torch.tensor([token_ids])
    loaded.model.requires_grad_(True)
    optimizer = torch.optim.Adam(loaded.model.parameters(), lr=0.01)
    for _ in range(MOST_STEPS):
        logits = loaded.model(ids).logits[0, :-1]
        least_sure = float(logits.detach().softmax(-1).gather(1, ids[0, 1:, None]).min())
        if least_sure > LEARNED:
            loaded.model.requires_grad_(False)
            return loaded
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, ids[0, 1:]).backward()
        optimizer.step()
    raise AssertionError(
        f"After {MOST_STEPS} steps the model {kind!r} gives one of its {len(token_ids)} tokens a probability of only "
        f"{least_sure:.3f}; it must be above {LEARNED} everywhere."
    )
