"""Figures published in papers, each with its source. Nothing here was measured by this project.

The modelled speedup beside them is E(γ) / (γc + 1). The papers do not publish v(k) or the loop's overhead, so v is 1
and o is 0.
"""

from dataclasses import dataclass

from specviz.core.theory import alpha_from_acceptance_rate, ideal_speedup, round_steps


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """One configuration reported in a paper."""

    pair: str  # draft → target
    machine: str
    task: str
    temperature: str  # in the paper's words
    draft_length: int
    cost_ratio: float  # c
    alpha: float | None  # the per-judgement rate in the paper; None if it is not published
    speedup: float  # measured by the authors
    source: str
    url: str

    @property
    def label(self) -> str:
        """Short and unique."""
        return f"{self.pair}, {self.task}, {self.temperature}"

    @property
    def modelled_speedup(self) -> float | None:
        """E(γ) / (γc + 1), Leviathan's Theorem 3.8; None if alpha is not published."""
        return None if self.alpha is None else ideal_speedup(self.alpha, self.draft_length, self.cost_ratio)

    @property
    def explaining_alpha(self) -> float:
        """The alpha that gives the published speedup if checking and the loop cost nothing extra. Modelled."""
        tokens = self.speedup * round_steps(self.draft_length, self.cost_ratio)
        rate = (tokens - 1) / self.draft_length
        return alpha_from_acceptance_rate(min(1.0, max(0.0, rate)), self.draft_length)


LEVIATHAN = "Leviathan et al. 2023, table 2 (γ, α, speedup) and appendix table 4 (c)"
CHEN = "Chen et al. 2023, table 1 and section 6 (c is 1.8 ms over 14.1 ms)"


def _t5(draft: str, task: str, temperature: int, figures: tuple[int, float, float, float]) -> PublishedRun:
    draft_length, cost_ratio, alpha, speedup = figures
    return PublishedRun(
        pair=f"{draft} → T5-XXL 11B",
        machine="one TPU v4, batch 1",
        task=task,
        temperature=f"temperature {temperature}",
        draft_length=draft_length,
        cost_ratio=cost_ratio,
        alpha=alpha,
        speedup=speedup,
        source=LEVIATHAN,
        url="https://arxiv.org/abs/2211.17192",
    )


def _chinchilla(task: str, temperature: str, speedup: float) -> PublishedRun:
    return PublishedRun(
        pair="a 4B draft → Chinchilla 70B",
        machine="16 TPU v4, batch 1",
        task=task,
        temperature=temperature,
        draft_length=4,
        cost_ratio=1.8 / 14.1,
        alpha=None,
        speedup=speedup,
        source=CHEN,
        url="https://arxiv.org/abs/2302.01318",
    )


PUBLISHED = (
    _t5("T5-small 77M", "English to German", 0, (7, 0.02, 0.75, 3.4)),
    _t5("T5-base 250M", "English to German", 0, (7, 0.04, 0.80, 2.8)),
    _t5("T5-large 800M", "English to German", 0, (7, 0.11, 0.82, 1.7)),
    _t5("T5-small 77M", "English to German", 1, (7, 0.02, 0.62, 2.6)),
    _t5("T5-small 77M", "CNN/DailyMail", 0, (5, 0.02, 0.65, 3.1)),
    _t5("T5-small 77M", "CNN/DailyMail", 1, (5, 0.02, 0.53, 2.3)),
    _chinchilla("XSum", "greedy", 2.01),
    _chinchilla("XSum", "nucleus 0.8", 1.92),
    _chinchilla("HumanEval", "nucleus 0.95", 2.46),
)


@dataclass(frozen=True, slots=True)
class ServedGain:
    """A gain or loss that was reported of a server or a large model; which system, and where it was said."""

    system: str
    setting: str
    speedup: float
    source: str
    url: str


BUSY_EAGLE = ServedGain(
    "EAGLE-3 in SGLang", "64 sequences at once", 1.38, "arXiv 2503.01840", "https://arxiv.org/abs/2503.01840"
)
BUSY_LONG_TEXTS = ServedGain(
    "MagicDec",
    "long contexts, 32 to 256 sequences at once",
    2.0,
    "arXiv 2408.11049",
    "https://arxiv.org/abs/2408.11049",
)
EXPERTS = ServedGain(
    "Qwen3.5-397B-A17B with Qwen3.5-9B as its draft",
    "one sequence, 3 drafted tokens a round, mean of five kinds of prompts",
    0.65,
    "mlx-lm issue 1132",
    "https://github.com/ml-explore/mlx-lm/issues/1132",
)
