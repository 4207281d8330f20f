// What the times of a run in the browser say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clockIsCoarse, costsOf, roundSteps } from "../../assets/live/timing.js";
import { timedInWords } from "../../assets/live/words.js";

/**
 * A run of rounds with so many guesses, whose checks take so long; in milliseconds.
 * @param {Array<[number, number]>} rounds guesses and their check
 * @param {number[]} steps of the target alone
 * @returns {any}
 */
function run(rounds, steps) {
  const made = rounds.map(([guesses, check]) => ({
    drafted: Array.from({ length: guesses }, () => ({ status: "rejected" })), emitted: { kind: "correction" },
    draft_seconds: guesses / 1000, verify_seconds: check / 1000, overhead_seconds: 0,
  }));
  return { rounds: made, autoregressive: { seconds_per_token: steps.map((step) => step / 1000) }, recorded_on: { machine: "a browser" } };
}

test("a short last round, timed once and slow, makes no estimate impossible", () => {
  const rounds = /** @type {Array<[number, number]>} */ ([...new Array(12).fill([4, 22]), [3, 60]]);
  const costs = costsOf(run(rounds, new Array(40).fill(10)));
  assert.ok(costs);
  const estimates = Array.from({ length: 17 }, (_, guesses) => roundSteps(costs, guesses));
  for (const steps of estimates) assert.ok(steps >= 1, `${steps} steps`);
  assert.ok(estimates[16] > estimates[4]);
  const longest = costsOf(run([...rounds.slice(0, 12), [9, 900]], new Array(40).fill(10)));
  assert.deepEqual([.../** @type {any} */ (longest).check.keys()], [5], "a size that was timed once says nothing");
});

test("a clock of whole milliseconds gives a mean, one digit, and the reason", () => {
  const coarse = run(new Array(12).fill([4, 3]), [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
  assert.ok(clockIsCoarse(coarse));
  assert.ok(Math.abs((costsOf(coarse)?.step ?? 0) - 0.0015) < 1e-9);
  assert.match(timedInWords(coarse), /v\(5\) = 2\.0; a guess takes 0\.7\. The browser’s clock is coarse on purpose/);
  assert.ok(clockIsCoarse(run(new Array(12).fill([4, 33.3]), [16.7, 16.7, 33.3, 16.7])));
  const none = run(new Array(12).fill([4, 0]), new Array(40).fill(0));
  assert.match(timedInWords({ ...none, rounds: none.rounds.map((/** @type {any} */ round) => ({ ...round, verify_seconds: 0.016 })) }), /clock is coarse on purpose, and a step takes less than it counts/);
  const fine = run(new Array(12).fill([4, 3]), new Array(40).fill(1.3));
  assert.ok(!clockIsCoarse(fine));
  assert.match(timedInWords(fine), /v\(5\) = 2\.31; a guess takes 0\.77\.$/);
});
