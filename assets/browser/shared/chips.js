// A token as a chip, and a round as a group of chips. The style sheet decides what a chip looks like in each phase.

import { element } from "./dom.js";
import { partOfCharacter, shorten, visible } from "./text.js";

/** @import { ChipStatus, Phase, TreePayload } from "./payloads.js" */

/**
 * What is drawn of a token; its text is null where it is not known.
 * @typedef {{ text: string | null, status: ChipStatus }} ShownChip
 */

/** @typedef {{ chips: ShownChip[], draft_tokens?: string[], tree?: TreePayload }} ShownRound */

/** @typedef {{ node: HTMLElement, chips: HTMLElement[], data: ShownRound, phase: Phase | null }} DrawnRound */

/** @type {Record<ChipStatus, string>} */
export const STATUS_WORDS = {
  accepted: "accepted",
  rejected: "rejected",
  discarded: "discarded, never judged",
  "not taken": "not taken, never judged",
  correction: "correction by the target",
  bonus: "bonus token of the target",
  own: "the target’s own token, nothing was drafted",
};

/** @type {Record<ChipStatus, string>} */
export const MARKS = { accepted: "✓", rejected: "✗", discarded: "⋯", "not taken": "⋯", correction: "↻", bonus: "+", own: "•" };

const CHIP_LENGTH = 32; // characters
const UNKNOWN =
  "Unknown: after a wrong guess the draft continues from a text that was never written, and no recorded run drafted this token";

/**
 * Whether the target wrote the token itself.
 * @param {{ status: ChipStatus }} chip
 */
export function byTarget({ status }) {
  return status === "correction" || status === "bonus" || status === "own";
}

/**
 * @param {ShownRound} data
 * @param {number} index of the round
 * @returns {DrawnRound}
 */
export function drawRound(data, index) {
  const node = element("span", "round");
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", `Round ${index + 1}`);
  const chips = data.chips.map((chip, i) => drawChip(chip, index, i));
  node.style.setProperty("--last", String(data.chips.findLastIndex((chip) => !byTarget(chip))));
  if (!data.chips.length || byTarget(data.chips[0])) node.append(element("span", "no-draft", "no draft"));
  node.append(...chips);
  if (data.draft_tokens) node.append(draftTokens(data.draft_tokens));
  return { node, chips, data, phase: null };
}

/**
 * A thin line under the chips: what a draft with another tokenizer wrote, in its own tokens.
 * @param {string[]} texts
 */
function draftTokens(texts) {
  const line = element("span", "own-tokens");
  line.title = "The draft has another tokenizer. This is what it wrote, in its own tokens. Above: the target’s tokens for that text";
  line.setAttribute("role", "note");
  line.setAttribute("aria-label", `In the draft’s own tokens: ${texts.map(visible).join(", ")}`);
  for (const text of texts) line.append(tokenText(text));
  return line;
}

/**
 * A token's text, cut where it is long.
 * @param {string} text
 */
export function shownText(text) {
  return shorten(visible(text), CHIP_LENGTH);
}

/** @param {string} text */
export function tokenText(text) {
  return element("bdi", "", shownText(text));
}

/**
 * @param {ShownChip} data
 * @param {number} round
 * @param {number} index
 */
export function drawChip(data, round, index) {
  const chip = element("span", `chip ${className(data.status)} ${byTarget(data) ? "emitted" : "drafted"}`);
  chip.append(data.text === null ? element("bdi", "", "?") : tokenText(data.text));
  const said = data.text === null ? UNKNOWN : partOfCharacter(data.text);
  if (said) chip.title = said;
  chip.setAttribute("role", "button");
  chip.tabIndex = -1;
  chip.dataset.round = String(round);
  chip.dataset.index = String(index);
  chip.style.setProperty("--i", String(index));
  return chip;
}

/** @param {ChipStatus} status */
export function className(status) {
  return status.replace(" ", "-");
}

/**
 * A chip in words, for a screen reader.
 * @param {ShownRound} round
 * @param {number} roundIndex
 * @param {number} index
 * @param {Phase | null} phase
 * @param {(status: ChipStatus) => string} [said] the words for a status
 */
export function chipLabel(round, roundIndex, index, phase, said = (status) => STATUS_WORDS[status]) {
  const { text, status } = round.chips[index];
  if (text === null) return `${UNKNOWN}, round ${roundIndex + 1}`;
  const state = phase === "judge" ? said(status) : phase === "check" ? "being checked" : "guessed";
  return `${visible(text)}, ${state}, round ${roundIndex + 1}`;
}
