// The picture of a token drawn by lot: which token it is about, and what a screen reader says of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { diceInWords, rolled, sharesOf } from "../../assets/browser/stage/dice.js";
import { weightsInWords } from "../../assets/browser/stage/weights.js";

/** @import { Chip, JudgedChip, PassesPayload, RoundPayload } from "../../assets/browser/dist/payloads.js" */

/**
 * @param {string} text
 * @param {"accepted" | "rejected"} status
 * @param {number} chance
 * @returns {JudgedChip}
 */
function judged(text, status, chance) {
  return { text, status, p: 0.2, q: 0.4, accept_prob: chance, u: 0.7, candidates: [[text, 0.2, 0.4, true], ["a", 0.5, 0.1, false]] };
}

/**
 * @param {Chip[]} chips
 * @returns {RoundPayload}
 */
function round(...chips) {
  const after = { emitted: 1, accepted: 0, drafted: 0, judged: 0, acceptance: null, judgement: null, speedup: null, positions: [] };
  return { sentences: ["", "", ""], chips, ms: [0, 1, 2, 3], alone: null, after };
}

test("it is about the rejected token, else about the accepted one with the smallest chance", () => {
  const [safe, risky, lost] = [judged("x", "accepted", 1), judged("y", "accepted", 0.3), judged("z", "rejected", 0.5)];
  assert.equal(rolled(round(safe, risky, lost)), lost);
  assert.equal(rolled(round(safe, risky)), risky);
  assert.equal(rolled(round({ ...safe, u: null })), undefined);
});

test("both probabilities, the dice roll and the leftover are said", () => {
  const correction = /** @type {Chip} */ ({ text: "a", status: "correction", p: 0.5, candidates: [], residual: [["a", 0.9, true]] });
  const said = diceInWords(round(judged("x", "rejected", 0.5), correction), "technical");
  for (const part of ["draft model 40 %", "target model 20 %", "dice roll u 70 %", "p/q 50 %", "a 90 %, drawn"]) assert.ok(said.includes(part), part);
  assert.ok(!diceInWords(round(judged("x", "rejected", 0.5), correction), "plain").match(/model|%/));
  assert.equal(diceInWords(round(), "plain"), "Nothing is drawn here.");
});

test("the leftover sums to one: what the recorded tokens leave belongs to all others", () => {
  /** @param {Array<[string, number, boolean]>} residual */
  const corrected = (residual) => round(/** @type {Chip} */ ({ text: "a", status: "correction", p: 0.5, candidates: [], residual }));
  assert.deepEqual(sharesOf(corrected([["a", 0.5, true], ["b", 0.25, false]]), "others"), [["a", 0.5, true], ["b", 0.25, false], ["others", 0.25, false]]);
  assert.deepEqual(sharesOf(corrected([["a", 1, true]]), "others"), [["a", 1, true]]);
  assert.deepEqual(sharesOf(round(judged("x", "accepted", 1)), "others"), []);
});

test("the measured times of passes are said, with the parts that they were spent on", () => {
  /** @type {PassesPayload["passes"]} */
  const passes = [
    { dtype: "float32", tokens: 1, ms: [2, 0.5, 1, 0.5], ratio: 1 },
    { dtype: "float32", tokens: 5, ms: [5, 0.5, 1, 0.5], ratio: 1.75 },
  ];
  const said = weightsInWords({ tokens: 5, passes }, "technical");
  for (const part of ["one token, float32: 4.0 ms: products with the weights 50 %, attention 13 %, the program’s own work 25 %", "5 tokens at once, float32: 7.0 ms, 1.75×"]) assert.ok(said.includes(part), part);
  assert.ok(!/token|%|float/.test(weightsInWords({ tokens: 5, passes }, "plain")));
});
