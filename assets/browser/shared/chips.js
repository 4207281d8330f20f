// A token as a chip, and a round as a group of chips. The style sheet decides what a chip looks like in each phase.

import { element } from "./dom.js";
import { partOfCharacter, shorten, visible } from "./text.js";
import { say } from "./words.js";

/** @import { ChipStatus, Phase, TreePayload } from "./payloads.js" */

/**
 * What is drawn of a token; its text is null where it is not known.
 * @typedef {{ text: string | null, status: ChipStatus }} ShownChip
 */

/** @typedef {{ chips: ShownChip[], draft_tokens?: string[], tree?: TreePayload }} ShownRound */

/** @typedef {{ node: HTMLElement, chips: HTMLElement[], data: ShownRound, phase: Phase | null }} DrawnRound */

/** @type {Record<ChipStatus, string>} */
export const STATUS_WORDS = {
  accepted: say("accepted"),
  rejected: say("rejected"),
  discarded: say("discarded"),
  "not taken": say("not_taken"),
  correction: say("correction"),
  bonus: say("bonus"),
  own: say("own"),
};

/** @type {Record<ChipStatus, string>} */
export const MARKS = { accepted: "✓", rejected: "✗", discarded: "⋯", "not taken": "⋯", correction: "↻", bonus: "+", own: "•" };

const CHIP_LENGTH = 32; // characters

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
  node.setAttribute("aria-label", say("round", { round: index + 1 }));
  const chips = data.chips.map((chip, i) => drawChip(chip, index, i));
  node.style.setProperty("--last", String(data.chips.findLastIndex((chip) => !byTarget(chip))));
  if (!data.chips.length || byTarget(data.chips[0])) node.append(element("span", "no-draft", say("no_draft")));
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
  line.title = say("own_tokens_tip");
  line.dataset.named = say("own_tokens_name");
  line.setAttribute("role", "note");
  line.setAttribute("aria-label", say("own_tokens", { tokens: texts.map(visible).join(", ") }));
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
  const said = data.text === null ? say("unknown") : partOfCharacter(data.text);
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
 * @param {ShownRound} drawn
 * @param {number} roundIndex
 * @param {number} index
 * @param {Phase | null} phase
 * @param {(status: ChipStatus) => string} [said] the words for a status
 */
export function chipLabel({ chips }, roundIndex, index, phase, said = (status) => STATUS_WORDS[status]) {
  const { text, status } = chips[index];
  const round = roundIndex + 1;
  if (text === null) return say("unknown_chip", { unknown: say("unknown"), round });
  const state = phase === "judge" ? said(status) : say(phase === "check" ? "being_checked" : "guessed");
  return say("chip", { token: visible(text), state, round });
}
