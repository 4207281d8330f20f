// What the times of a run in the browser say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { causeOf, clockInWords, clockIsCoarse, costsOf, modelledInWords, roundSteps, timedOf } from "../../assets/browser/live/outcome.js";
import { reasonOf } from "../../assets/browser/trace/outcome.js";

/** A run of rounds with so many guesses, whose checks take so long; in milliseconds. */
function run(rounds, steps) {
  const made = rounds.map(([guesses, check]) => ({
    drafted: Array.from({ length: guesses }, () => ({ status: "rejected" })), emitted: { kind: "correction" },
    draft_seconds: guesses / 1000, verify_seconds: check / 1000, overhead_seconds: 0,
  }));
  const settings = { draft_length: 4, draft_schedule: "fixed" };
  return { rounds: made, settings, output: { stopped_by: "length" }, drafter: { kind: "model" }, autoregressive: { seconds_per_token: steps.map((step) => step / 1000) }, recorded_on: { machine: "a browser" } };
}

test("a short last round, timed once and slow, makes no estimate impossible", () => {
  const rounds = [...new Array(12).fill([4, 22]), [3, 60]];
  const costs = costsOf(run(rounds, new Array(40).fill(10)));
  assert.ok(costs);
  const estimates = Array.from({ length: 17 }, (_, guesses) => roundSteps(costs, guesses));
  for (const steps of estimates) assert.ok(steps >= 1, `${steps} steps`);
  assert.ok(estimates[16] > estimates[4]);
  const longest = costsOf(run([...rounds.slice(0, 12), [9, 900]], new Array(40).fill(10)));
  assert.deepEqual([...longest.check.keys()], [5], "a size that was timed once says nothing");
});

test("a clock of whole milliseconds gives a mean, one digit, and the reason", () => {
  const coarse = run(new Array(12).fill([4, 3]), [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
  assert.ok(clockIsCoarse(coarse));
  assert.ok(Math.abs((costsOf(coarse)?.step ?? 0) - 0.0015) < 1e-9);
  assert.match(clockInWords(coarse), /^The browser’s clock is coarse on purpose/);
  assert.ok(clockIsCoarse(run(new Array(12).fill([4, 33.3]), [16.7, 16.7, 33.3, 16.7])));
  const none = run(new Array(12).fill([4, 0]), new Array(40).fill(0));
  assert.match(clockInWords({ ...none, rounds: none.rounds.map((round) => ({ ...round, verify_seconds: 0.016 })) }), /a step takes less than the browser’s coarse clock counts/);
  const fine = run(new Array(12).fill([4, 3]), new Array(40).fill(1.3));
  assert.ok(!clockIsCoarse(fine));
  assert.equal(clockInWords(fine), "");
  const there = { pair: "a → b", machine: "a GPU", cost: 0.05, source: "a paper" };
  assert.match(modelledInWords(fine, [there]), /^Counted, exact: 0 of 48 guesses are accepted \(48 were judged\); 1\.00 tokens per target call\..* 0\.83×/); // 12 tokens in 12 checks and 48 guesses
});

test("a reason has no more digits than the clock gives, and a busy machine gives no costs", () => {
  const coarse = run(new Array(12).fill([4, 3]), [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
  const { rounds, autoregressive } = coarse;
  for (const round of rounds) round.drafted[0].status = "accepted";
  autoregressive.seconds_per_token = autoregressive.seconds_per_token.concat(autoregressive.seconds_per_token);
  assert.match(reasonOf(causeOf(coarse, { speedup: 0.64, interval: [0.4, 0.9], trusted: true }), true), /a guess takes 0\.7 and a check 2\.0 times/);
  coarse.drafter.kind = "prompt-lookup";
  const looked = reasonOf(causeOf(coarse, { speedup: 0.64, interval: [0.4, 0.9], trusted: true }), true);
  assert.match(looked, /above about 4\.7 tokens per target call \(here 2\.00\).* take 2\.7 and a check 2\.0 times/);
  autoregressive.alternating = true;
  autoregressive.seconds_per_token = autoregressive.seconds_per_token.map((seconds, i) => (i === 3 ? 0.5 : seconds));
  assert.equal(timedOf(coarse)?.trusted, false);
});

test("with a clock of whole milliseconds, what a round takes is near what it takes", () => {
  let seed = 7;
  const chance = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let machine = 0; machine < 40; machine += 1) {
    const [step, guess, check] = [1.2 + 4 * chance(), 0.05 + 0.25 * chance(), 2 * chance()];
    let now = 100 * chance();
    const took = (steps) => -Math.floor(now) + Math.floor((now += step * steps * (0.95 + 0.1 * chance())));
    const taken = new Array(20).fill(4).map((guesses) => ({ draft: took(guesses * guess), check: took(1 + check), plain: [took(1), took(1), took(1)] }));
    const made = run(taken.map((each) => [4, each.check]), taken.flatMap((each) => each.plain));
    made.rounds.forEach((round, i) => (round.draft_seconds = taken[i].draft / 1000));
    const costs = costsOf(made);
    assert.ok(costs);
    for (const guesses of [1, 4, 8, 16]) {
      const share = roundSteps(costs, guesses) / (1 + guesses * guess + (guesses * check) / 4);
      assert.ok(share > 0.7 && share < 1.4, `${guesses} guesses: ${share} of what they take`);
    }
  }
});
