"""What drafting methods gain on GPUs, as others published it, each with its source. Nothing here was measured here."""

from collections.abc import Mapping
from dataclasses import dataclass

from specviz.data.measured_methods import Family
from specviz.data.published_gpu import SPEC_BENCH


@dataclass(frozen=True, slots=True)
class PublishedMethod:
    """One report of a method."""

    says: str  # one sentence: system, machine, figures
    source: str
    url: str


BENCH = "Spec-Bench’s leaderboard"
ON_A100 = "on one A100 with Vicuna-7B as the target (FP16, greedy, one text at a time)"


def _spec_bench(method: str, tokens: float, speedup: float) -> PublishedMethod:
    """One line of the table "Vicuna-7B-v1.3" of "Leaderboard on A100"; a round's cost is inferred from it."""
    says = (
        f"{method} {ON_A100}: {tokens:.2f} tokens per target call and {speedup:.2f}×. So a round cost about "
        f"{tokens / speedup:.1f} target steps."
    )
    return PublishedMethod(says, BENCH, SPEC_BENCH)


PUBLISHED_METHODS: Mapping[Family, tuple[PublishedMethod, ...]] = {
    "small model": (_spec_bench("A separate draft model (SpS)", 2.28, 1.49),),
    "eagle": (_spec_bench("EAGLE, with a tree of guesses,", 3.61, 2.29),),
    "medusa": (_spec_bench("Medusa, with a tree of guesses,", 2.32, 1.78),),
    "prompt lookup": (_spec_bench("Prompt lookup", 1.73, 1.59),),
    "early exit": (
        PublishedMethod(
            "LayerSkip, with Llama models that were trained to exit early: up to 2.16× on summaries (CNN/DM). The "
            "target here was not trained for it.",
            "arXiv 2404.16710",
            "https://arxiv.org/abs/2404.16710",
        ),
    ),
    "tree": (
        PublishedMethod(
            "EAGLE-2, whose trees follow the most probable paths: 3.05× to 4.26×, which is 20 % to 40 % faster than "
            "the fixed trees of EAGLE.",
            "arXiv 2406.16858",
            "https://arxiv.org/abs/2406.16858",
        ),
        PublishedMethod(
            "One RTX 3090 with Vicuna-7B: 4.36 tokens per target call and 2.25× with the trees of EAGLE-2, 3.57 and "
            "2.16× with those of EAGLE.",
            BENCH,
            SPEC_BENCH,
        ),
    ),
    "block": (
        PublishedMethod(
            "Block verification: 5 % to 8 % faster than verification token by token.",
            "arXiv 2403.10444",
            "https://arxiv.org/abs/2403.10444",
        ),
    ),
}

# Why a GPU changes it, in one sentence each; no figures.
ON_A_GPU: Mapping[Family, str] = {
    "small model": "The larger the target, the cheaper a small draft model is beside it.",
    "eagle": "The larger the target, the smaller the part of it that one head is.",
    "medusa": "All guesses come from one pass, and checking many guesses at once costs a GPU little: so Medusa is used "
    "with trees there.",
    "prompt lookup": "Checking is nearly free there, so a copied guess that fails costs nearly nothing.",
    "early exit": "The gain comes from training, not from the machine: the first layers must learn to guess.",
    "tree": "A GPU that reads one token mostly waits for memory, so a wider check costs it little. A CPU computes for "
    "every node.",
    "block": "It costs nothing more anywhere, and accepts at least as much in expectation.",
}
