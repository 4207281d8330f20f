// A token as a chip, and a round as a group of chips. The style sheet decides what a chip looks like in each phase.

import { element } from "./dom.js";
import { partOfCharacter, shorten, visible } from "./text.js";
import { say } from "./words.js";
import type { ChipStatus, Phase, TreePayload } from "../dist/payloads.js";

export type ShownChip = { text: string | null, status: ChipStatus }; // What is drawn of a token; its text is null where it is not known.
export type ShownRound = { chips: ShownChip[], draft_tokens?: string[], tree?: TreePayload };
export type DrawnRound = { node: HTMLElement, chips: HTMLElement[], data: ShownRound, phase: Phase | null };

export const STATUS_WORDS: Record<ChipStatus, string> = {
  accepted: say("accepted"),
  rejected: say("rejected"),
  discarded: say("discarded"),
  "not taken": say("not_taken"),
  correction: say("correction"),
  bonus: say("bonus"),
  own: say("own"),
};

export const MARKS: Record<ChipStatus, string> = { accepted: "✓", rejected: "✗", discarded: "⋯", "not taken": "⋯", correction: "↻", bonus: "+", own: "•" };

const CHIP_LENGTH = 32; // characters

/** Whether the target wrote the token itself. */
export function byTarget({ status }: { status: ChipStatus }) {
  return status === "correction" || status === "bonus" || status === "own";
}

/** `index`: of the round */
export function drawRound(data: ShownRound, index: number): DrawnRound {
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

/** A thin line under the chips: what a draft with another tokenizer wrote, in its own tokens. */
function draftTokens(texts: string[]) {
  const line = element("span", "own-tokens");
  line.title = say("own_tokens_tip");
  line.dataset.named = say("own_tokens_name");
  line.setAttribute("role", "note");
  line.setAttribute("aria-label", say("own_tokens", { tokens: texts.map(visible).join(", ") }));
  for (const text of texts) line.append(tokenText(text));
  return line;
}

/** A token's text, cut where it is long. */
export function shownText(text: string) {
  return shorten(visible(text), CHIP_LENGTH);
}

export function tokenText(text: string) {
  return element("bdi", "", shownText(text));
}

export function drawChip(data: ShownChip, round: number, index: number) {
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

export function className(status: ChipStatus) {
  return status.replace(" ", "-");
}

/** A chip in words, for a screen reader. `said`: the words for a status */
export function chipLabel({ chips }: ShownRound, roundIndex: number, index: number, phase: Phase | null, said: (status: ChipStatus) => string = (status) => STATUS_WORDS[status]) {
  const { text, status } = chips[index];
  const round = roundIndex + 1;
  if (text === null) return say("unknown_chip", { unknown: say("unknown"), round });
  const state = phase === "judge" ? said(status) : say(phase === "check" ? "being_checked" : "guessed");
  return say("chip", { token: visible(text), state, round });
}
