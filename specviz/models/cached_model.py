"""A causal language model with its KV cache: it reads every token once and removes only rejected ones."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from specviz.models.loaded_model import LoadedModel

CHUNK = 128
"""Tokens of a prompt in one pass. Between two passes a job can be stopped, and others can go on.

Measured with one thread (`benchmarks/prefill.py`): 128 tokens take 0.7 s with 135 million parameters and 1.5 s with
400 million; the whole prompt takes 9 to 28 % longer than in one pass. Smaller chunks cost more: with 64 tokens 24 to
79 %. The keys and values equal those of one pass up to rounding (a test allows 1e-5 in the logits), and both decoders
read the prompt in the same chunks. So greedy output is the target's own, but for near-ties: tests compare it with
transformers, which reads in one pass. A prompt of at most 128 tokens is read in one pass here too.
"""


class CachedModel:
    """One model reading one text.

    Raises:
        InputError: its cache cannot be shortened (a recurrent model), so rejected tokens could not be removed; or, at
            the first pass, it does not use the cache at all.
    """

    def __init__(self, loaded: LoadedModel, vocabulary: int, *, whole: bool = False) -> None:
        self._vocabulary = vocabulary  # logits beyond it are padding of the embedding, not tokens
        self._device = loaded.facts.device
        self._reader = loaded.forward.reader(whole=whole)
        self.length = 0  # tokens in the cache

    def prefill(self, tokens: Sequence[int]) -> None:
        """Read the prompt without asking for a distribution."""
        for _ in self.prefill_steps(tokens):
            pass

    def prefill_steps(self, tokens: Sequence[int]) -> Iterator[None]:
        """Read the prompt in chunks, and yield after each: a chance to stop."""
        for start in range(0, len(tokens), CHUNK):
            logits = self._read(tokens[start : start + CHUNK], last=True)
            logits.cpu()  # waits for an accelerator, so that the clock includes its work
            yield
        self._reader.end_prompt()

    def read(self, tokens: Sequence[int]) -> Tensor:
        """Read `tokens` in one forward pass; returns the next-token logits after each, (len(tokens), vocabulary).

        The logits are float32 on the CPU, as is the random generator of the run.
        """
        return self._read(tokens)[:, : self._vocabulary].to("cpu", torch.float32)

    def crop(self, length: int) -> None:
        """Remove every token after the first `length` from the cache."""
        excess = max(0, self.length - length)
        self._reader.crop(excess)
        self.length -= excess

    def _read(self, tokens: Sequence[int], *, last: bool = False) -> Tensor:
        logits = self._reader.read(torch.tensor(tokens, device=self._device), last=last)
        self.length += len(tokens)
        return logits
