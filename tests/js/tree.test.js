// A tree of guesses: rows, folds, and where the arrow keys lead.

import assert from "node:assert/strict";
import { test } from "node:test";

import { depthsOf, foldedHeight, hiddenGuesses, rowsOf, siblingsOf, stepFrom } from "../../assets/browser/stage/tree.js";

/** @import { TreePayload } from "../../assets/browser/dist/payloads.js" */

/**
 *   0 ─ 2 ─ 6
 *     └ 3
 *   1 ─ 4
 *     └ 5 ─ 7
 * @type {TreePayload}
 */
const TREE = { parents: [-1, -1, 0, 0, 1, 1, 2, 5], rows: [[0, 2, 6], [3], [1, 4], [5, 7]], folded: [], best: null };
/** @type {TreePayload} */
const FOLDED = { ...TREE, folded: [1, 3], best: 0.03 };
const never = () => false;

test("a depth is a place in the text, and siblings are guesses for the same one", () => {
  assert.deepEqual(depthsOf(TREE), [0, 0, 1, 1, 1, 1, 2, 2]);
  assert.deepEqual(siblingsOf(TREE, 1), [0, 1]);
  assert.deepEqual(siblingsOf(TREE, 5), [4, 5]);
  assert.deepEqual(siblingsOf(TREE, 6), [6]);
});

test("each guess has the row of its chain", () => {
  assert.deepEqual(rowsOf(TREE, false, never), [0, 2, 0, 1, 2, 3, 0, 3]);
  assert.equal(foldedHeight(TREE), 4);
});

test("what is folded away has no row, until the tree is opened", () => {
  assert.deepEqual(rowsOf(FOLDED, false, never), [0, 1, 0, null, 1, null, 0, null]);
  assert.deepEqual(rowsOf(FOLDED, true, never), rowsOf(TREE, false, never));
  assert.equal(hiddenGuesses(FOLDED), 3);
  assert.equal(foldedHeight(FOLDED), 3);
});

test("an accepted path that is folded away takes the row below the others", () => {
  const accepted = new Set([1, 5, 7]);
  assert.deepEqual(rowsOf(FOLDED, false, (node) => accepted.has(node)), [0, 1, 0, null, 1, 2, 0, 2]);
});

test("right is the first child, left the parent, up and down the siblings", () => {
  const rows = rowsOf(TREE, false, never);
  /** @param {number} node @param {string} key */
  const from = (node, key) => stepFrom(TREE, rows, node, key);
  assert.equal(from(0, "ArrowRight"), 2);
  assert.equal(from(6, "ArrowRight"), 6);
  assert.equal(from(7, "ArrowLeft"), 5);
  assert.equal(from(5, "ArrowUp"), 4);
  assert.equal(from(4, "ArrowDown"), 5);
  assert.equal(from(5, "ArrowDown"), 5);
  assert.equal(from(4, "ArrowUp"), 4);
  assert.equal(from(0, "ArrowDown"), 1);
});

test("from the first guesses left and up lead out of the tree, to the text", () => {
  const rows = rowsOf(TREE, false, never);
  assert.equal(stepFrom(TREE, rows, 0, "ArrowLeft"), "out");
  assert.equal(stepFrom(TREE, rows, 1, "ArrowLeft"), "out");
  assert.equal(stepFrom(TREE, rows, 0, "ArrowUp"), "out");
  assert.equal(stepFrom(TREE, rows, 1, "ArrowUp"), 0);
});

test("Home and End are the first and the last guess; other keys lead nowhere", () => {
  const rows = rowsOf(TREE, false, never);
  assert.equal(stepFrom(TREE, rows, 4, "Home"), 0);
  assert.equal(stepFrom(TREE, rows, 0, "End"), 7);
  assert.equal(stepFrom(TREE, rows, 0, "a"), undefined);
});

test("no key leads to a guess that is folded away", () => {
  const rows = rowsOf(FOLDED, false, never);
  assert.equal(stepFrom(FOLDED, rows, 2, "ArrowDown"), 2);
  assert.equal(stepFrom(FOLDED, rows, 0, "End"), 4);
  assert.equal(stepFrom(FOLDED, rows, 4, "ArrowDown"), 4);
});
