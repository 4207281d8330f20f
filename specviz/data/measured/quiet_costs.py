"""What the bundled drafts cost on quiet machines, as `python -m benchmarks.quiet_costs` stored it; for which run."""

from dataclasses import dataclass
from typing import Literal

from specviz.core.files import RESULTS, read_once, read_stored
from specviz.core.metrics import Costs
from specviz.core.texts import Sentences
from specviz.core.trace import Machine, Trace
from specviz.core.verdict import KnownCosts, doubts
from specviz.data.measured.measured_methods import Quiet

say = Sentences("quiet_costs")
FILE = RESULTS / "quiet_costs.json"
KINDS = ("avx2", "avx512", "avx512_bf16", "amx")  # of instructions, each beside those that are nearest to it


@dataclass(frozen=True, slots=True)
class MachineCosts:
    """What each draft costs for one target on one quiet machine. All models are in one number format."""

    created: str  # the day
    processor: str
    machine: Machine
    target: str
    dtype: str
    quiet: Quiet
    drafts: dict[str, Costs]  # by the names that requests have

    @property
    def key(self) -> tuple[object, ...]:
        """A new measurement takes the place of one with the same."""
        return self.processor, self.machine.instructions, self.machine.threads, self.target, self.dtype

    def measure_difference(self, machine: Machine) -> tuple[int, int]:
        """How much another processor differs: by its instructions, and then by its name; 0 is the same."""
        own, other = self.machine.instructions, machine.instructions
        known = own in KINDS and other in KINDS
        steps = abs(KINDS.index(own) - KINDS.index(other)) if known else len(KINDS) * (own != other)
        return steps, int(not machine.machine.startswith(self.processor))


@dataclass(frozen=True, slots=True)
class QuietCosts:
    schema: Literal[1]
    machines: list[MachineCosts]

    def find_for_run(self, trace: Trace) -> MachineCosts | None:
        """The measurement of this run's pair on the processor that is most like the run's; None without one."""
        drafter, dtype = trace.drafter, trace.target.dtype
        if drafter is None or drafter.dtype not in (None, dtype):
            return None
        fits = [
            each
            for each in self.machines
            if (each.target, each.dtype) == (trace.target.name, dtype) and drafter.asked_as in each.drafts
        ]
        return min(fits, key=lambda each: each.measure_difference(trace.recorded_on), default=None)


@read_once("No quiet costs", QuietCosts(1, []))
def quiet_costs() -> QuietCosts:
    return read_stored(FILE, QuietCosts, "the quiet costs")


def known_costs(trace: Trace, calibrated: Costs | None) -> KnownCosts | None:
    """The costs that speak for a run on a busy machine; None where nothing is known of its pair.

    First what was recorded on a quiet processor of the same kind: a calibration here may have been disturbed too. Then
    a calibration that no run doubts. Last what was recorded on another kind.
    """
    found = quiet_costs().find_for_run(trace)
    same = found is not None and found.measure_difference(trace.recorded_on)[0] == 0
    if calibrated and not same and not doubts(trace, calibrated):
        return KnownCosts(calibrated, say("this_machine"), say("calibrated"))
    if found is None or trace.drafter is None:
        return None
    source = say("recorded" if same else "elsewhere", found=found)
    return KnownCosts(found.drafts[trace.drafter.asked_as], found.processor, source)
