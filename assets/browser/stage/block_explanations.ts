// What the inspector says of a token where the draft is verified as a block: a token can be accepted although the block that
// ends with it failed, because a longer one passed.

import { prob } from "../shared/numbers.js";
import { quoted } from "../shared/text.js";
import { say } from "./words.js";
import type { JudgedChip, RoundPayload } from "../dist/payloads.js";

/** Why a token is in the accepted block, or the first one after it. */
export function blockToken(round: RoundPayload, chip: JudgedChip, index: number) {
  const passes = chip.u !== null && chip.accept_prob !== null && chip.u < chip.accept_prob;
  const figures = { u: prob(chip.u), chance: prob(chip.accept_prob) };
  if (chip.status === "rejected") {
    const own = round.chips.find((other) => other.status === "correction");
    return say(own ? "no_block_replaced" : "no_block", { ...figures, own: own ? quoted(own.text) : "" });
  }
  const last = round.chips.findLastIndex((other) => other.status === "accepted");
  return say(!passes ? "block_failed" : index < last ? "block_passed" : "block_longest", figures);
}
