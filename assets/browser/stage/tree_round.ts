// A round whose draft is a tree. Its path is a part of the text; below it, while the round is in sight, stands the whole
// tree: a column for each place in the text, a row for each chain of guesses. The style sheet decides what is shown in a
// phase; nothing moves when the tree is judged.

import { byTarget, drawChip, type DrawnRound, type ShownRound } from "../shared/chips.js";
import { element } from "../shared/dom.js";
import { prob } from "../shared/numbers.js";
import { depthsOf, hiddenGuesses, rowsOf, siblingsOf, type Rows } from "./tree.js";
import { say } from "./words.js";
import type { Phase, TreePayload } from "../dist/payloads.js";

export interface DrawnTree {
  shape: TreePayload;
  box: HTMLElement; // what is shown of it below the text
  copies: Map<number, HTMLElement>; // the accepted guesses, once more, as a part of the text
  elbows: HTMLElement[]; // the line to each guess
  fold: HTMLButtonElement | null;
  open: boolean;
  rows: Rows;
}

export type DrawnTreeRound = DrawnRound & { tree: DrawnTree };
export type AnyRound = DrawnRound & { tree?: DrawnTree };

const HEADS = 1; // rows of the grid above the guesses
const APART = { most: 4, all: 10 }; // between two columns that appear, and from the first to the last, in delays of a chip

/** `index`: of the round. `atOnce`: whether all guesses were made together */
export function drawTreeRound(data: ShownRound & { tree: TreePayload }, index: number, atOnce: boolean): DrawnTreeRound {
  const { tree: shape } = data;
  const node = element("span", "round tree");
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", say("round", { round: index + 1 }));
  const chips = data.chips.map((chip, i) => drawChip(chip, index, i));
  const path = element("span", "path");
  const copies: DrawnTree["copies"] = new Map();
  for (const [i, chip] of data.chips.entries()) {
    if (chip.status === "accepted") copies.set(i, drawChip(chip, index, i));
    const inText = copies.get(i) ?? (byTarget(chip) ? chips[i] : null);
    if (inText) path.append(inText);
  }
  const elbows = shape.parents.map((_, i) => element("i", data.chips[i].status === "accepted" ? "elbow lit" : "elbow"));
  const fold = shape.folded.length ? foldButton() : null;
  const box = branches(data, chips, elbows, atOnce);
  if (fold) box.append(fold);
  node.append(path, box);
  const drawn: DrawnTreeRound = { node, chips, data, phase: null, tree: { shape, box, copies, elbows, fold, open: false, rows: [] } };
  fold?.addEventListener("click", () => {
    drawn.tree.open = !drawn.tree.open;
    arrange(drawn);
  });
  arrange(drawn);
  return drawn;
}

/** The columns' heads, and the guesses row by row. */
function branches({ tree, chips: shown }: ShownRound & { tree: TreePayload }, chips: HTMLElement[], elbows: HTMLElement[], atOnce: boolean) {
  const depths = depthsOf(tree);
  const deepest = Math.max(...depths) + 1;
  const box = element("span", "branches");
  box.style.setProperty("--depths", String(deepest));
  for (let depth = 0; depth < deepest; depth++) box.append(head(depth));
  box.append(note(shown, atOnce));
  const nodes = element("span", "nodes");
  nodes.setAttribute("role", "tree");
  nodes.setAttribute("aria-label", say("tree_size", { guesses: tree.parents.length, places: deepest }));
  const apart = atOnce ? 0 : Math.min(APART.most, APART.all / deepest);
  chips.forEach((chip, i) => chip.style.setProperty("--i", String((depths[i] ?? 0) * apart)));
  for (const row of tree.rows) {
    const line = element("span", "row");
    line.style.setProperty("--depth", String(depths[row[0]]));
    for (const i of row) line.append(elbows[i], asNode(chips[i], tree, i, depths[i]));
    nodes.append(line);
  }
  box.append(nodes);
  return box;
}

function head(depth: number) {
  const made = element("span", "place", depth ? say("tree_place", { number: depth + 1 }) : say("tree_next_place"));
  made.style.gridColumn = String(depth + 1);
  made.setAttribute("aria-hidden", "true");
  return made;
}

/** What becomes of the whole tree, in each phase. For the eye: the sentence above says it to a screen reader. */
function note(shown: ShownRound["chips"], atOnce: boolean) {
  const number = (status: string) => shown.filter((chip) => chip.status === status).length;
  const guesses = shown.filter((chip) => !byTarget(chip)).length;
  const words: Record<Phase, string> = {
    propose: say(atOnce ? "tree_at_once" : "tree_by_place", { guesses }),
    check: say("tree_in_one_pass", { guesses }),
    judge: say("tree_judged", { accepted: number("accepted"), failed: number("rejected"), not_taken: number("not taken") }),
  };
  const made = element("span", "tree-note");
  made.setAttribute("aria-hidden", "true");
  for (const [phase, text] of Object.entries(words)) made.append(element("span", phase, text));
  made.append(element("span", "cost"));
  return made;
}

function asNode(chip: HTMLElement, tree: TreePayload, node: number, depth: number) {
  const siblings = siblingsOf(tree, node);
  chip.setAttribute("role", "treeitem");
  chip.setAttribute("aria-level", String(depth + 1));
  chip.setAttribute("aria-posinset", String(siblings.indexOf(node) + 1));
  chip.setAttribute("aria-setsize", String(siblings.length));
  chip.style.gridColumn = String(depth + 1);
  return chip;
}

function foldButton() {
  const made = element("button", "fold");
  made.type = "button";
  return made;
}

/** Put each guess into its row, and hide what is folded away. */
export function arrange({ tree, chips, data, phase }: AnyRound) {
  if (!tree) return;
  const { shape, elbows, open } = tree;
  tree.rows = rowsOf(shape, open, (node) => phase === "judge" && data.chips[node].status === "accepted");
  for (const [node, row] of tree.rows.entries()) {
    const parent = shape.parents[node];
    const from = (parent < 0 ? 0 : tree.rows[parent]) ?? row ?? 0;
    chips[node].hidden = elbows[node].hidden = row === null;
    if (row === null) continue;
    chips[node].style.gridRow = String(row + HEADS + 1);
    elbows[node].style.gridRow = `${from + HEADS + 1} / ${row + HEADS + 2}`;
    elbows[node].style.gridColumn = chips[node].style.gridColumn;
  }
  if (tree.fold) arrangeFold(tree.fold, tree);
}

function arrangeFold(button: HTMLButtonElement, { shape, open, rows }: DrawnTree) {
  const below = open ? shape.rows.length : shape.rows.length - shape.folded.length;
  const hidden = rows.filter((row) => row === null).length || hiddenGuesses(shape);
  const more = say(shape.best === null ? "fold_more" : "fold_more_best", { hidden, best: prob(shape.best) });
  button.textContent = open ? say("fold") : more;
  button.title = open ? "" : say("unfold");
  button.setAttribute("aria-expanded", String(open));
  button.style.gridRow = String(below + HEADS + 1);
  button.classList.toggle("aside", !open && rows.includes(below));
}

/** The parts of a round that are text, with their tokens, in the order of the text. */
export function textOf({ chips, data, tree }: AnyRound): Array<[HTMLElement, ShownRound["chips"][number]]> {
  if (!tree) return chips.map((chip, i) => [chip, data.chips[i]]);
  return data.chips.flatMap((chip, i) => {
    const shown = tree.copies.get(i) ?? (byTarget(chip) ? chips[i] : undefined);
    return shown ? [([shown, chip] as [HTMLElement, ShownRound["chips"][number]])] : [];
  });
}

/** A token's chips: an accepted guess of a tree is in the tree and in the text. */
export function chipsOf({ chips, tree }: AnyRound, index: number) {
  return [chips[index], tree?.copies.get(index)].filter((chip) => chip !== undefined);
}

/** Whether it is a guess in a tree. */
export function isNode(chip: HTMLElement) {
  return chip.getAttribute("role") === "treeitem";
}
