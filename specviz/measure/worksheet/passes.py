"""What a pass over several texts costs, as measured: the shape that the worksheet's batch slider follows. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from specviz.core.theory import verification_steps
from specviz.data.batches import BatchStudy


@dataclass(frozen=True, slots=True)
class MeasuredPasses:
    target: str
    dtype: str
    machine: str
    checks: Mapping[int, Mapping[int, float]]  # batch → k → v(k)

    @property
    def largest(self) -> int:
        return max(self.checks)

    def steps(self, batch: int, tokens: int) -> float:
        """v(`tokens`) in a batch. Between two measured sizes it is on a straight line.

        Above the largest size, each further token takes as long as the mean further token of that size.
        """
        if batch > self.largest:
            return self._above(batch, tokens)
        low = max(size for size in self.checks if size <= batch)
        high = min(size for size in self.checks if size >= batch)
        below, above = (verification_steps(self.checks[size], tokens) for size in (low, high))
        return below + (above - below) * (batch - low) / (high - low or 1)

    def _above(self, batch: int, tokens: int) -> float:
        largest = self.largest
        longest, steps = max(self.checks[largest].items())
        a_token = (steps - 1) / (largest * (longest - 1))
        return (1 + a_token * (batch * tokens - largest)) / (1 + a_token * (batch - largest))

    def growth(self, batch: int, tokens: int) -> float:
        """How many times as dear a check of `tokens` is in a batch as for one text, each in steps of its own."""
        return self.steps(batch, tokens) / self.steps(1, tokens)


def measured_passes(study: BatchStudy) -> MeasuredPasses | None:
    """The passes of a study; None where it has none of one text, or only of one token."""
    checks = {each.batch: each.verification for each in study.passes if len(each.checks) > 1}
    if 1 not in checks:
        return None
    return MeasuredPasses(study.target, study.target_dtype, study.recorded_on.machine, checks)
