/** The rule for v(k) that `specviz/core/theory.py` has too; `tests/fixtures/both/` has cases for both. */

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
