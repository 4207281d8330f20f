"""Tokenizers of different kinds, and tiny models that speak in their tokens: at random, or one text by heart."""

import json
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
BEGUN = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])


def bytes_tokenizer(text: str, size: int, start: bool = False) -> PreTrainedTokenizerFast:
    """As GPT-2's, trained on `text`; `start` puts <s> before every text."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    options = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), "special_tokens": ["</s>", "<s>"]}
    made.train_from_iterator([text] * 3, trainers.BpeTrainer(vocab_size=size, show_progress=False, **options))
    if start:
        made.post_processor = BEGUN
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>", bos_token="<s>")


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
    made = Tokenizer(models.BPE(vocabulary, merges, byte_fallback=True, unk_token="<unk>"))
    made.pre_tokenizer = learner.pre_tokenizer
    unspaced = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    made.decoder = decoders.Sequence(unspaced)
    made.post_processor = BEGUN
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>", bos_token="<s>", unk_token="<unk>")


def words_tokenizer(text: str) -> PreTrainedTokenizerFast:
    """Whole words; [CLS] stands before a text and [SEP] after it, as BERT has them."""
    words = ["[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(text.split())]
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    marks = [("[CLS]", 1), ("[SEP]", 2)]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")


MADE = {
    "story": lambda: bytes_tokenizer(STORY + LETTERS, 400),
    "code": lambda: bytes_tokenizer(CODE, 290, start=True),
    "bare": lambda: bytes_tokenizer("", 258),
    "spaces": lambda: spaces_tokenizer(STORY + CODE, 420),
    "words": lambda: words_tokenizer(STORY + LETTERS + CODE),
}
KINDS = [*MADE]
PAIRS = [(target, draft) for target in KINDS for draft in KINDS if target != draft]


@cache
def tokenizer(kind: str) -> PreTrainedTokenizerFast:
    return MADE[kind]()


@cache
def random_model(kind: str, seed: int = 1) -> LoadedModel:
    """Random weights, so its text wanders over tokens, broken characters and all."""
    made = tokenizer(kind)
    return with_tokenizer(tiny_model(seed=seed, vocabulary=len(made), name=kind, context=400), made)


@cache
def learned_model(kind: str, text: str) -> LoadedModel:
    """Knows one text by heart, in its own tokens."""
    return taught(kind, TextTokens(tokenizer(kind)).open(text))


def taught(kind: str, token_ids: list[int]) -> LoadedModel:
    """Trained until every token of the text is far ahead of the others, so that no rounding changes what it writes."""
    loaded, ids = random_model.__wrapped__(kind, seed=2), torch.tensor([token_ids])  # of its own: it changes
    loaded.model.requires_grad_(True)
    optimizer = torch.optim.Adam(loaded.model.parameters(), lr=0.01)
    for _ in range(MOST_STEPS):
        logits = loaded.model(ids).logits[0, :-1]
        if float(logits.detach().softmax(-1).gather(1, ids[0, 1:, None]).min()) > LEARNED:
            loaded.model.requires_grad_(False)
            return loaded
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, ids[0, 1:]).backward()
        optimizer.step()
    raise AssertionError(f"After {MOST_STEPS} steps the model {kind!r} does not know its {len(token_ids)} tokens.")
