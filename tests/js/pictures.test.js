// What the lessons' pictures are about: a pass, the target alone, a token drawn by lot, the lossless rule, when to stop.

import assert from "node:assert/strict";
import { test } from "node:test";

import { writtenAt } from "../../assets/browser/stage/alone.js";
import { rolled, sharesOf } from "../../assets/browser/stage/dice.js";
import { betaOf, halfwayTo, movedTo, partsOf } from "../../assets/browser/stage/lossless.js";
import { placesOf } from "../../assets/browser/stage/pass.js";
import { guessesOf } from "../../assets/browser/stage/stops.js";

/** @import { Chip, JudgedChip, LosslessPayload, RoundPayload } from "../../assets/browser/dist/payloads.js" */

/**
 * @param {object[]} chips
 * @returns {RoundPayload}
 */
function round(...chips) {
  const after = { emitted: 1, accepted: 0, drafted: 0, judged: 0, acceptance: null, judgement: null, speedup: null, positions: [] };
  return { sentences: ["", "", ""], chips: /** @type {Chip[]} */ (chips), ms: [0, 0, 8, 8], alone: null, after };
}

/**
 * @param {string} text
 * @param {string} status
 */
const chip = (text, status, more = {}) => ({ text, status, ...more });

const RUN = {
  prompt: { hidden: 0, tokens: ["<|endoftext|>", "One", " day"] },
  rounds: [
    round(chip(" a", "accepted"), chip(" dog", "accepted"), chip(" ran", "bonus")),
    round(chip(" to", "accepted"), chip(" my", "rejected"), chip(" house", "discarded"), chip(" the", "correction")),
    round(chip(" park", "accepted"), chip(".", "accepted")),
  ],
};

/** @param {number} index */
const shown = (index) => placesOf(RUN, index).map(({ read, expected, next }) => [read, expected?.text ?? null, next?.text ?? null]);

test("a pass reads the last token and the guesses, and the last prediction is the bonus", () => {
  assert.deepEqual(shown(0), [[" day", " a", " a"], [" a", " dog", " dog"], [" dog", " ran", null]]);
});

test("at a wrong guess the prediction is the correction, and what follows the wrong guess is not used", () => {
  assert.deepEqual(shown(1), [[" ran", " to", " to"], [" to", " the", " my"], [" my", null, " house"], [" house", null, null]]);
});

test("after an accepted end of text there is no prediction to use", () => {
  assert.deepEqual(shown(2).at(-1), [".", null, null]);
});

test("the target alone reads all that was written before, without special tokens", () => {
  const alone = { ...RUN, rounds: [round(chip(" a", "own")), round(chip(" dog", "own"))] };
  assert.deepEqual(writtenAt(alone, 1), { before: "One day a", token: " dog" });
});

test("the dice roll is about the rejected token, else about the accepted one with the smallest chance", () => {
  const judged = (/** @type {string} */ status, /** @type {number} */ chance) => /** @type {JudgedChip} */ (chip("x", status, { p: 0.2, q: 0.4, accept_prob: chance, u: 0.7, candidates: [] }));
  const [safe, risky, lost] = [judged("accepted", 1), judged("accepted", 0.3), judged("rejected", 0.5)];
  assert.equal(rolled(round(safe, risky, lost)), lost);
  assert.equal(rolled(round(safe, risky)), risky);
  assert.equal(rolled(round({ ...safe, u: null })), undefined);
});

test("the leftover sums to one: what the recorded tokens leave belongs to all others", () => {
  /** @param {Array<[string, number, boolean]>} residual */
  const corrected = (residual) => round(chip("a", "correction", { residual }));
  assert.deepEqual(sharesOf(corrected([["a", 0.5, true], ["b", 0.25, false]]), "others"), [["a", 0.5, true], ["b", 0.25, false], ["others", 0.25, false]]);
  assert.deepEqual(sharesOf(corrected([["a", 1, true]]), "others"), [["a", 1, true]]);
  assert.deepEqual(sharesOf(round(chip("x", "accepted")), "others"), []);
});

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

test("the stop drafts the first unsure guess and none after it", () => {
  const beyond = (/** @type {RoundPayload} */ each) => guessesOf(each, 0.4).map((guess) => guess.beyond);
  assert.deepEqual(beyond(round(chip("a", "accepted", { q: 0.9 }), chip("b", "rejected", { q: 0.3 }), chip("c", "discarded", { q: 0.8 }), chip("x", "correction"))), [false, false, true]);
  assert.deepEqual(beyond(round(chip("a", "accepted", { q: 0.9 }), chip("b", "accepted", { q: 0.5 }))), [false, false]);
});
