// The lessons' pictures of the lossless rule and of when to stop: what they compute and what a screen reader says.

import assert from "node:assert/strict";
import { test } from "node:test";

import { betaOf, halfwayTo, losslessInWords, movedTo, partsOf } from "../../assets/browser/stage/lossless.js";
import { afterBar, guessesOf, stopsInWords } from "../../assets/browser/stage/stops.js";

/** @import { Chip, LosslessPayload, RoundPayload, StopsPayload } from "../../assets/browser/dist/payloads.js" */

/** @type {LosslessPayload} */
const RULE = { round: 10, tokens: [[" play", 0.2, 0.3], [" show", 0.3, 0.1]], others: [0.5, 0.6, 0.4] };

/**
 * @param {number} a
 * @param {number} b
 */
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

/** @param {LosslessPayload} rule */
const sumOfQ = ({ tokens, others }) => tokens.reduce((sum, [, , q]) => sum + q, others[1]);

test("what is accepted and what the replacement adds are p, whatever q is", () => {
  for (const q of [0, 0.1, 0.2, 0.9]) {
    const { both, left, whole } = partsOf(0.2, q);
    near(both + left, whole);
    near(both, Math.min(0.2, q));
  }
});

test("α is the sum of the smaller ones, and one minus the distance", () => {
  near(betaOf(RULE), 0.2 + 0.1 + 0.4);
  const distance = (Math.abs(0.2 - 0.3) + Math.abs(0.3 - 0.1) + (0.5 - 0.4) + (0.6 - 0.4)) / 2;
  near(betaOf(RULE), 1 - distance);
});

test("a moved q takes from the other tokens of the list, and all of q stays one", () => {
  for (const wanted of [-1, 0, 0.15, 0.4, 2]) {
    const moved = movedTo(RULE, 0, wanted);
    near(sumOfQ(moved), sumOfQ(RULE));
    near(moved.tokens[0][2], Math.min(Math.max(wanted, 0), 0.4));
    assert.deepEqual(moved.others, RULE.others);
    assert.deepEqual(moved.tokens.map(([, p]) => p), [0.2, 0.3]);
    assert.ok(betaOf(moved) <= 1);
  }
  near(betaOf(movedTo(RULE, 0, 0.2)), 0.2 + 0.2 + 0.4); // nearer to p: more is accepted
  near(movedTo(movedTo(RULE, 0, 0.4), 0, 0.1).tokens[1][2], 0.3); // also after the others had nothing left
});

test("halfway to p, exactly half as much is lost", () => {
  const nearer = halfwayTo(RULE);
  near(1 - betaOf(nearer), (1 - betaOf(RULE)) / 2);
  near(sumOfQ(nearer), sumOfQ(RULE));
});

test("the rule is said token by token, in both voices", () => {
  const said = losslessInWords(RULE, "technical");
  for (const part of ["␣play: 20.0 + 0.0 = 20.0 %", "␣show: 10.0 + 20.0 = 30.0 %", "all others: 40.0 + 10.0 = 50.0 %", "β = Σ min(p, q): 70 %", "TV(p, q): 30 %"]) assert.ok(said.includes(part), `${part} in ${said}`);
  assert.ok(!/token|model|%|[αΣ]|p, q/.test(losslessInWords(RULE, "plain")));
});

/**
 * @param {Array<[string, "accepted" | "rejected" | "discarded" | "correction", number]>} tokens
 * @returns {RoundPayload}
 */
function round(...tokens) {
  const after = { emitted: 1, accepted: 0, drafted: 0, judged: 0, acceptance: null, judgement: null, speedup: null, positions: [] };
  const chips = /** @type {Chip[]} */ (tokens.map(([text, status, q]) => ({ text, status, q })));
  return { sentences: ["", "", ""], chips, ms: [0, 0, 8, 8], alone: null, after };
}

/** @type {StopsPayload} */
const STOPS = { limit: 0.4, schedules: [["fixed", 1.24, 1.18, 1.3], ["confidence", 1.36, 1.28, 1.44]], batches: [[16, 4, 0.7, 0.63, 0.77]], measured: ["9 prompts, one machine", "2 prompts, another"] };

test("the stop drafts the first unsure guess and none after it", () => {
  const guesses = guessesOf(round(["a", "accepted", 0.9], ["b", "rejected", 0.3], ["c", "discarded", 0.8], ["x", "correction", 0]), 0.4);
  assert.deepEqual(guesses.map(({ text, beyond }) => [text, beyond]), [["a", false], ["b", false], ["c", true]]);
  assert.ok(guessesOf(round(["a", "accepted", 0.9], ["b", "accepted", 0.5]), 0.4).every(({ beyond }) => !beyond));
});

test("the stop is said with the limit, the speedups and their intervals", () => {
  const said = stopsInWords(STOPS, round(["a", "accepted", 0.3], ["b", "rejected", 0.3]), "technical");
  for (const part of ["a 30 %; b 30 %, after the stop", "limit of the stop 40 %", "one machine: fixed γ", "confidence stop 1.36×, 1.28× to 1.44×", "16 texts, γ = 4 0.70×, 0.63× to 0.77×"]) assert.ok(said.includes(part), `${part} in ${said}`);
  assert.ok(!/token|draft|%|γ/.test(stopsInWords(STOPS, round(["a", "accepted", 0.3]), "plain")));
});

test("a figure after its bar does not lie under the line of the limit", () => {
  assert.equal(afterBar(50, 28, 60), 60);
  assert.equal(afterBar(20, 28, 60), 20); // ends before the line
  assert.equal(afterBar(70, 28, 60), 70); // begins behind it
  assert.equal(afterBar(20, Infinity, 60), 60);
});
