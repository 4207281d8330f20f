// What the inspector says of a token where the draft is verified as a block: a token can be accepted although the block that
// ends with it failed, because a longer one passed.

import { prob } from "../shared/numbers.js";
import { quoted } from "../shared/text.js";

/** @import { JudgedChip, RoundPayload } from "../shared/payloads.js" */

/**
 * Why a token is in the accepted block, or the first one after it.
 * @param {RoundPayload} round
 * @param {JudgedChip} chip
 * @param {number} index
 */
export function blockToken(round, chip, index) {
  const passes = chip.u !== null && chip.accept_prob !== null && chip.u < chip.accept_prob;
  const drew = `drew ${prob(chip.u)}, chance ${prob(chip.accept_prob)}`;
  if (chip.status === "rejected") return firstAfterBlock(round, drew);
  const last = round.chips.findLastIndex((other) => other.status === "accepted");
  if (!passes) return `The block up to here failed (${drew}), but a longer block passed. So this token is accepted with it.`;
  if (index < last) return `The block up to here passed (${drew}), and so did a longer one. So this token is accepted.`;
  return `The block up to here is the longest one that passed (${drew}). So all of it is accepted.`;
}

/**
 * @param {RoundPayload} round
 * @param {string} drew
 */
function firstAfterBlock(round, drew) {
  const own = round.chips.find((chip) => chip.status === "correction");
  const replaced = own ? ` ${quoted(own.text)} is drawn in its place.` : "";
  return `No block with this token passed (the one that ends here: ${drew}). So the accepted block ends before it.${replaced}`;
}

export function droppedWithBlock() {
  return "Discarded: no block with this token passed its dice roll.";
}

export function fromBlock() {
  return "Drawn from (s·p − q)₊, normalised. The share s, at most 1, says how well the whole accepted block fits the target.";
}
