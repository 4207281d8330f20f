// What the inspector says of one token, by its status. Here: where the draft is judged token by token, and what is said
// before a judgement.

import { prob } from "../shared/numbers.js";
import { quoted, shorten, visible } from "../shared/text.js";
import { pairedBars, singleBars, targetBars } from "./bars.js";
import { blockToken, droppedWithBlock, fromBlock } from "./block_explanations.js";
import { NOTHING_TO_SHOW, NOT_RECORDED, facts, rule, withProb } from "./facts.js";
import { afterTree, endOfPath, guessInTree, notTaken, placeInTree } from "./tree_explanations.js";

/** @import { Chip, DiscardedChip, JudgedChip, RoundPayload, StagePayload, TargetChip } from "../shared/payloads.js" */

const NOT_YET = "The target has not judged it yet.";
const ALL_ACCEPTED = "Every guess was accepted, and the same target pass also gives the next token";
const NOT_REPORTED = "Another system wrote this run. It does not report probabilities.";

/**
 * A token whose round is judged.
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {number} index of the token in its round
 * @returns {HTMLElement[]}
 */
export function explainJudged(data, round, index) {
  const chip = round.chips[index];
  if (data.imported && (!("p" in chip) || chip.p === null)) return [rule(NOT_REPORTED)];
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
      return targetToken(data, round.tree ? endOfPath() : ALL_ACCEPTED, chip);
    case "own":
      return targetToken(data, "Nothing was drafted, so the target wrote one token as it does alone", chip);
  }
}

/**
 * A token that is proposed, or being checked.
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {number} index
 */
export function explainProposed(data, round, index) {
  const place = round.tree ? [rule(placeInTree(round, index))] : [];
  return [...place, whatDraftThought(data, round, round.chips[index]), rule(NOT_YET)];
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
  if (pointMass) return rule("It is not drawn: it is one of the draft’s most probable tokens. So q is 1 on it.");
  return rule(q === null ? NOT_RECORDED : `${method.gives} q = ${prob(q)}.`);
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {JudgedChip} chip
 * @param {number} index
 */
function judgedToken(data, round, chip, index) {
  const { translated } = data;
  if (chip.p === null || (chip.q === null && !translated)) return [rule(NOTHING_TO_SHOW)];
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
  const why = data.greedy ? greedyRule(chip) : samplingRule(chip, data);
  return replacement ? `${why}. ${sourceOf(replacement.text, data)}` : why;
}

/**
 * @param {JudgedChip} chip
 * @param {StagePayload} data
 */
function samplingRule(chip, { point_mass: pointMass }) {
  const drew = `drew ${prob(chip.u)}: ${chip.status}`;
  if (pointMass) return `the draft does not draw, so q = 1 and the chance is p itself: accept with probability ${prob(chip.accept_prob)}; ${drew}`;
  const ratio = `min(1, p/q) = min(1, ${prob(chip.p)} / ${prob(chip.q)}) = ${prob(chip.accept_prob)}`;
  return `accept with probability ${ratio}; ${drew}`;
}

/** @param {JudgedChip} chip */
function greedyRule({ candidates, status }) {
  const start = "greedy: accepted only if it is the target’s top token";
  if (!candidates.length) return start;
  const [text, p] = candidates.reduce((top, one) => (one[1] > top[1] ? one : top));
  return `${start}: target’s top is ${quoted(text)} (${prob(p)}): ${status}`;
}

/**
 * @param {string} replacement
 * @param {StagePayload} data
 */
function sourceOf(replacement, { greedy, point_mass: pointMass }) {
  if (greedy) return `${quoted(replacement)} replaces it.`;
  const residual = pointMass ? "p without the rejected token" : "the residual, what p has over q";
  return `${quoted(replacement)} is drawn from ${residual}.`;
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {DiscardedChip} chip
 */
function discardedToken({ method, rule: how }, round, chip) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const because = rejected
    ? `because ${quoted(rejected.text)} before it was rejected: it continues a text that no longer exists.`
    : "because an accepted token before it ended the text.";
  const words = rule(how === "block" && rejected ? droppedWithBlock() : `Never judged ${because}`);
  if (chip.q === null) return [words];
  const draft = method.by_hand ? method.gives : "The draft gave it";
  const target = how === "block" ? "" : "; the target’s probability of it was not used";
  return [words, rule(`${draft} q = ${prob(chip.q)}${target}.`)];
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {TargetChip} chip
 */
function correctionToken({ greedy, translated, rule: how, point_mass: pointMass }, round, chip) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const place = round.tree ? afterTree(round) : rejected ? `In place of ${quoted(rejected.text)}. ` : "";
  if (greedy) {
    const bars = translated ? targetBars(chip.candidates) : pairedBars(chip.candidates);
    return [bars, rule(`${place}Greedy: the target’s own top token${withProb(chip)}.`)];
  }
  const source = `${place}${round.tree ? "Drawn from what they leave of p, normalised." : how === "block" ? fromBlock() : residualOf(pointMass)}`;
  if (!chip.residual.length) return [rule(`${source} The residual was not recorded.`)];
  const unlikely = !chip.residual.some(([, , own]) => own);
  const note = unlikely ? ` It was less likely than these${withProb(chip)}.` : "";
  return [singleBars(chip.residual, "residual"), rule(source + note)];
}

/** @param {boolean} pointMass */
function residualOf(pointMass) {
  const meaning = pointMass ? "p without the rejected token, as q is 1 on it" : "what the target wants more than the draft does";
  return `Drawn from the residual (p − q)₊, normalised: ${meaning}.`;
}

/**
 * @param {StagePayload} data
 * @param {string} reason
 * @param {TargetChip} chip
 */
function targetToken({ greedy }, reason, chip) {
  const source = greedy ? `the target’s top token${withProb(chip)}` : `a token drawn from p itself${withProb(chip)}`;
  const parts = [rule(`${reason}: ${source}.`)];
  if (chip.p === null) parts.push(rule(NOT_RECORDED));
  return chip.candidates.length ? [targetBars(chip.candidates), ...parts] : parts;
}

/**
 * Why there is no q, and what the draft wrote instead.
 * @param {RoundPayload} round
 */
function draftTokens(round) {
  const words = shorten((round.draft_tokens ?? []).map(visible).join(" · "), 44);
  return rule(`The draft wrote other tokens, ${words}, so there is no q.`);
}
