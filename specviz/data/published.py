"""Figures published in papers, each with its source (assets/measured/published.yaml). None was measured here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import yaml
from pydantic import BeforeValidator, TypeAdapter

from specviz.core.files import MEASURED
from specviz.core.theory import alpha_from_acceptance_rate, ideal_speedup, round_steps

# c: a number, or the two published times that it is the ratio of
CostRatio = Annotated[float, BeforeValidator(lambda given: given[0] / given[1] if isinstance(given, list) else given)]


@dataclass(frozen=True, slots=True)
class PublishedRun:
    pair: str  # draft → target
    machine: str
    task: str
    temperature: str  # in the paper's words
    draft_length: int
    cost_ratio: CostRatio
    alpha: float | None  # the per-judgement rate in the paper; None if it is not published
    speedup: float  # measured by the authors
    source: str
    url: str

    @property
    def label(self) -> str:
        return f"{self.pair}, {self.task}, {self.temperature}"

    @property
    def modelled_speedup(self) -> float | None:
        return None if self.alpha is None else ideal_speedup(self.alpha, self.draft_length, self.cost_ratio)

    @property
    def explaining_alpha(self) -> float:
        """The alpha that gives the published speedup if checking and the loop cost nothing extra. Modelled."""
        tokens = self.speedup * round_steps(self.draft_length, self.cost_ratio)
        rate = (tokens - 1) / self.draft_length
        return alpha_from_acceptance_rate(min(1.0, max(0.0, rate)), self.draft_length)


@dataclass(frozen=True, slots=True)
class PublishedReport:
    """What was reported of a system, and where it was said."""

    system: str
    source: str
    url: str


@dataclass(frozen=True, slots=True)
class ServedGain(PublishedReport):
    """A gain or loss of a server or a large model."""

    speedup: float
    sequences: str = ""  # decoded at once


@dataclass(frozen=True, slots=True)
class GpuRound:
    method: str
    target: str
    tokens: float  # mean tokens per decoding step, the target's own among them
    speedup: float  # measured by the authors
    url: str

    @property
    def cost(self) -> float:
        return self.tokens / self.speedup


@dataclass(frozen=True, slots=True)
class GpuCosts:
    pair: str  # draft → target
    machine: str
    cost_ratio: CostRatio
    published: str  # the name of the text: what of it is published, and where
    assumed: str  # and what is not
    url: str
    tokens_per_second: Mapping[int, float] = field(default_factory=dict)  # of the target that reads k tokens at once

    @property
    def label(self) -> str:
        return f"{self.pair}, {self.machine}"

    @property
    def verification(self) -> dict[int, float]:
        return {k: k * self.tokens_per_second[1] / rate for k, rate in self.tokens_per_second.items()}


@dataclass(frozen=True, slots=True)
class Published:
    papers: tuple[PublishedRun, ...]
    served: Mapping[str, ServedGain]
    reports: Mapping[str, PublishedReport]
    gpu_rounds: tuple[GpuRound, ...]
    gpu_costs: tuple[GpuCosts, ...]


FILE = MEASURED / "published.yaml"
_KNOWN = TypeAdapter(Published).validate_python(yaml.safe_load(FILE.read_text(encoding="utf-8")))

PUBLISHED, GPU_ROUNDS, GPU_COSTS = _KNOWN.papers, _KNOWN.gpu_rounds, _KNOWN.gpu_costs
SERVED, REPORTS = _KNOWN.served, _KNOWN.reports
