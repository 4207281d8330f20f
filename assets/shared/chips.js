// A token as a chip, and a round as a group of chips. The style sheet decides what a chip looks like in each phase.

import { element } from "./dom.js";
import { shorten, visible } from "./text.js";

export const STATUS_WORDS = {
  accepted: "accepted",
  rejected: "rejected",
  discarded: "discarded, never judged",
  correction: "correction by the target",
  bonus: "bonus token of the target",
};

const UNKNOWN = "Unknown: after a wrong guess the draft goes on from a text that was never written, and no run on hand has drafted this";

/** Whether the target wrote the token itself. */
export const isOwn = (chip) => chip.status === "correction" || chip.status === "bonus";

export function drawRound(data, index) {
  const node = element("span", "round");
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", `Round ${index + 1}`);
  const chips = data.chips.map((chip, i) => drawChip(chip, index, i));
  if (!chips[0]?.classList.contains("drafted")) node.append(element("span", "no-draft", "no draft"));
  node.append(...chips);
  if (data.own) node.append(ownTokens(data.own));
  return { node, chips, data, phase: null };
}

/** A thin line under the chips: what a draft with another tokenizer wrote, in its own tokens. */
function ownTokens(texts) {
  const line = element("span", "own-tokens");
  line.title = "The draft has another tokenizer: this is what it wrote, in its own tokens. Above, the target’s tokens for that text";
  line.setAttribute("role", "note");
  line.setAttribute("aria-label", `In the draft’s own tokens: ${texts.map(visible).join(", ")}`);
  for (const text of texts) line.append(element("bdi", "", shorten(visible(text), 32)));
  return line;
}

function drawChip(data, round, index) {
  const drafted = !isOwn(data);
  const chip = element("span", `chip ${data.status} ${drafted ? "drafted" : "emitted"}`);
  chip.append(element("bdi", "", data.text === null ? "?" : shorten(visible(data.text), 32)));
  if (data.text === null) chip.title = UNKNOWN;
  chip.setAttribute("role", "button");
  chip.tabIndex = -1;
  chip.dataset.round = round;
  chip.dataset.index = index;
  chip.style.setProperty("--i", index);
  return chip;
}

export function chipLabel(round, roundIndex, index, phase) {
  const chip = round.chips[index];
  if (chip.text === null) return `${UNKNOWN}, round ${roundIndex + 1}`;
  const fate = phase === "judge" ? STATUS_WORDS[chip.status] : phase === "check" ? "being checked" : "proposed";
  return `${visible(chip.text)}, ${fate}, round ${roundIndex + 1}`;
}
