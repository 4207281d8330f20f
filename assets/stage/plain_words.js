// The stage's labels in plain words, for a lesson that a visitor reads without the field's terms. Every other stage has
// the words of its HTML.

import { counted } from "../shared/numbers.js";

/** @import { ChipStatus, DiagramPayload, StagePayload } from "../shared/payloads.js" */

/** @typedef {{ speculative: string, alone: string, check: string, narrow: [string, string] }} LaneWords */

/** @type {Record<string, string[]>} each element's texts, in their order */
const LABELS = {
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
  ".under .keys": ["suggesting ", "wasted suggesting ", "one look"],
};

/** @type {Record<ChipStatus, string>} */
const STATUS = {
  accepted: "left in the text",
  rejected: "crossed out",
  discarded: "thrown away unread",
  correction: "the editor’s own word",
  bonus: "one word for free",
  own: "written by the editor alone",
};

/** @type {Record<DiagramPayload["words"], LaneWords>} */
const LANES = {
  technical: { speculative: "speculative", alone: "target alone", check: "verify", narrow: ["draft +\nverify", "target\nalone"] },
  plain: { speculative: "together", alone: "editor alone", check: "look", narrow: ["both", "editor\nalone"] },
};

/** @type {WeakMap<Text, string>} what the HTML says */
const TECHNICAL = new WeakMap();

/** @param {StagePayload | null} data */
export function isPlain(data) {
  return data?.diagram?.words === "plain";
}

/**
 * The legend and the key, in the words of this lesson.
 * @param {HTMLElement} stage
 * @param {boolean} plain
 */
export function speak(stage, plain) {
  for (const [selector, texts] of Object.entries(LABELS)) {
    const node = stage.querySelector(selector);
    if (node) textsOf(node).forEach((text, i) => say(text, plain ? texts[i] : null));
  }
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
 * @param {string | null | undefined} plain null for the words of the HTML
 */
function say(text, plain) {
  const technical = TECHNICAL.get(text) ?? text.data;
  TECHNICAL.set(text, technical);
  text.data = plain ?? technical;
}

/** @param {StagePayload} data */
export function laneWords(data) {
  return LANES[isPlain(data) ? "plain" : "technical"];
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
