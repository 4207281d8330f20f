// What the inspector says of a guess in a tree: how it stands among the guesses for its place, and why it was accepted, why it
// failed or why it was not taken.

import { MARKS } from "../shared/chips.js";
import { sentence } from "../shared/dom.js";
import { prob } from "../shared/numbers.js";
import { quoted } from "../shared/text.js";
import { NOTHING_TO_SHOW, facts, rule } from "./facts.js";
import { childrenOf, siblingsOf } from "./tree.js";

/** @import { JudgedChip, NotTakenChip, RoundPayload, StagePayload, TreePayload } from "../shared/payloads.js" */

/**
 * @param {RoundPayload} round
 * @returns {TreePayload}
 */
function treeOf({ tree }) {
  if (!tree) throw new Error("This round has no tree");
  return tree;
}

/**
 * Which of the guesses for its place it is.
 * @param {RoundPayload} round
 * @param {number} index
 */
export function placeInTree(round, index) {
  const tree = treeOf(round);
  const siblings = siblingsOf(tree, index);
  const parent = tree.parents[index];
  const after = parent < 0 ? "for the next place" : `for the place after ${quoted(round.chips[parent].text)}`;
  if (siblings.length === 1) return `It is the only guess ${after}.`;
  return `It is guess ${siblings.indexOf(index) + 1} of ${siblings.length} ${after}.`;
}

/**
 * A judged guess.
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {JudgedChip} chip
 * @param {number} index
 */
export function guessInTree(data, round, chip, index) {
  const words = data.greedy ? greedyWords(round, chip, index) : samplingWords(data, round, chip, index);
  return [...siblings(round, index), rule(`${words} ${whatFollows(round, chip, index)}`.trim())];
}

/**
 * @param {RoundPayload} round
 * @param {JudgedChip} chip
 * @param {number} index
 */
function greedyWords(round, { candidates, status }, index) {
  if (status === "accepted") return "Greedy: it is the target’s top token here.";
  if (!candidates.length) return "Greedy: it is not the target’s top token here.";
  const [text, p] = candidates.reduce((top, one) => (one[1] > top[1] ? one : top));
  return `Greedy: it is not the target’s top token ${after(round, index)}, ${quoted(text)} (${prob(p)}).`;
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {JudgedChip} chip
 * @param {number} index
 */
function samplingWords({ point_mass: pointMass }, round, chip, index) {
  const others = siblingsOf(treeOf(round), index);
  const failed = others.slice(0, others.indexOf(index)).map((other) => quoted(round.chips[other].text));
  const drew = `drew ${prob(chip.u)}: ${chip.status}.`;
  if (failed.length) {
    return `Tried after ${failed.join(", ")} failed. What is left of p gives it the chance ${prob(chip.accept_prob)}; ${drew}`;
  }
  if (pointMass) return `The draft does not draw, so q = 1 and the chance is p itself, ${prob(chip.accept_prob)}; ${drew}`;
  return `Accept with probability min(1, p/q) = min(1, ${prob(chip.p)} / ${prob(chip.q)}) = ${prob(chip.accept_prob)}; ${drew}`;
}

/**
 * After a failed guess: the next one for its place, or the target's own token.
 * @param {RoundPayload} round
 * @param {JudgedChip} chip
 * @param {number} index
 */
function whatFollows(round, chip, index) {
  if (chip.status === "accepted") return "";
  const tree = treeOf(round);
  const others = siblingsOf(tree, index);
  const next = others[others.indexOf(index) + 1];
  if (next !== undefined) return `Next the target tries ${quoted(round.chips[next].text)}.`;
  const own = round.chips.find((other) => other.status === "correction");
  return own ? `No guess is left for this place: ${quoted(own.text)} is the target’s own token.` : "";
}

/**
 * All guesses for a place in one line, in the order in which the target tries them.
 * @param {RoundPayload} round
 * @param {number} index
 * @returns {HTMLElement[]}
 */
function siblings(round, index) {
  const others = siblingsOf(treeOf(round), index);
  if (others.length < 2) return [rule(placeInTree(round, index))];
  const line = sentence("p", "rule siblings", `${others.length} guesses ${after(round, index)}, in the order tried: `);
  for (const other of others) {
    const chip = round.chips[other];
    const q = "q" in chip && chip.q !== null && chip.q !== 1 ? ` q ${prob(chip.q)}` : "";
    line.append(sentence(other === index ? "b" : "span", "sibling", `${MARKS[chip.status]} ${quoted(chip.text)}${q}`), " ");
  }
  return [line];
}

/**
 * @param {RoundPayload} round
 * @param {number} index
 */
function after(round, index) {
  const parent = treeOf(round).parents[index];
  return parent < 0 ? "after the text" : `after ${quoted(round.chips[parent].text)}`;
}

/**
 * A guess that was never judged, and its numbers: the pass read it like all others.
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {NotTakenChip} chip
 * @param {number} index
 */
export function notTaken(data, round, chip, index) {
  const why = rule(`${whyNotTaken(round, index)} The same pass read it all the same.`);
  if (chip.p === null || chip.q === null) return [...siblings(round, index), why, rule(NOTHING_TO_SHOW)];
  return [facts({ ...chip, accept_prob: null, u: null }, data, false), ...siblings(round, index), why];
}

/**
 * Which other guess, or the end of the text, decided that this one is never judged.
 * @param {RoundPayload} round
 * @param {number} index
 */
export function whyNotTaken(round, index) {
  const tree = treeOf(round);
  const parent = tree.parents[index];
  if (parent >= 0 && round.chips[parent].status !== "accepted") return whatWasLeft(round, parent);
  const taken = siblingsOf(tree, index).find((other) => round.chips[other].status === "accepted");
  if (taken !== undefined) return `Not taken: the target accepted ${quoted(round.chips[taken].text)} for this place before it tried this guess.`;
  return "Not taken: the text ended before it.";
}

/**
 * Why nothing after a guess could be taken: the first one on its path that is not in the text.
 * @param {RoundPayload} round
 * @param {number} node
 */
function whatWasLeft(round, node) {
  const tree = treeOf(round);
  let first = node;
  while (tree.parents[first] >= 0 && round.chips[tree.parents[first]].status !== "accepted") first = tree.parents[first];
  const chip = round.chips[first];
  return `Not taken: it follows ${quoted(chip.text)}, which ${chip.status === "rejected" ? "failed" : "was not taken"}.`;
}

/**
 * Where the target's own token stands, after guesses that failed.
 * @param {RoundPayload} round
 */
export function afterTree(round) {
  const tree = treeOf(round);
  const last = round.chips.findLastIndex((chip) => chip.status === "accepted");
  const failed = childrenOf(tree, last).length;
  const which = failed === 2 ? "Both" : `All ${failed}`;
  return failed === 1 ? "The one guess for this place failed. " : `${which} guesses for this place failed. `;
}

export function endOfPath() {
  return "The path ends here, and the same target pass also gives the next token";
}
