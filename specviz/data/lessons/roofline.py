"""The lesson about latency and throughput: published machines and models, and the texts around its picture."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from specviz.core.files import MEASURED, read_stored
from specviz.core.once import cache_once
from specviz.core.texts import AppTexts, NonEmptyText

# What assets/browser/roofline/model.ts computes of a setting. An answer may name these of each setting that it shows:
COMPUTED = ("batch", "context", "model", "check", "speedup", "memory")
# A sentence may name these too:
ALSO = (
    *("word", "times", "tokens", "all", "round", "written", "needed", "own"),
    *("experts", "more_experts", "share", "alone", "together", "rate", "faster"),
)


@dataclass(frozen=True, slots=True)
class PublishedMachine:
    name: str
    short: str
    teraflops: float  # 10^12 operations a second
    terabytes: float  # 10^12 bytes a second from its memory
    memory: int  # 10^9 bytes
    says: str  # what the source says, in its own figures
    url: str
    checked: str  # when the source was last looked up, and in which document


@dataclass(frozen=True, slots=True)
class ModelShape:
    name: str
    layers: int
    width: int
    inner: int  # width of an expert, or of the only one
    heads: int
    kv_heads: int
    head: int  # width of one head
    vocabulary: int
    experts: int  # of a layer; 1: dense
    active: int  # of them, for each token
    billions: float  # all weights, as published
    url: str
    checked: str


@dataclass(frozen=True, slots=True)
class PublishedPeaks:
    note: str
    machines: tuple[PublishedMachine, ...]
    models: tuple[ModelShape, ...]


@dataclass(frozen=True, slots=True)
class RooflineView:
    machine: str
    model: str
    batch: int
    context: int


@dataclass(frozen=True, slots=True)
class LoadQuestion:
    name: Literal["batch", "context", "experts"]
    question: NonEmptyText
    answer: NonEmptyText
    shows: tuple[RooflineView, ...]

    @property
    def figures(self) -> Mapping[str, str]:
        numbered = [f"{name}_{place}" for place in range(1, len(self.shows) + 1) for name in COMPUTED]
        return dict.fromkeys(["tokens", *numbered], "")


@dataclass(frozen=True, slots=True)
class Roofline:
    title: NonEmptyText
    introduction: NonEmptyText
    limits: NonEmptyText  # what the model leaves out
    draft: Mapping[Literal["acceptance", "length", "cost"], int]  # of judged guesses and of a plain pass, in per cent
    labels: Mapping[str, NonEmptyText]  # beside the controls and in the picture
    sentences: Mapping[str, NonEmptyText]  # of the setting of the sliders
    questions: tuple[LoadQuestion, ...]
    batching: Mapping[Literal["title", "text"], NonEmptyText]


roofline = AppTexts("roofline", Roofline)


@cache_once
def published_peaks() -> PublishedPeaks:
    return read_stored(MEASURED / "machines.json", PublishedPeaks, "the machines and models")
