// A draft that is a tree as rows of guesses: the same before and after it is judged. specviz/player/sheet.py does
// the same for a terminal and for paper.

import { isTree } from "./rounds.js";
import type { DraftedToken, Round } from "../dist/payloads.js";
import type { TreePayload } from "./drawn.js";

export const MOST_ROWS = 8; // of a tree on the stage; a larger one shows fewer, and a line that says how many more there are

/** The shape of a round's draft; undefined where it is a chain. */
export function treeOf(round: Round): TreePayload | undefined {
  if (!isTree(round)) return undefined;
  const rows = treeRows(round);
  const { rows: folded, best } = fold(round, rows);
  return { parents: round.drafted.map(parentOf), rows, folded, best };
}

function parentOf({ parent }: DraftedToken) {
  return parent ?? -1;
}

/**
 * The guesses of a tree in rows, from the top; each row is a chain. The first child of a guess continues its row. Each other
 * child opens a row below all that stands before it, so no two branches cross. Children stand in the order in which the
 * target tries them, whatever comes of it: nothing moves when the tree is judged.
 */
export function treeRows({ drafted }: Round) {
  const children: number[][] = Array.from({ length: drafted.length + 1 }, () => []); // entry 0: those of the text
  drafted.forEach((token, node) => children[parentOf(token) + 1].push(node));
  const rows: number[][] = [];
  const waiting = children[0].toReversed();
  while (waiting.length) {
    const row = [(waiting.pop() as number)];
    while (children[row[row.length - 1] + 1].length) row.push(children[row[row.length - 1] + 1][0]);
    for (const node of row) waiting.push(...children[node + 1].slice(1).reverse());
    rows.push(row);
  }
  return rows;
}

/**
 * All rows but the most probable ones, where there are too many: their numbers, and the draft's probability of the most
 * probable path among them, null where that is not known. A row is as probable as the path to its first guess. That path is
 * never more probable than the row that it leaves, so a row on screen always has its beginning on screen.
 */
export function fold({ drafted }: Round, rows: number[][]): { rows: number[], best: number | null } {
  if (rows.length <= MOST_ROWS) return { rows: [], best: null };
  const qs = drafted.map(({ draft_prob: q }) => q ?? 1);
  const known = qs.some((q) => q !== 1); // a point mass on each guess says nothing of paths
  const along: number[] = []; // of the path to each guess
  for (const [i, token] of drafted.entries()) {
    const rank = drafted.slice(0, i + 1).filter((other) => parentOf(other) === parentOf(token)).length; // a draft puts its more probable guesses for a place first
    along.push((along[parentOf(token)] ?? 1) * (known ? qs[i] : 1 / rank));
  }
  const probable = rows.map(([first]) => along[first]);
  const ranked = rows.map((_, row) => row).sort((a, b) => probable[b] - probable[a] || a - b);
  const hidden = ranked.slice(MOST_ROWS - 1).sort((a, b) => a - b);
  return { rows: hidden, best: known ? Math.max(...hidden.map((row) => probable[row])) : null };
}

