// A round whose draft is a tree. Its path is a part of the text; below it, while the round is in sight, stands the whole
// tree: a column for each place in the text, a row for each chain of guesses. The style sheet decides what is shown in a
// phase; nothing moves when the tree is judged. A guess is named by its place among the round's guesses.

import { Chip, byTarget, type ShownRound } from "../shared/chips.js";
import { prob } from "../shared/numbers.js";
import { say } from "./words.js";
import type { ComponentChildren, HTMLAttributes } from "preact";
import type { Phase, TreePayload } from "../dist/payloads.js";

const HEADS = 1; // rows of the grid above the guesses
const APART = { most: 4, all: 10 }; // between two columns that appear, and from the first to the last, in delays of a chip

type Parents = Pick<TreePayload, "parents">;
type Rows = Array<number | null>; // of each guess, from 0; null where it is folded away

type Tree = {
  round: ShownRound & { tree: TreePayload };
  phase: Phase | null;
  atOnce: boolean; // whether all guesses were made together
  open: boolean; // whether nothing is folded away
  cost: string; // what its check cost; empty where that is not known
  control: (index: number) => HTMLAttributes<HTMLSpanElement> & { "aria-pressed"?: true };
  path: ComponentChildren; // what of it is text
};

/** The depth of each guess, from 0. */
export function depthsOf({ parents }: Parents) {
  const depths: number[] = [];
  for (const parent of parents) depths.push(parent < 0 ? 0 : depths[parent] + 1);
  return depths;
}

/** The guesses that follow this one, in the order in which the target tries them. `node`: -1 is the text */
function childrenOf({ parents }: Parents, node: number) {
  return parents.flatMap((parent, child) => (parent === node ? [child] : []));
}

/** The guesses for the same place, this one among them. */
export function siblingsOf(tree: Parents, node: number) {
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
  const places: Record<string, number | "out"> = {
    ArrowRight: shown(childrenOf(tree, node))[0] ?? node,
    ArrowLeft: parent < 0 ? "out" : parent,
    ArrowUp: siblings[at - 1] ?? (parent < 0 ? "out" : node),
    ArrowDown: siblings[at + 1] ?? node,
    Home: inOrder[0],
    End: inOrder[inOrder.length - 1],
  };
  return places[key];
}

/** The row of each guess; the accepted path has one once it is judged. */
export function shownRows({ round: { chips, tree }, phase, open }: Pick<Tree, "round" | "phase" | "open">) {
  return rowsOf(tree, open, (node) => phase === "judge" && chips[node].status === "accepted");
}

export function TreeParts({ path, ...tree }: Tree) {
  const { round: { tree: shape, chips }, atOnce, control, open, cost } = tree;
  const depths = depthsOf(shape);
  const rows = shownRows(tree);
  const deepest = Math.max(...depths) + 1;
  const apart = atOnce ? 0 : Math.min(APART.most, APART.all / deepest);
  const number = (status: string) => chips.filter((chip) => chip.status === status).length;
  const guesses = chips.filter((chip) => !byTarget(chip)).length;
  const guess = (i: number) => {
    const [row, parent, siblings] = [rows[i], shape.parents[i], siblingsOf(shape, i)];
    const from = (parent < 0 ? 0 : rows[parent]) ?? row ?? 0;
    const [column, at] = [String(depths[i] + 1), (row ?? 0) + HEADS + 1];
    const { "aria-pressed": selected, ...own } = control(i);
    const place = { "aria-level": depths[i] + 1, "aria-posinset": siblings.indexOf(i) + 1, "aria-setsize": siblings.length };
    return (
      <>
        <i class={chips[i].status === "accepted" ? "elbow lit" : "elbow"} hidden={row === null} style={{ gridRow: `${from + HEADS + 1} / ${at + 1}`, gridColumn: column }} />
        <Chip of={chips[i]} {...own} {...place} role="treeitem" aria-selected={selected} hidden={row === null} style={{ gridRow: String(at), gridColumn: column, "--i": String(depths[i] * apart) }} />
      </>
    );
  };
  return (
    <>
      <span class="path">{path}</span>
      <span class="branches" style={{ "--depths": String(deepest) }}>
        {Array.from({ length: deepest }, (_, depth) => (
          <span class="place" style={{ gridColumn: String(depth + 1) }} aria-hidden="true">{depth ? say("tree_place", { number: depth + 1 }) : say("tree_next_place")}</span>
        ))}
        <span class="tree-note" aria-hidden="true">{/* what becomes of it, for the eye: the sentence above says it to a screen reader */}
          <span class="propose">{say(atOnce ? "tree_at_once" : "tree_by_place", { guesses })}</span>
          <span class="check">{say("tree_in_one_pass", { guesses })}</span>
          <span class="judge">{say("tree_judged", { accepted: number("accepted"), failed: number("rejected"), not_taken: number("not taken") })}</span>
          <span class="cost" key={cost}>{cost && ` · ${cost}`}</span>
        </span>
        <span class="nodes" role="tree" aria-label={say("tree_size", { guesses: shape.parents.length, places: deepest })}>
          {shape.rows.map((row) => <span class="row" style={{ "--depth": String(depths[row[0]]) }}>{row.map(guess)}</span>)}
        </span>
        {shape.folded.length > 0 && <Fold shape={shape} rows={rows} open={open} />}
      </span>
    </>
  );
}

function Fold({ shape, rows, open }: { shape: TreePayload; rows: Rows; open: boolean }) {
  const below = open ? shape.rows.length : shape.rows.length - shape.folded.length;
  const hidden = rows.filter((row) => row === null).length || hiddenGuesses(shape);
  const more = say(shape.best === null ? "fold_more" : "fold_more_best", { hidden, best: prob(shape.best) });
  return (
    <button type="button" class={!open && rows.includes(below) ? "fold aside" : "fold"} style={{ gridRow: String(below + HEADS + 1) }} aria-expanded={open} title={open ? "" : say("unfold")}>
      <span key={String(open)}>{open ? say("fold") : more}</span>
    </button>
  );
}
