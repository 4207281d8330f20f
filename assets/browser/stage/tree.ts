// A tree of guesses: what stands beside and after each, in which row it is drawn, and where the arrow keys lead. Draws
// nothing. A guess is named by its place among the round's guesses.
import type { TreePayload } from "../dist/payloads.js";

export type Rows = Array<number | null>; // of each guess, from 0; null where it is folded away

/** The depth of each guess, from 0. */
export function depthsOf({ parents }: Pick<TreePayload, "parents">) {
  const depths: number[] = [];
  for (const parent of parents) depths.push(parent < 0 ? 0 : depths[parent] + 1);
  return depths;
}

/** The guesses that follow this one, in the order in which the target tries them. `node`: -1 is the text */
export function childrenOf({ parents }: Pick<TreePayload, "parents">, node: number) {
  return parents.flatMap((parent, child) => (parent === node ? [child] : []));
}

/** The guesses for the same place, this one among them. */
export function siblingsOf(tree: Pick<TreePayload, "parents">, node: number) {
  return childrenOf(tree, tree.parents[node]);
}

/**
 * The row of each guess. What is folded away has none; but once the tree is judged, the accepted path is never hidden: all
 * of it that would be takes the one row below those that are shown. `open`: whether nothing is folded away
 */
export function rowsOf(tree: TreePayload, open: boolean, accepted: (node: number) => boolean): Rows {
  const rows: Rows = Array(tree.parents.length).fill(null);
  const below = tree.rows.length - tree.folded.length;
  let next = 0;
  for (const [row, nodes] of tree.rows.entries()) {
    const folded = !open && tree.folded.includes(row);
    for (const node of nodes) rows[node] = folded ? (accepted(node) ? below : null) : next;
    if (!folded) next += 1;
  }
  return rows;
}

/** How many rows are drawn, the one of the button among them. */
export function foldedHeight({ rows, folded }: TreePayload) {
  return rows.length - folded.length + (folded.length ? 1 : 0);
}

/** Guesses that are folded away. */
export function hiddenGuesses({ rows, folded }: TreePayload) {
  return folded.reduce((sum, row) => sum + rows[row].length, 0);
}

/** Where a key leads from a guess: to another one, "out" to the text before the tree; undefined for any other key. */
export function stepFrom(tree: TreePayload, rows: Rows, node: number, key: string): number | "out" | undefined {
  const shown = (nodes: number[]) => nodes.filter((each) => rows[each] !== null);
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
