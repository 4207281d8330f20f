// A tree of guesses in rows.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST_ROWS, fold, treeOf, treeRows } from "../../assets/browser/trace/tree_rows.js";
import { roundOf, treeRound } from "./made_rounds.js";

/** @import { Round } from "../../assets/browser/dist/payloads.js" */

/** Four guesses for the first place, and four after each of them. */
const WIDE = treeRound([...Array(4).fill("n-1"), ...Array.from({ length: 16 }, (_, i) => `n${i >> 2}`)].join(" "), "correction");

/**
 * @param {Round} round
 * @param {number[]} qs
 * @returns {Round}
 */
function withProbs(round, qs) {
  return { ...round, drafted: round.drafted.map((token, i) => ({ ...token, draft_prob: qs[i] })) };
}

test("each guess is in one row after the guess that it follows", () => {
  for (const round of [WIDE, treeRound("n-1 n-1 n0 n1 n1 n3 n3", "bonus")]) {
    const rows = treeRows(round);
    const parents = round.drafted.map(({ parent }) => parent);
    assert.deepEqual(rows.flat().sort((a, b) => a - b), round.drafted.map((_, node) => node));
    rows.forEach((row, number) => {
      assert.deepEqual(row.slice(1).map((node) => parents[node]), row.slice(0, -1), "a row is a chain");
      assert.ok([-1, ...rows.slice(0, number).flat()].includes(parents[row[0]] ?? -1), "what a row leaves stands above it");
    });
  }
});

test("of more rows the most probable stay, and none hangs in the air", () => {
  const qs = WIDE.drafted.map((_, node) => 0.9 / (1 + ((node * 7) % 20)));
  const round = withProbs(WIDE, qs);
  const rows = treeRows(round);
  const path = (/** @type {number} */ node) => qs[node] * (node < 4 ? 1 : qs[(node - 4) >> 2]);
  const hidden = fold(round, rows);
  const stays = rows.filter((_, number) => !hidden.rows.includes(number));
  assert.equal(stays.length, MOST_ROWS - 1);
  const best = Math.max(...hidden.rows.map((number) => path(rows[number][0])));
  assert.equal(hidden.best, best);
  assert.ok(best <= Math.min(...stays.map(([first]) => path(first))));
  const seen = new Set([-1, ...stays.flat()]);
  assert.ok(stays.every(([first]) => seen.has(round.drafted[first].parent ?? -1)));
});

test("where no probability is known, the first guesses for each place stay", () => {
  for (const round of [WIDE, withProbs(WIDE, Array(20).fill(1))]) {
    assert.deepEqual(fold(round, treeRows(round)), { rows: [6, 7, 9, 10, 11, 12, 13, 14, 15], best: null });
  }
  assert.equal(treeOf(roundOf("aar")), undefined, "a chain is no tree");
  const small = treeRound("n-1 n-1 n0 n0", "correction");
  assert.deepEqual(treeOf(small), { parents: [-1, -1, 0, 0], rows: [[0, 2], [3], [1]], folded: [], best: null });
});
