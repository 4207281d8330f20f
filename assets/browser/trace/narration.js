// A round in plain words: one sentence for each of its three phases.

import { counted } from "../shared/numbers.js";
import { acceptedTokens, addedIn, count, depthOf, isTree } from "./rounds.js";

/** @import { MethodPayload, Round } from "../shared/payloads.js" */
/** @import { RoundPayload, Rule } from "./drawn.js" */

/** @typedef {{ method: MethodPayload, rule: Rule }} Teller what the sentences about every round of a run depend on */

/**
 * @typedef {object} When
 * @property {number} draft_length the setting; a round drafts fewer tokens when the output is nearly full or the lookup finds fewer
 * @property {number} remaining tokens still to write at the start of this round
 * @property {boolean} ends whether this round writes the end of the text
 */

const NAMED = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth";
/** @type {Record<number, string>} */
const ENDINGS = { 1: "st", 2: "nd", 3: "rd" };

/**
 * "first", and for the 17th token and later ones figures.
 * @param {number} place from 0
 */
export function ordinal(place) {
  return NAMED.split(" ")[place] ?? `${place + 1}${ENDINGS[(place + 1) % 10] ?? "th"}`;
}

/**
 * What happens while the round proposes, checks and judges.
 * @param {Round} round
 * @param {Teller} teller
 * @param {When} when
 * @returns {RoundPayload["sentences"]}
 */
export function narrate(round, teller, when) {
  let verdict = judgement(round, teller);
  if (round.drafted.some(({ text }) => text === null)) verdict += " The tokens that it did not accept are not reported.";
  return [proposal(round, teller, when), check(round, teller), verdict + endOfText(round, when.ends)];
}

/**
 * @param {Round} round
 * @param {boolean} ends
 */
export function endOfText({ emitted }, ends) {
  return ends && emitted.kind !== "none" ? " The text ends here." : "";
}

/**
 * @param {Round} round
 * @param {Teller} teller
 * @param {When} when
 */
function proposal(round, { method }, { draft_length: draftLength, remaining }) {
  const number = round.drafted.length;
  if (!number) return noDraft(round, method, remaining);
  if (isTree(round)) {
    const places = depthOf(round) === 1 ? "the next place" : `the next ${depthOf(round)} places`;
    return `${method.says} a tree: ${counted(number, "guess", "guesses")} for ${places}.`;
  }
  if (method.proposes) return method.proposes.replace("{tokens}", counted(number, "token"));
  if (number < draftLength && number === remaining - 1) {
    return `Only ${counted(remaining, "token")} are left: ${method.says[0].toLowerCase()}${method.says.slice(1)} ${number}.`;
  }
  return `${method.says} ${counted(number, "token")}${method.at_once && number > 1 ? ", all at once" : ""}.`;
}

/**
 * @param {Round} round
 * @param {MethodPayload} method
 * @param {number} remaining
 */
function noDraft(round, method, remaining) {
  if (method.by_hand) return method.nothing;
  if (round.draft_tokens?.length) return "The draft’s text does not fit the target’s tokens: nothing is drafted.";
  return remaining <= 1 ? "One token is left to write: nothing is drafted." : method.nothing;
}

/**
 * @param {Round} round
 * @param {Teller} teller
 */
function check(round, { rule }) {
  const number = round.drafted.length;
  if (!number) return "The target makes one plain pass.";
  if (isTree(round) && number > 2) return `The target checks all ${number} guesses in one pass.`;
  return `The target checks ${all(number)} in one pass${rule === "block" && number > 1 ? ", as one block" : ""}.`;
}

/**
 * @param {Round} round
 * @param {Teller} teller
 */
function judgement(round, { rule }) {
  const number = round.drafted.length;
  if (!number) return "The target writes one token itself.";
  if (isTree(round)) return walked(round);
  if (count(round, "rejected")) return replaced(round, rule);
  if (addedIn(round) !== "bonus") return ended(round);
  return `It accepts ${rule === "block" && number > 1 ? `the whole block of ${number}` : all(number)} and adds a bonus token.`;
}

/**
 * Along a tree: how far the target agrees with one of its paths.
 * @param {Round} round
 */
function walked(round) {
  const accepted = acceptedTokens(round).length;
  if (!accepted) return "It accepts none of the first guesses and writes its own token.";
  const path = accepted === 1 ? "It accepts one guess" : `It accepts a path of ${counted(accepted, "token")}`;
  if (round.emitted.kind === "none") return accepted > 1 ? `${path}. The last one ends the text.` : `${path}, which ends the text.`;
  return addedIn(round) === "bonus" ? `${path} and adds a bonus token.` : `${path}, then writes its own token.`;
}

/**
 * @param {Round} round
 * @param {Rule} rule
 */
function replaced(round, rule) {
  const number = round.drafted.length;
  const [accepted, discarded] = [count(round, "accepted"), count(round, "discarded")];
  if (number === 1) return "It rejects the token and replaces it.";
  if (!accepted) {
    const rest = discarded === 1 ? "the second" : `the other ${discarded}`;
    return `${rule === "block" ? "No block passes: it" : "It"} rejects the first, replaces it and discards ${rest}.`;
  }
  const part = rule === "block" && accepted > 1 ? `a block of ${accepted}` : accepted;
  if (!discarded) return `It accepts ${part} and replaces the ${ordinal(accepted)}.`;
  const rest = discarded === 1 ? `the ${ordinal(number - 1)}` : `the last ${discarded}`;
  return `It accepts ${part}, replaces the ${ordinal(accepted)} and discards ${rest}.`;
}

/** @param {Round} round */
function ended(round) {
  if (round.drafted.length === 1) return "It accepts it. The text ends there.";
  const [accepted, discarded] = [count(round, "accepted"), count(round, "discarded")];
  const start = `It accepts ${accepted}. The ${ordinal(accepted - 1)} ends the text`;
  if (!discarded) return `${start}.`;
  return `${start}, so ${discarded === 1 ? "the last one is" : `the last ${discarded} are`} discarded.`;
}

/** @param {number} number */
function all(number) {
  if (number === 1) return "it";
  return number === 2 ? "both" : `all ${number}`;
}
