"""A model in memory, ready to decode, and the number formats it may have."""

from dataclasses import dataclass
from typing import Literal

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from specviz.core.trace import ModelInfo

Dtype = Literal["float32", "bfloat16", "auto"]
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A causal language model ready to decode, with its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    info: ModelInfo

    @property
    def context(self) -> int:
        """Most tokens it can read, prompt and output together."""
        # transformers maps other names for it (n_positions, ...) to this one
        limit = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return int(limit) if limit and limit > 0 else 2**31  # some models have no limit, written as -1

    @property
    def bytes(self) -> int:
        """Memory that its weights take."""
        return sum(weight.numel() * weight.element_size() for weight in self.model.parameters())

    @property
    def cache_bytes_per_token(self) -> int:
        """Memory that the keys and values of one token take: layers × heads × size of a head × 2 × bytes of a number.

        A layer with a sliding window may take less.
        """
        config = self.model.config.get_text_config()
        queries = getattr(config, "num_attention_heads", 1)
        heads = getattr(config, "num_key_value_heads", None) or queries
        size = getattr(config, "head_dim", None) or config.hidden_size // queries
        return int(config.num_hidden_layers * heads * size * 2 * self.model.dtype.itemsize)

    @property
    def end_ids(self) -> frozenset[int]:
        """Token ids that end the text."""
        ends = self.model.generation_config.eos_token_id if self.model.generation_config else None
        ends = self.tokenizer.eos_token_id if ends is None else ends
        return frozenset([ends] if isinstance(ends, int) else ends or [])
