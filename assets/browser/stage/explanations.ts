// What the inspector says of one token, by its status. Here: where the draft is judged token by token, and what is said
// before a judgement.

import { prob } from "../shared/numbers.js";
import { quoted, shorten, visible } from "../shared/text.js";
import { pairedBars, singleBars, targetBars } from "./bars.js";
import { blockToken } from "./block_explanations.js";
import { facts, rule, ruleApplied } from "./facts.js";
import { guessInTree, notTaken, siblings } from "./tree_explanations.js";
import { say } from "./words.js";
import type { Chip, DiscardedChip, JudgedChip, RoundPayload, StagePayload, TargetChip } from "../shared/payloads.js";

/** A token whose round is judged. `index`: of the token in its round */
export function explainJudged(data: StagePayload, round: RoundPayload, index: number): HTMLElement[] {
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

/** A token that is proposed, or being checked. */
export function explainProposed(data: StagePayload, round: RoundPayload, index: number) {
  return [...siblings(round, index), whatDraftThought(data, round, round.chips[index])];
}

function whatDraftThought({ method, translated, point_mass: pointMass }: StagePayload, round: RoundPayload, chip: Chip) {
  const q = "q" in chip ? chip.q : null;
  if (method.certain) return rule(method.certain);
  if (translated) return draftTokens(round);
  if (pointMass) return rule(say("not_drawn"));
  return rule(q === null ? say("not_recorded_probabilities") : say("gives_q", { gives: method.gives, q: prob(q) }));
}

function judgedToken(data: StagePayload, round: RoundPayload, chip: JudgedChip, index: number) {
  const { translated } = data;
  if (chip.p === null || (chip.q === null && !translated)) return [rule(say("not_recorded_probabilities"))];
  const bars = translated ? targetBars(chip.candidates) : pairedBars(chip.candidates);
  if (round.tree) return [facts(chip, data), ...guessInTree(data, round, chip, index), bars];
  const why = data.rule === "block" ? blockToken(round, chip, index) : whyJudged(data, round, chip);
  const parts = [facts(chip, data), bars, rule(why)];
  return translated ? [...parts, draftTokens(round)] : parts;
}

function whyJudged(data: StagePayload, round: RoundPayload, chip: JudgedChip) {
  const replacement = chip.status === "rejected" && round.chips.find((other) => other.status === "correction");
  const why = ruleApplied(data, chip);
  return replacement ? say("why_and_source", { why, source: sourceOf(replacement.text, data) }) : why;
}

function sourceOf(replacement: string, { greedy, point_mass: pointMass }: StagePayload) {
  return say(greedy ? "replaces_it" : pointMass ? "drawn_from_p" : "drawn_from_residual", { token: quoted(replacement) });
}

function discardedToken({ method, rule: how }: StagePayload, round: RoundPayload, chip: DiscardedChip) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const why = !rejected ? "never_judged_after_end" : how === "block" ? "dropped_with_block" : "never_judged";
  const words = rule(say(why, { rejected: rejected ? quoted(rejected.text) : "" }));
  if (chip.q === null) return [words];
  const gives = method.by_hand ? method.gives : say("draft_gave");
  return [words, rule(say("gives_q", { gives, q: prob(chip.q) }))];
}

function correctionToken({ greedy, translated, rule: how, point_mass: pointMass }: StagePayload, round: RoundPayload, chip: TargetChip) {
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

/** `sentences`: some may be empty */
function inOrder(...sentences: string[]) {
  return rule(sentences.filter(Boolean).join(" "));
}

function targetToken({ greedy }: StagePayload, reason: "bonus_token" | "own_token", { p, candidates }: TargetChip) {
  const bars = candidates.length ? [targetBars(candidates)] : [];
  if (p === null) return [...bars, rule(say(reason, { source: say(greedy ? "top_token" : "from_p") })), rule(say("not_recorded_probabilities"))];
  return [...bars, rule(say(reason, { source: say(greedy ? "top_token" : "from_p_p", { p: prob(p) }) }))];
}

/** Why there is no q, and what the draft wrote instead. */
function draftTokens(round: RoundPayload) {
  return rule(say("other_tokens", { tokens: shorten((round.draft_tokens ?? []).map(visible).join(" · "), 44) }));
}
