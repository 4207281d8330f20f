"""What other systems do with the bundled pair on the same machine, as benchmarks/peers.py measured and stored it."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from specviz.core.files import RESULTS, read_stored
from specviz.core.once import cache_once
from specviz.core.trace import Machine
from specviz.data.measured.measured_methods import Quiet

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
    repeats: int
    tokens: int
    draft_length: int
    target: str
    draft: str


@dataclass(frozen=True, slots=True)
class Peers:
    machine: Machine
    quiet: Quiet
    options: PeersOptions
    kinds: dict[str, dict[PeerSystem, Decoding]]
    agreement: dict[str, Agreement]  # by the way of decoding: "llama.cpp plain"


recorded_peers = cache_once(partial(read_stored, RESULTS / "peers.json", Peers, "the comparison with other systems"))
