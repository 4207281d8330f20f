"""What a job has found so far: one result type for each kind of job."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from specviz.core.metrics import Costs
from specviz.core.replay import DraftGuesses, Prospect
from specviz.core.trace import Trace
from specviz.game.game import Turn
from specviz.measure.proof.rows import DrawBatch, GreedyRow
from specviz.measure.race import RaceLap
from specviz.measure.sweep.rows import SweepRow

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run, as far as it is."""

    trace: Trace  # its rounds and `autoregressive` grow; that is None before the first plain step
    plain_text: str = ""  # what the target alone wrote; empty until the end
    draft_guesses: DraftGuesses | None = None  # what the draft would guess along the output; None unless greedy
    id: str = ""  # in the run store; empty until the run is stored

    @property
    def rounds(self) -> int:
        """Number of rounds so far."""
        return len(self.trace.rounds)


def tokens_in(trace: Trace) -> int:
    """Drafted and emitted tokens of a run: what its memory grows with."""
    return sum(len(round.drafted) + 1 for round in trace.rounds)


@dataclass(frozen=True, slots=True)
class CostsResult:
    """What a pair costs on this machine."""

    costs: Costs
    dtype_reasons: tuple[str, ...] = ()  # for "fast": one sentence for each model, which number format it has and why
    beside: int = 0  # the most other engines that were busy while they were measured


@dataclass(frozen=True, slots=True)
class Items(Generic[T]):
    """What a task has found so far, in its order."""

    items: tuple[T, ...] = ()


class RaceResult(Items[RaceLap]):
    """The prompts timed."""


class SweepResult(Items[SweepRow | str]):
    """The cells measured; a sentence for each cell that could not be."""


class GuessesResult(Items[Prospect]):
    """The drafts compared along one output."""


class ProofResult(Items[DrawBatch]):
    """The batches drawn."""


class GreedyResult(Items[GreedyRow]):
    """The prompts compared."""


class PlayResult(Items[Turn]):
    """The one turn played."""


TaskResult = RaceResult | SweepResult | GuessesResult | ProofResult | GreedyResult | PlayResult
Result = RunResult | CostsResult | TaskResult
