// The stage's labels where those of its HTML do not fit: in plain words, for a lesson that a visitor reads without the field's
// terms; and where a draft is a tree, or verified as a block.

import { STATUS_WORDS } from "../shared/chips.js";
import { counted } from "../shared/numbers.js";

/** @import { ChipStatus, DiagramPayload, StagePayload } from "../shared/payloads.js" */

/** @typedef {{ speculative: string, alone: string, check: string, narrow: [string, string] }} LaneWords */

/** @typedef {Record<string, string[]>} Labels each element's texts, in their order; a text that is left out is that of the HTML */

/** @type {Labels} */
const PLAIN = {
  ".legend .chip.proposed": ["suggested"],
  ".legend .chip.accepted": ["stays"],
  ".legend .chip.rejected": ["crossed out"],
  ".legend .chip.discarded": ["thrown away", " unread"],
  ".legend .chip.correction": ["the editor’s word"],
  ".legend .chip.bonus": ["one for free"],
  ".legend .chip.own": ["written alone"],
  "#tip-proposed": ["A word that the intern suggests. The editor has not read it yet."],
  "#tip-accepted": ["A suggested word that the editor left in the text."],
  "#tip-rejected": ["The first suggested word of the round that the editor crossed out."],
  "#tip-discarded": ["A suggested word after the crossed out one. The editor does not read it."],
  "#tip-correction": ["The word that the editor writes in place of the crossed out one."],
  "#tip-bonus": ["The extra word that the editor adds for free when every suggestion was right."],
  "#tip-own": ["The editor’s own word when the intern suggested nothing."],
  ".keys": ["suggesting ", "wasted suggesting ", "one look"],
};

/** @type {Labels} */
const PLAIN_TREE = {
  ...PLAIN,
  ".legend .chip.discarded": ["not needed"],
  "#tip-rejected": ["A suggested word that the editor crossed out. Where several words were suggested for one place, several can be."],
  "#tip-discarded": ["A suggested word that the editor did not need."],
  "#tip-correction": ["The word that the editor writes where no suggestion was right."],
  ".keys": ["suggesting ", "wasted suggesting ", "one look", "extra for many"],
};

/** @type {Labels} */
const TREE = {
  ".legend .chip.discarded": ["not taken"],
  "#tip-accepted": ["A guess on the path that the target accepted."],
  "#tip-rejected": ["A guess that failed the target’s check. The target tries the guesses for a place one after the other, so several can fail."],
  "#tip-discarded": ["A guess that was never judged: it follows a failed guess, or the target took another one for its place."],
  "#tip-correction": ["The target’s own token, where every guess for a place failed."],
  "#tip-bonus": ["The target’s extra token at the end of a path. The same pass gives it at no extra cost."],
  "[data-figure=positions] b": ["By depth of the tree"],
  ".draft-length .name": ["depth γ"],
};

/** @type {Labels} */
const BLOCK = {
  ".legend .chip.discarded": ["discarded", ", as every longer block failed"],
  "#tip-accepted": ["A guess in the block that the target accepted."],
  "#tip-rejected": ["The first guess after the accepted block. A round has at most one."],
  "#tip-discarded": ["A guess after the rejected one: no block with it passed."],
};

/** @type {Record<string, Labels>} */
const LABELS = { plain: PLAIN, "plain tree": PLAIN_TREE, tree: TREE, block: BLOCK };

/** @type {Record<ChipStatus, string>} */
const STATUS = {
  accepted: "left in the text",
  rejected: "crossed out",
  discarded: "thrown away unread",
  "not taken": "not needed",
  correction: "the editor’s own word",
  bonus: "one word for free",
  own: "written by the editor alone",
};

/** @type {Record<DiagramPayload["words"], LaneWords>} */
const LANES = {
  technical: { speculative: "speculative", alone: "target alone", check: "check", narrow: ["draft +\ncheck", "target\nalone"] },
  plain: { speculative: "together", alone: "editor alone", check: "look", narrow: ["both", "editor\nalone"] },
};

/** @type {WeakMap<Text, string>} what the HTML says */
const TECHNICAL = new WeakMap();

/** @param {StagePayload | null} data */
export function isPlain(data) {
  return data?.diagram?.words === "plain";
}

/**
 * The legend, the key and the captions, in the words that are right for this run.
 * @param {HTMLElement} stage
 * @param {StagePayload} data
 */
export function speak(stage, data) {
  const own = LABELS[wordsFor(data)] ?? {};
  for (const selector of new Set(Object.values(LABELS).flatMap(Object.keys))) {
    const node = stage.querySelector(selector);
    if (node) textsOf(node).forEach((text, i) => say(text, own[selector]?.[i]));
  }
}

/**
 * The name of the labels; one that has none stands for those of the HTML.
 * @param {StagePayload} data
 */
function wordsFor(data) {
  if (!isPlain(data)) return data.rule;
  return data.rule === "tree" ? "plain tree" : "plain";
}

/** @param {Element} node */
function textsOf(node) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const found = [];
  while (walker.nextNode()) found.push(/** @type {Text} */ (walker.currentNode));
  return found.filter((text) => text.data.trim());
}

/**
 * @param {Text} text
 * @param {string | undefined} own undefined for the words of the HTML
 */
function say(text, own) {
  const technical = TECHNICAL.get(text) ?? text.data;
  TECHNICAL.set(text, technical);
  text.data = own ?? technical;
}

/** @param {StagePayload} data */
export function laneWords(data) {
  return LANES[isPlain(data) ? "plain" : "technical"];
}

/**
 * The words for a token's status; undefined for the field's own.
 * @param {StagePayload} data
 * @returns {((status: ChipStatus) => string) | undefined}
 */
export function statusWords(data) {
  if (isPlain(data)) return plainStatus;
  return data.rule === "block" ? blockStatus : undefined;
}

/** @param {ChipStatus} status */
function blockStatus(status) {
  return status === "discarded" ? "discarded, as every longer block failed" : STATUS_WORDS[status];
}

/** @param {ChipStatus} status */
export function plainStatus(status) {
  return STATUS[status];
}

/**
 * What stands under the timeline.
 * @param {StagePayload} data
 * @param {number} emitted
 * @param {number} passes
 * @param {number | undefined} alone tokens that the target alone has written by then
 * @param {number} total
 */
export function progress(data, emitted, passes, alone, total) {
  const plain = isPlain(data);
  const made = plain
    ? `${counted(emitted, "word")} in ${counted(passes, "look")}`
    : `${counted(emitted, "token")} in ${counted(passes, "target pass", "target passes")}`;
  if (alone === undefined) return made;
  const who = plain ? "the editor alone" : "the target alone";
  return `${made}; ${who} ${alone >= total ? `has finished all ${total}` : `has written ${alone}`}`;
}
