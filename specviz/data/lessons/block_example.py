"""Block verification of one draft, worked through with chosen numbers, as the answer in "Why?" shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

Probabilities = Sequence[float]  # the probability of each token of a small vocabulary


@dataclass(frozen=True, slots=True)
class BlockExample:
    """A draft that takes the first token of the vocabulary at each place."""

    p: Sequence[Probabilities]  # the target's, a row for each place
    q: Sequence[Probabilities]  # the draft's
    rolls: Probabilities  # u, one for each prefix

    @property
    def ratios(self) -> list[float]:
        return [p[0] / q[0] for p, q in zip(self.p, self.q, strict=True)]

    @property
    def shares(self) -> list[float]:
        """s(1) to s(n): s(i) = min(1, s(i - 1) · p/q), with s(0) = 1."""
        found = [1.0]
        for ratio in self.ratios:
            found.append(min(1.0, found[-1] * ratio))
        return found[1:]

    @property
    def left(self) -> list[float]:
        """Σ (s·p − q)₊ at the place after each prefix but the whole draft."""
        after = zip(self.shares, self.p[1:], self.q[1:], strict=False)
        return [sum(max(0.0, share * p - q) for p, q in zip(*rows, strict=True)) for share, *rows in after]

    @property
    def chances(self) -> list[float]:
        """The probability that each prefix passes its roll; of the whole draft, its share."""
        shares = self.shares
        return [m / (m + 1 - share) for m, share in zip(self.left, shares, strict=False)] + shares[-1:]

    @property
    def accepted(self) -> int:
        """The length of the longest prefix whose roll is below its chance."""
        passed = (u < chance for u, chance in zip(self.rolls, self.chances, strict=True))
        return max((length for length, passes in enumerate(passed, start=1) if passes), default=0)


BLOCK_EXAMPLE = BlockExample(
    p=((0.3, 0.4, 0.3), (0.6, 0.1, 0.3)), q=((0.6, 0.3, 0.1), (0.4, 0.55, 0.05)), rolls=(0.7, 0.6)
)
