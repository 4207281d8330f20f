"""Very small random models, made in a moment: enough vocabulary to enumerate, real caches, real forward passes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.core.trace import ModelInfo
from specviz.models.loaded_model import LoadedModel
from specviz.models.transformers_models import from_transformers


def tiny_model(
    seed: int, vocabulary: int = 7, layers: int = 2, name: str = "tiny", sharpness: float = 4.0, context: int = 64
) -> LoadedModel:
    """A random Llama; `sharpness` scales its logits, so that two of them neither agree nor disagree all the time."""
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        max_position_embeddings=context,
        bos_token_id=None,
        eos_token_id=None,
        initializer_range=0.5,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config).eval()
    model.requires_grad_(False)
    model.lm_head.weight.mul_(sharpness / 4)
    info = ModelInfo(name, model.num_parameters(), "float32", f"seed-{seed}")
    return from_transformers(model, word_tokenizer(vocabulary), name, info)


def ending(made: LoadedModel, *token_ids: int) -> LoadedModel:
    """The same model, for which these tokens end a text."""
    return replace(made, ends=frozenset(token_ids))


def word_tokenizer(vocabulary: int) -> PreTrainedTokenizerFast:
    """Words w0, w1, ... as tokens 0, 1, ..."""
    return tokenizer_of({f"w{i}": i for i in range(vocabulary)})


def tokenizer_of(words: dict[str, int]) -> PreTrainedTokenizerFast:
    """These words as tokens; any other word is w0."""
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel(words, unk_token="w0")))


def save(made: LoadedModel, folder: Path) -> Path:
    """Write the model as a local folder that `load_model` takes; its weights are views of joined matrices."""
    stored = made.model.state_dict()
    weights = {name: each.clone(memory_format=torch.contiguous_format) for name, each in stored.items()}
    made.model.save_pretrained(folder, state_dict=weights)
    made.tokenizer.save_pretrained(folder)
    return folder


def with_tokenizer(loaded: LoadedModel, tokenizer: PreTrainedTokenizerFast) -> LoadedModel:
    """The same model with other words for its tokens."""
    return replace(loaded, tokens=tokenizer, make_tokenizer=lambda: tokenizer)


TEMPLATE = (
    "{% for message in messages %}{{ 'w1' if message.role == 'user' else 'w2' }} {{ message.content }} {% endfor %}"
    "{% if add_generation_prompt %}w2{% endif %}"
)


def with_template(template: str | None = TEMPLATE) -> LoadedModel:
    """A model of chats."""
    tokenizer = word_tokenizer(7)
    tokenizer.chat_template = template
    tokenizer.backend_tokenizer.pre_tokenizer = WhitespaceSplit()
    return with_tokenizer(tiny_model(seed=1, name="talker"), tokenizer)


def greedy_of_transformers(target: LoadedModel, prompt: Sequence[int], tokens: int) -> list[int]:
    """What transformers' own `generate` writes after the prompt: ids of this many tokens, or up to an end of text."""
    ids = torch.tensor([list(prompt)])
    how = {"max_new_tokens": tokens, "do_sample": False, "pad_token_id": 0}
    written = target.model.generate(ids, attention_mask=torch.ones_like(ids), **how)
    return list(written[0, len(prompt) :].tolist())
