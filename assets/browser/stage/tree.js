// A tree of guesses: what stands beside and after each, in which row it is drawn, and where the arrow keys lead. Draws
// nothing. A guess is named by its place among the round's guesses.

/** @import { TreePayload } from "../shared/payloads.js" */

/** @typedef {Array<number | null>} Rows of each guess, from 0; null where it is folded away */

/**
 * The depth of each guess, from 0.
 * @param {Pick<TreePayload, "parents">} tree
 */
export function depthsOf({ parents }) {
  /** @type {number[]} */
  const depths = [];
  for (const parent of parents) depths.push(parent < 0 ? 0 : depths[parent] + 1);
  return depths;
}

/**
 * The guesses that follow this one, in the order in which the target tries them.
 * @param {Pick<TreePayload, "parents">} tree
 * @param {number} node -1 is the text
 */
export function childrenOf({ parents }, node) {
  return parents.flatMap((parent, child) => (parent === node ? [child] : []));
}

/**
 * The guesses for the same place, this one among them.
 * @param {Pick<TreePayload, "parents">} tree
 * @param {number} node
 */
export function siblingsOf(tree, node) {
  return childrenOf(tree, tree.parents[node]);
}

/**
 * The row of each guess. What is folded away has none; but once the tree is judged, the accepted path is never hidden: all
 * of it that would be takes the one row below those that are shown.
 * @param {TreePayload} tree
 * @param {boolean} open whether nothing is folded away
 * @param {(node: number) => boolean} accepted
 * @returns {Rows}
 */
export function rowsOf(tree, open, accepted) {
  /** @type {Rows} */
  const rows = Array(tree.parents.length).fill(null);
  const below = tree.rows.length - tree.folded.length;
  let next = 0;
  for (const [row, nodes] of tree.rows.entries()) {
    const folded = !open && tree.folded.includes(row);
    for (const node of nodes) rows[node] = folded ? (accepted(node) ? below : null) : next;
    if (!folded) next += 1;
  }
  return rows;
}

/**
 * How many rows are drawn, the one of the button among them.
 * @param {TreePayload} tree
 */
export function foldedHeight({ rows, folded }) {
  return rows.length - folded.length + (folded.length ? 1 : 0);
}

/**
 * Guesses that are folded away.
 * @param {TreePayload} tree
 */
export function hiddenGuesses({ rows, folded }) {
  return folded.reduce((sum, row) => sum + rows[row].length, 0);
}

/**
 * Where a key leads from a guess: to another one, "out" to the text before the tree; undefined for any other key.
 * @param {TreePayload} tree
 * @param {Rows} rows
 * @param {number} node
 * @param {string} key
 * @returns {number | "out" | undefined}
 */
export function stepFrom(tree, rows, node, key) {
  /** @param {number[]} nodes */
  const shown = (nodes) => nodes.filter((each) => rows[each] !== null);
  const parent = tree.parents[node];
  const siblings = shown(siblingsOf(tree, node));
  const at = siblings.indexOf(node);
  const inOrder = shown(tree.rows.flat());
  switch (key) {
    case "ArrowRight":
      return shown(childrenOf(tree, node))[0] ?? node;
    case "ArrowLeft":
      return parent < 0 ? "out" : parent;
    case "ArrowUp":
      return siblings[at - 1] ?? (parent < 0 ? "out" : node);
    case "ArrowDown":
      return siblings[at + 1] ?? node;
    case "Home":
      return inOrder[0];
    case "End":
      return inOrder[inOrder.length - 1];
    default:
      return undefined;
  }
}
