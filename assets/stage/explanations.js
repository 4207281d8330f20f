// What the inspector says of one token, by its status.

import { element } from "../shared/dom.js";
import { prob } from "../shared/numbers.js";
import { quoted, shorten, visible } from "../shared/text.js";
import { pairedBars, singleBars, targetBars } from "./bars.js";

/** @import { Chip, DiscardedChip, JudgedChip, RoundPayload, StagePayload, TargetChip } from "../shared/payloads.js" */

const NOT_YET = "The target has not judged it yet.";
const NOT_RECORDED = "Its probabilities were not recorded.";

/**
 * A token whose round is judged.
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {Chip} chip
 * @returns {HTMLElement[]}
 */
export function explainJudged(data, round, chip) {
  switch (chip.status) {
    case "accepted":
    case "rejected":
      return judgedToken(data, round, chip);
    case "discarded":
      return discardedToken(data, round, chip);
    case "correction":
      return correctionToken(data, round, chip);
    case "bonus":
      return targetToken(data, "Every drafted token was accepted, and the same target pass also gives the next token", chip);
    case "own":
      return targetToken(data, "Nothing was drafted, so the target wrote one token as it does alone", chip);
  }
}

/**
 * A token that is proposed, or being checked.
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {Chip} chip
 */
export function explainProposed({ lookup, translated, person }, round, chip) {
  const q = "q" in chip ? chip.q : null;
  if (person) return [rule("You named it for certain (q = 1)."), rule(NOT_YET)];
  if (translated) return [draftTokens(round), rule(NOT_YET)];
  if (lookup) return [rule("Prompt lookup copies it from the text so far (q = 1)."), rule(NOT_YET)];
  return [rule(q === null ? NOT_RECORDED : `The draft gave it q = ${prob(q)}.`), rule(NOT_YET)];
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {JudgedChip} chip
 */
function judgedToken({ greedy, translated }, round, chip) {
  if (chip.p === null || (chip.q === null && !translated)) {
    return [rule("This run recorded no probabilities, so there is nothing to show here.")];
  }
  const replacement = chip.status === "rejected" && round.chips.find((other) => other.status === "correction");
  const why = greedy ? greedyRule(chip) : samplingRule(chip);
  const words = replacement ? `${why}. ${sourceOf(replacement.text, greedy)}` : why;
  const bars = translated ? targetBars(chip.candidates) : pairedBars(chip.candidates);
  const parts = [facts(chip, greedy), bars, rule(words)];
  return translated ? [...parts, draftTokens(round)] : parts;
}

/** @param {JudgedChip} chip */
function samplingRule(chip) {
  const ratio = `min(1, p/q) = min(1, ${prob(chip.p)}/${prob(chip.q)}) = ${prob(chip.accept_prob)}`;
  return `accept with probability ${ratio}; drew ${prob(chip.u)}: ${chip.status}`;
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
 * @param {boolean} greedy
 */
function sourceOf(replacement, greedy) {
  return `${quoted(replacement)} ${greedy ? "replaces it" : "is drawn from the residual, what p has over q"}.`;
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {DiscardedChip} chip
 */
function discardedToken({ person }, round, chip) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const because = rejected
    ? `because ${quoted(rejected.text)} before it was rejected: it continues a text that no longer exists.`
    : "because an accepted token before it ended the text.";
  const words = rule(`Never judged ${because}`);
  if (chip.q === null) return [words];
  const draft = person ? "You named it for certain:" : "The draft gave it";
  return [words, rule(`${draft} q = ${prob(chip.q)}; the target’s probability of it was not used.`)];
}

/**
 * @param {StagePayload} data
 * @param {RoundPayload} round
 * @param {TargetChip} chip
 */
function correctionToken({ greedy, translated }, round, chip) {
  const rejected = round.chips.find((other) => other.status === "rejected");
  const place = rejected ? `In place of ${quoted(rejected.text)}. ` : "";
  if (greedy) {
    const bars = translated ? targetBars(chip.candidates) : pairedBars(chip.candidates);
    return [bars, rule(`${place}Greedy: the target’s own top token${withProb(chip)}.`)];
  }
  const source = `${place}Drawn from the residual (p − q)₊, normalised: what the target wants more than the draft does.`;
  if (!chip.residual.length) return [rule(`${source} The residual was not recorded.`)];
  const unlikely = !chip.residual.some(([, , own]) => own);
  const note = unlikely ? ` It was less likely than these${withProb(chip)}.` : "";
  return [singleBars(chip.residual, "residual"), rule(source + note)];
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

/** @param {TargetChip} chip */
function withProb({ p }) {
  return p === null ? "" : ` (p = ${prob(p)})`;
}

/**
 * Why there is no q, and what the draft wrote instead.
 * @param {RoundPayload} round
 */
function draftTokens(round) {
  const words = shorten((round.draft_tokens ?? []).map(visible).join(" · "), 44);
  return rule(`The draft wrote other tokens, ${words}, so there is no q.`);
}

/**
 * @param {string} title
 * @param {boolean} pinned whether it can be closed
 */
export function heading(title, pinned) {
  const head = element("div", "head");
  head.append(element("div", "title", title));
  if (!pinned) return head;
  const close = element("button", "unpin", "×");
  close.type = "button";
  close.setAttribute("aria-label", "Close: follow the playhead again");
  close.title = "Follow the playhead again (Escape)";
  head.append(close);
  return head;
}

/** @param {string} text */
export function rule(text) {
  return element("p", "rule", text);
}

/**
 * Target p, draft q, acceptance probability and the number drawn; the swatches are the bars' key.
 * @param {JudgedChip} chip
 * @param {boolean} greedy
 */
function facts(chip, greedy) {
  const list = element("dl", "facts");
  const when = greedy ? "plain softmax at temperature 1" : "after temperature, top-k and top-p";
  const chance = greedy ? "Greedy means that the most likely token is always taken: the chance to accept it is 1 if this is the target’s, else 0." : "The chance to accept it: min(1, p/q).";
  list.append(
    fact("target p", chip.p, `The target’s probability of this token: ${when}.`, "target"),
    fact("draft q", chip.q, `The draft’s probability of this token: ${when}.`, "draft"),
    fact("chance", chip.accept_prob, chance),
  );
  if (!greedy) list.append(fact("drew u", chip.u, "The dice roll, from 0 to 1: the token is accepted if it is below the chance."));
  return list;
}

/**
 * A figure whose name explains itself on hover, focus and tap.
 * @param {string} name
 * @param {number | null} value
 * @param {string} meaning
 * @param {string} [swatch]
 */
function fact(name, value, meaning, swatch = "") {
  const entry = element("div", swatch);
  const term = element("dt");
  const word = element("button", "term", name);
  word.type = "button";
  const tip = element("span", "tip", meaning);
  tip.setAttribute("role", "tooltip");
  tip.id = `tip-${name.replaceAll(" ", "-")}`;
  word.setAttribute("aria-describedby", tip.id);
  term.append(word, tip);
  entry.append(term, element("dd", "", prob(value)));
  return entry;
}
