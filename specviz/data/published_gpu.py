"""Costs of rounds on GPUs as others published them, each with its source. Nothing here was measured by this project.

Two kinds. A benchmark that reports tokens per step and the speedup gives the cost of a whole round: tokens / speedup.
Benchmarks of single models give c, or v(k): what they leave out is assumed, and the preset says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GpuRound:
    """A method on a GPU: what a round wrote and what it brought."""

    method: str
    target: str
    tokens: float  # mean tokens per decoding step, the target's own among them
    speedup: float  # measured by the authors
    url: str

    @property
    def cost(self) -> float:
        """The round in target steps, inferred: tokens / speedup."""
        return self.tokens / self.speedup


@dataclass(frozen=True, slots=True)
class GpuCosts:
    """Costs of a pair of models on a GPU, for the worksheet's controls."""

    pair: str  # draft → target
    machine: str
    cost_ratio: float  # c
    published: str  # what of it is published, and where
    assumed: str  # what is not
    url: str
    verification: Mapping[int, float] = field(default_factory=dict)  # v(k); empty: assumed to be 1

    @property
    def label(self) -> str:
        """Short and unique."""
        return f"{self.pair}, {self.machine}"


SPEC_BENCH = "https://github.com/hemingkx/Spec-Bench/blob/main/Leaderboard.md"

# One A100 (80 GB), batch 1, greedy, FP16, the mean of six tasks. SpS: a separate draft model.
GPU_ROUNDS = (
    GpuRound("SpS", "Vicuna-7B", 2.28, 1.49, SPEC_BENCH),
    GpuRound("SpS", "Vicuna-13B", 2.18, 1.49, SPEC_BENCH),
    GpuRound("SpS", "Vicuna-33B", 2.01, 1.61, SPEC_BENCH),
    GpuRound("EAGLE", "Vicuna-7B", 3.61, 2.29, SPEC_BENCH),
    GpuRound("EAGLE", "Vicuna-13B", 3.64, 2.34, SPEC_BENCH),
    GpuRound("EAGLE", "Vicuna-33B", 3.39, 2.47, SPEC_BENCH),
    GpuRound("prompt lookup", "Vicuna-7B", 1.73, 1.59, SPEC_BENCH),
)

VLLM_TP = "https://github.com/vllm-project/vllm/pull/4840"
LLAMA_BENCH = "https://github.com/ggml-org/llama.cpp/issues/8499"
LLAMA_BATCHES = "https://github.com/ggml-org/llama.cpp/pull/5625"
ONLY_C = "v = 1 and o = 0 are assumed: they are not published there"
# tokens per second of the target when it reads k tokens at once: 34.67 for one, 64.67 for two, ...
Q8_TOKENS_PER_SECOND = {1: 34.67, 2: 64.67, 3: 92.92, 4: 108.26, 5: 135.18, 6: 134.88, 7: 150.72, 8: 160.81, 9: 80.38}

GPU_COSTS = (
    GpuCosts(
        "OPT-125M → OPT-30B",
        "one A100",
        0.35 / 5.63,
        "c from two latencies of vLLM (#4840): 0.35 s and 5.63 s",
        ONLY_C,
        VLLM_TP,
    ),
    GpuCosts(
        "OPT-125M → OPT-30B",
        "four A100, both models split over four",
        1.39 / 2.42,
        "c from two latencies of vLLM (#4840): 1.39 s and 2.42 s. A small model does not gain from four GPUs",
        ONLY_C,
        VLLM_TP,
    ),
    GpuCosts(
        "Llama-160M → Llama-7B, F16",
        "one A100, llama.cpp",
        79.75 / 712.15,
        "c from 79.75 and 712.15 tokens per second (llama.cpp #8499)",
        ONLY_C,
        LLAMA_BENCH,
    ),
    GpuCosts(
        "a 7B draft, Q4_0 → CodeLlama-34B, Q8_0",
        "one A100, llama.cpp",
        3.56 / 33.39,
        "v(k) up to 9 from tokens per second when k are read at once (llama.cpp #5625)",
        "c = 0.11 is assumed: the ratio of the two files’ sizes, because a step reads all weights; o = 0 too",
        LLAMA_BATCHES,
        {k: k * Q8_TOKENS_PER_SECOND[1] / rate for k, rate in Q8_TOKENS_PER_SECOND.items()},
    ),
)
