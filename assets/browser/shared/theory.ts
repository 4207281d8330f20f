// Rules that `specviz/core/theory.py` has too; `tests/fixtures/both/` has cases for both.

const HALVINGS = 60; // enough for the last bit of a number

/**
 * v(`tokens`), the target's time for so many tokens at once, in plain steps. The table is read linearly between its entries,
 * v(1) = 1 among them. After its end the mean slope of the table continues (never downwards): a guess. `table`: v(k) by k
 */
export function verificationSteps(table: Map<number, number>, tokens: number) {
  const known = [...new Map([[1, 1], ...table])].sort(([one], [other]) => one - other);
  const [first, last] = [known[0], known[known.length - 1]];
  if (tokens >= last[0]) {
    const slope = last[0] > first[0] ? (last[1] - first[1]) / (last[0] - first[0]) : 0;
    return last[1] + Math.max(slope, 0) * (tokens - last[0]);
  }
  const above = known.findIndex(([count]) => count > tokens);
  const [[from, low], [to, high]] = [known[above - 1], known[above]];
  return low + ((high - low) * (tokens - from)) / (to - from);
}

/** E(γ), the tokens that a round writes on average, 1 + α + … + α^γ: Leviathan et al. 2023, Eq. 1. */
export function tokensOfRound(alpha: number, length: number) {
  return Array.from({ length: length + 1 }, (_, i) => alpha ** i).reduce((sum, share) => sum + share);
}

/** The acceptance above which a round of so many steps gains, 0 where every one does; null where none below 1 is enough. */
export function breakEven(steps: number, length: number) {
  if (steps >= length + 1) return null;
  return steps <= 1 ? 0 : bisected(1, (alpha) => tokensOfRound(alpha, length) >= steps);
}

/** Where a condition begins to hold, between 0 and `most`. */
export function bisected(most: number, holds: (value: number) => boolean) {
  let [low, high] = [0, most];
  for (let i = 0; i < HALVINGS; i += 1) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
