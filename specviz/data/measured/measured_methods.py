"""All drafting methods on the same prompts, as `python -m benchmarks.methods` measured and stored them. No torch."""

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from specviz.core.drafters import exit_layers, spoken
from specviz.core.files import RESULTS, read_once, read_stored
from specviz.core.judge import Judgement, judge
from specviz.core.once import cache_once
from specviz.core.settings import DraftSampling, VerificationMode
from specviz.core.trace import Machine

FILE = RESULTS / "methods.json"
ALL = "all"  # the prompts of every kind of text together
KINDS = ("story", "code", "structured", "prose")
POSITIONS_AT = 4  # the draft length at which acceptance by position is compared


# After a drafter's name: how its draft is made or verified, and the end of the method's title.
ENDINGS = {" tree": " (tree)", " argmax": " (most probable drafts)", " block": " (block verification)"}
TREE, ARGMAX, BLOCK = ENDINGS

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class MethodSetting:
    draft_length: int  # of a tree: its depth
    tree: str | None = None
    draft_sampling: DraftSampling = "sample"
    verification: VerificationMode = "token"

    @property
    def label(self) -> str:
        return self.tree or f"γ = {self.draft_length}"


@dataclass(frozen=True, slots=True)
class RoundCosts:
    """What rounds gave and cost. Times are medians over rounds with a draft, in steps of the target alone."""

    tokens_per_target_call: Positive
    guesses: NotNegative  # drafted in a round, the mean; of a tree: its nodes
    draft_step: NotNegative | None  # c: the draft over its length, or over the depths of a tree
    draft: NotNegative | None  # the whole draft of a round
    verify: NotNegative | None  # the target's pass over the draft: v
    overhead: NotNegative | None  # the rest of a round


@dataclass(frozen=True, slots=True)
class SettingFigures:
    way: MethodSetting
    costs: RoundCosts
    judged: list[int]
    accepted: list[int]
    speedup: Positive  # the geometric mean over the prompts

    @property
    def by_position(self) -> list[float | None]:
        return [yes / judged if judged else None for judged, yes in zip(self.judged, self.accepted, strict=True)]


@dataclass(frozen=True, slots=True)
class BestSetting:
    """One method with each prompt at the setting that did best on the other prompts of its kind."""

    ways: list[MethodSetting]  # one a prompt
    costs: RoundCosts
    speedup: Positive  # the geometric mean over the prompts
    low: NotNegative  # its 95 % interval over the prompts; 0 is a rounded one
    high: Positive
    speedups: list[Positive] = field(default_factory=list)  # one a prompt, as their mean and interval were computed

    @property
    def judged(self) -> Judgement:
        return judge(self.speedup, (self.low, self.high))

    @property
    def labels(self) -> str:
        labels = [way.label for way in self.ways]
        return "; ".join(sorted(dict.fromkeys(labels), key=lambda label: -labels.count(label)))


@dataclass(frozen=True, slots=True)
class KindFigures:
    prompts: Annotated[int, Field(ge=2)]
    best: BestSetting
    settings: list[SettingFigures]

    def at(self, draft_length: int) -> SettingFigures | None:
        found = (one for one in self.settings if one.way.draft_length == draft_length and one.way.tree is None)
        return next(found, None)


@dataclass(frozen=True, slots=True)
class MeasuredMethod:
    name: str  # a drafter's name, and how its draft is made or verified where that is not the usual way
    kinds: dict[str, KindFigures]  # also ALL

    @property
    def drafter(self) -> str:
        return self.name.partition(" ")[0]

    @property
    def title(self) -> str:
        how = next((end for ending, end in ENDINGS.items() if self.name.endswith(ending)), "")
        layers = exit_layers(self.drafter)
        return f"early exit ({layers} layers)" if layers and not how else spoken(self.drafter) + how


@dataclass(frozen=True, slots=True)
class TemperatureFigures:
    temperature: NotNegative
    target_step_ms: Positive
    methods: list[MeasuredMethod]

    def find(self, name: str) -> MeasuredMethod | None:
        return next((method for method in self.methods if method.name == name), None)

    def kinds(self) -> list[str]:
        return [kind for kind in (ALL, *KINDS) if all(kind in method.kinds for method in self.methods)]


@dataclass(frozen=True, slots=True)
class Quiet:
    """How quiet the machine was: `benchmarks.quiet` stores nothing that was measured on a busy one."""

    calibrated_step_ms: Positive  # a step of the target while nothing else ran
    instructions: str = ""  # of the processor; empty: not stored
    others_share_of_a_core: NotNegative | None = None  # None: not stored


@dataclass(frozen=True, slots=True)
class MeasuredMethods:
    schema: Literal[1]
    created: str  # the day
    machine: Machine
    target: str
    target_dtype: str
    prompts: int  # of each kind of text
    tokens: int  # a run
    repeats: int
    temperatures: list[TemperatureFigures]
    quiet: Quiet | None = None

    @property
    def greedy(self) -> TemperatureFigures | None:
        return next((part for part in self.temperatures if part.temperature == 0), None)


@read_once("No comparison of methods")
def stored_methods() -> MeasuredMethods | None:
    return read_stored(FILE, MeasuredMethods, "the comparison of methods")


PeerSystem = Literal["ours", "transformers", "llama.cpp"]


@dataclass(frozen=True, slots=True)
class Decoding:
    """One system on one kind of text: medians over its prompts, in milliseconds a token."""

    plain_ms: float
    speculative_ms: float
    gain: float
    interval: list[float]  # of the gain, 95 %, over prompts


@dataclass(frozen=True, slots=True)
class Agreement:
    """On how many prompts a way of decoding wrote our text, and drafted and accepted as many tokens as we did."""

    prompts: int
    same_text: int
    same_counts: int | None = None  # None: the system does not report them


@dataclass(frozen=True, slots=True)
class PeersOptions:
    prompts: int  # of each kind
    draft_length: int


@dataclass(frozen=True, slots=True)
class Peers:
    machine: Machine
    options: PeersOptions
    kinds: dict[str, dict[PeerSystem, Decoding]]
    agreement: dict[str, Agreement]  # by the way of decoding: "llama.cpp plain"


recorded_peers = cache_once(partial(read_stored, RESULTS / "peers.json", Peers, "the comparison with other systems"))
