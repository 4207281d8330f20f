"""What a long prompt costs: seconds of a pass over a part of it, and memory for the quality of a sampled text.

    python -m benchmarks.prefill [--out FILE]

1. Reading: random models of three sizes read a prompt in passes of 32 to 256 tokens and in one. The longest pass is how
   long another visitor, or a stop, waits.
2. Quality: the peak memory, above what the model takes, of the mean log-probability of a text, with a vocabulary of
   128,256 tokens: with the logits of the whole text at once as before, and as it is now. Each in a process of its own.

One torch thread, float32, random weights: neither depends on what the weights are.
"""

import argparse
import json
import resource
import subprocess
import sys
from itertools import pairwise
from time import perf_counter
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from benchmarks.timing import report
from specviz.core.trace import ModelInfo
from specviz.measure.compare import mean_log_probability
from specviz.models import cached_model
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.transformers_models import from_transformers

SHAPES = {  # layers, width, inner width, heads, key-value heads, vocabulary
    "as wren-base": (8, 512, 1376, 8, 8, 4096),
    "as SmolLM2-135M": (30, 576, 1536, 9, 3, 49152),
    "as a model of 0.4 billion": (24, 1024, 4096, 16, 16, 50304),
}
LARGE_VOCABULARY = (2, 64, 128, 4, 4, 128_256)
CHUNKS = (32, 64, 128, 256)
TEXT = 2_000  # tokens
OUTPUT = 1_000  # of them written


def random_llama(shape: tuple[int, ...]) -> LoadedModel:
    """A Llama of this shape with random weights; its tokenizer has a word for each token."""
    layers, width, inner, heads, kv_heads, vocabulary = shape
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )
    model: Any = LlamaForCausalLM(config)
    words = Tokenizer(WordLevel({f"w{token}": token for token in range(vocabulary)}, unk_token="w0"))
    wrap: Any = PreTrainedTokenizerFast
    model.eval().requires_grad_(False)
    info = ModelInfo("random", model.num_parameters(), "float32", "")
    return from_transformers(model, wrap(tokenizer_object=words), "random", info)


def reading(shape: tuple[int, ...], tokens: int, repeats: int) -> list[dict[str, Any]]:
    """Seconds for a prompt of so many tokens, and of its longest pass; the fastest of the repeats."""
    loaded = random_llama(shape)
    prompt = torch.randint(shape[-1], (tokens,)).tolist()
    rows = []
    for chunk in (*CHUNKS, tokens):
        cached_model.CHUNK = chunk
        totals, longest = [], []
        for _ in range(repeats):
            times = [perf_counter()]
            times += [perf_counter() for _ in CachedModel(loaded, shape[-1]).prefill_steps(prompt)]
            totals.append(times[-1] - times[0])
            longest.append(max(b - a for a, b in pairwise(times)))
        rows.append({"chunk": chunk, "seconds": min(totals), "longest_pass_seconds": min(longest)})
    return rows


def whole_text(target: LoadedModel, prompt: list[int], output: list[int]) -> float:
    """The mean log-probability as it was computed before: one pass, the logits of the whole text."""
    vocabulary = target.rows
    logits = CachedModel(target, vocabulary).read([*prompt, *output])
    rows = logits[len(prompt) - 1 : -1].log_softmax(-1)
    return float(rows[torch.arange(len(output)), torch.tensor(output)].mean())


def quality_peak(way: str) -> None:
    """Print the peak memory of one way, in bytes above what was taken before, and the mean it finds."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loaded = random_llama(LARGE_VOCABULARY)
    text = torch.randint(LARGE_VOCABULARY[-1], (TEXT,)).tolist()
    CachedModel(loaded, LARGE_VOCABULARY[-1]).read(text[:4])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    prompt, output = text[:-OUTPUT], text[-OUTPUT:]
    mean = whole_text(loaded, prompt, output) if way == "before" else mean_log_probability(loaded, prompt, output).mean
    peak = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)  # Linux counts in kilobytes
    print(json.dumps({"peak_bytes": peak, "mean": mean}))


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--out", help="write the JSON to this file too")
    parser.add_argument("--quality", choices=("before", "now"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quality:
        return quality_peak(options.quality)
    found: dict[str, Any] = {}
    for way in ("before", "now"):  # first: a process inherits the peak of the one that starts it
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.prefill", "--quality", way], capture_output=True, text=True, check=True
        )
        found[f"quality of {OUTPUT} tokens after {TEXT - OUTPUT}, {way}"] = json.loads(done.stdout)
    torch.set_num_threads(1)
    for name, shape in SHAPES.items():
        found[name] = reading(shape, 1024 if shape[1] < 1000 else 512, 2)
    report(found, options.out)


if __name__ == "__main__":
    main()
