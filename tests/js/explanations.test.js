// What is said of a token in a block and in a tree, where the words of judging token by token would be wrong.

import assert from "node:assert/strict";
import { test } from "node:test";

import { blockToken } from "../../assets/browser/stage/block_explanations.js";
import { plainStep } from "../../assets/browser/stage/timeline_figure.js";
import { whyNotTaken } from "../../assets/browser/stage/tree_explanations.js";

/** @import { Chip, JudgedChip, RoundPayload } from "../../assets/browser/dist/payloads.js" */

/**
 * @param {string} text
 * @param {"accepted" | "rejected"} status
 * @param {number} chance
 * @param {number} u
 * @returns {JudgedChip}
 */
const judged = (text, status, chance, u) => ({ text, status, p: 0.2, q: 0.4, accept_prob: chance, u, candidates: [] });

/**
 * @param {Chip[]} chips
 * @param {number[]} [parents]
 * @returns {RoundPayload}
 */
function round(chips, parents) {
  const made = /** @type {RoundPayload} */ (/** @type {unknown} */ ({ chips }));
  return parents ? { ...made, tree: { parents, rows: [], folded: [], best: null } } : made;
}

/** @type {Chip} */
const OWN = { text: "own", status: "correction", p: 0.5, candidates: [], residual: [] };
const BLOCK = [judged("a", "accepted", 0.3, 0.9), judged("b", "accepted", 0.6, 0.2), judged("c", "accepted", 0.5, 0.1), judged("d", "rejected", 0.4, 0.8)];

test("a token can be in the accepted block although the block up to it failed", () => {
  const all = round([...BLOCK, OWN]);
  assert.match(blockToken(all, BLOCK[0], 0), /failed \(drew 90 %, chance 30 %\), but a longer block passed/);
  assert.match(blockToken(all, BLOCK[1], 1), /passed \(drew 20 %, chance 60 %\), and so did a longer one/);
  assert.match(blockToken(all, BLOCK[2], 2), /is the longest one that passed/);
  assert.match(blockToken(all, BLOCK[3], 3), /No block with this token passed.*drew 80 %.*“own” is drawn in its place/);
});

/** @type {Chip[]} a tree: x failed, y was accepted; after y: v accepted before w; z follows x, zz follows z */
const TREE = [
  judged("x", "rejected", 0.1, 0.9),
  judged("y", "accepted", 0.8, 0.1),
  { text: "z", status: "not taken", p: 0.1, q: 0.2 },
  judged("v", "accepted", 0.8, 0.1),
  { text: "w", status: "not taken", p: 0.1, q: 0.2 },
  { text: "zz", status: "not taken", p: 0.1, q: 0.2 },
];
const PARENTS = [-1, -1, 0, 1, 1, 2];

test("a guess that was not taken says which guess decided that", () => {
  const tree = round(TREE, PARENTS);
  assert.equal(whyNotTaken(tree, 2), "Not taken: it follows “x”, which is not in the text.");
  assert.equal(whyNotTaken(tree, 5), "Not taken: it follows “x”, which is not in the text.");
  assert.match(whyNotTaken(tree, 4), /the target accepted “v” for this place/);
  const ended = round([TREE[1], TREE[2]], [-1, 0]);
  assert.match(whyNotTaken(ended, 1), /the text ended/);
});

test("a guess after one that was itself not taken names that one", () => {
  const chips = [TREE[3], TREE[4], TREE[5]];
  assert.equal(whyNotTaken(round(chips, [-1, -1, 1]), 2), "Not taken: it follows “w”, which is not in the text.");
});

test("a pass over one token is the median of the target's steps", () => {
  assert.equal(plainStep([4, 8, 20, 24, 28]), 4);
  assert.equal(plainStep([]), null);
  assert.equal(plainStep(null), null);
});
