// What the inspector says of one token, by its status. Here: where the draft is judged token by token, and what is said
// before a judgement.

import { prob } from "../shared/numbers.js";
import { quoted, shorten, visible } from "../shared/text.js";
import { pairedBars, singleBars, targetBars } from "./bars.js";
import { blockToken } from "./block_explanations.js";
import { facts, rule, ruleApplied } from "./facts.js";
import { guessInTree, notTaken, siblings } from "./tree_explanations.js";
import { say } from "./words.js";

/** @import { Chip, DiscardedChip, JudgedChip, RoundPayload, StagePayload, TargetChip } from "../shared/payloads.js" */

/**
 * A token whose round is judged.
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {number} index of the token in its round
 * @returns {HTMLElement[]}
 */
export function explainJudged(data, round, index) {
  const chip = round.chips[index];
  if (data.imported && (!("p" in chip) || chip.p === null)) return [rule(say("not_reported"))];
  switch (chip.status) {
    case "accepted":
    case "rejected":
      return judgedToken(data, round, chip, index);
    case "discarded":
      return discardedToken(data, round, chip);
    case "not taken":
      return notTaken(data, round, chip, index);
    case "correction":
      return correctionToken(data, round, chip);
    case "bonus":
      return targetToken(data, "bonus_token", chip);
    case "own":
      return targetToken(data, "own_token", chip);
  }
}

/**
 * A token that is proposed, or being checked.
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {number} index
 */
export function explainProposed(data, round, index) {
  return [...siblings(round, index), whatDraftThought(data, round, round.chips[index])];
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {Chip} chip
 */
function whatDraftThought({ method, translated, point_mass: pointMass }, round, chip) {
  const q = "q" in chip ? chip.q : null;
  if (method.certain) return rule(method.certain);
  if (translated) return draftTokens(round);
  if (pointMass) return rule(say("not_drawn"));
  return rule(q === null ? say("not_recorded_probabilities") : say("gives_q", { gives: method.gives, q: prob(q) }));
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {JudgedChip} chip
 * @param {number} index
 */
function judgedToken(data, round, chip, index) {
  const { translated } = data;
  if (chip.p === null || (chip.q === null && !translated)) return [rule(say("not_recorded_probabilities"))];
  const bars = translated ? targetBars(chip.candidates) : pairedBars(chip.candidates);
  if (round.tree) return [facts(chip, data), ...guessInTree(data, round, chip, index), bars];
  const why = data.rule === "block" ? blockToken(round, chip, index) : whyJudged(data, round, chip);
  const parts = [facts(chip, data), bars, rule(why)];
  return translated ? [...parts, draftTokens(round)] : parts;
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {JudgedChip} chip
 */
function whyJudged(data, round, chip) {
  const replacement = chip.status === "rejected" && round.chips.find((other) => other.status === "correction");
  const why = ruleApplied(data, chip);
  return replacement ? say("why_and_source", { why, source: sourceOf(replacement.text, data) }) : why;
}

/**
 * @param {string} replacement
 * @param {StagePayload} data
 */
function sourceOf(replacement, { greedy, point_mass: pointMass }) {
  return say(greedy ? "replaces_it" : pointMass ? "drawn_from_p" : "drawn_from_residual", { token: quoted(replacement) });
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {DiscardedChip} chip
 */
function discardedToken({ method, rule: how }, round, chip) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const why = !rejected ? "never_judged_after_end" : how === "block" ? "dropped_with_block" : "never_judged";
  const words = rule(say(why, { rejected: rejected ? quoted(rejected.text) : "" }));
  if (chip.q === null) return [words];
  const gives = method.by_hand ? method.gives : say("draft_gave");
  return [words, rule(say("gives_q", { gives, q: prob(chip.q) }))];
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {TargetChip} chip
 */
function correctionToken({ greedy, translated, rule: how, point_mass: pointMass }, round, chip) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const place = round.tree ? say("none_passed") : rejected ? say("in_place_of", { rejected: quoted(rejected.text) }) : "";
  if (greedy) {
    const bars = translated ? targetBars(chip.candidates) : pairedBars(chip.candidates);
    return [bars, inOrder(place, say("greedy_own"))];
  }
  const source = say(round.tree ? "drawn_from_left" : how === "block" ? "drawn_after_block" : pointMass ? "drawn_without_rejected" : "drawn_residual");
  if (!chip.residual.length) return [inOrder(place, source, say("residual_not_recorded"))];
  const unlikely = !chip.residual.some(([, , own]) => own);
  return [singleBars(chip.residual, say("residual")), inOrder(place, source, unlikely ? say(chip.p === null ? "less_likely" : "less_likely_p", { p: prob(chip.p) }) : "")];
}

/** @param {string[]} sentences some may be empty */
function inOrder(...sentences) {
  return rule(sentences.filter(Boolean).join(" "));
}

/**
 * @param {StagePayload} data
 * @param {"bonus_token" | "own_token"} reason
 * @param {TargetChip} chip
 */
function targetToken({ greedy }, reason, { p, candidates }) {
  const bars = candidates.length ? [targetBars(candidates)] : [];
  if (p === null) return [...bars, rule(say(reason, { source: say(greedy ? "top_token" : "from_p") })), rule(say("not_recorded_probabilities"))];
  return [...bars, rule(say(reason, { source: say(greedy ? "top_token" : "from_p_p", { p: prob(p) }) }))];
}

/**
 * Why there is no q, and what the draft wrote instead.
 * @param {RoundPayload} round
 */
function draftTokens(round) {
  return rule(say("other_tokens", { tokens: shorten((round.draft_tokens ?? []).map(visible).join(" · "), 44) }));
}
