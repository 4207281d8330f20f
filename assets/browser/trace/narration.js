// A round in plain words: one sentence for each of its three phases.

import { fill } from "../shared/fill.js";
import { acceptedTokens, addedIn, count, depthOf, isTree } from "./rounds.js";
import { say } from "./words.js";

/** @import { MethodPayload, Round } from "../shared/payloads.js" */
/** @import { RoundPayload, Rule } from "./drawn.js" */

/** @typedef {{ method: MethodPayload, rule: Rule }} Teller what the sentences about every round of a run depend on */

/**
 * @typedef {object} When
 * @property {number} draft_length the setting; a round drafts fewer tokens when the output is nearly full or the lookup finds fewer
 * @property {number} remaining tokens still to write at the start of this round
 * @property {boolean} ends whether this round writes the end of the text
 */

const ENDINGS = /** @type {const} */ ({ 1: "ordinal_1", 2: "ordinal_2", 3: "ordinal_3" });

/**
 * "first", and for the 17th token and later ones figures.
 * @param {number} place from 0
 */
export function ordinal(place) {
  const number = place + 1;
  return say("ordinals").split(" ")[place] ?? say(ENDINGS[/** @type {1 | 2 | 3} */ (number % 10)] ?? "ordinal_other", { number });
}

/**
 * What happens while the round proposes, checks and judges.
 * @param {Round} round
 * @param {Teller} teller
 * @param {When} when
 * @returns {RoundPayload["sentences"]}
 */
export function narrate(round, teller, when) {
  const unreported = round.drafted.some(({ text }) => text === null) && say("unreported");
  return [proposal(round, teller, when), check(round, teller), paragraph(judgement(round, teller), unreported, endOfText(round, when.ends))];
}

/** @param {...(string | false)} sentences some of them not there */
export function paragraph(...sentences) {
  return sentences.filter(Boolean).join(" ");
}

/**
 * @param {Round} round
 * @param {boolean} ends
 */
export function endOfText({ emitted }, ends) {
  return ends && emitted.kind !== "none" && say("end_of_text");
}

/**
 * @param {Round} round
 * @param {Teller} teller
 * @param {When} when
 */
function proposal(round, { method }, { draft_length: draftLength, remaining }) {
  const number = round.drafted.length;
  const { subject, several } = method;
  const who = { subject, Subject: subject[0].toUpperCase() + subject.slice(1), subjects: several ? 2 : 1 };
  const figures = { ...who, number, remaining, depth: depthOf(round) };
  if (!number) return noDraft(round, method, remaining);
  if (isTree(round)) return say(figures.depth === 1 ? "guesses_tree_next" : "guesses_tree", figures);
  if (method.proposes) return fill(method.proposes, { tokens: say("tokens", figures) });
  if (number < draftLength && number === remaining - 1) {
    return say("guesses_at_end", figures);
  }
  return say(method.at_once && number > 1 ? "guesses_at_once" : "guesses", figures);
}

/**
 * @param {Round} round
 * @param {MethodPayload} method
 * @param {number} remaining
 */
function noDraft(round, method, remaining) {
  if (method.by_hand) return method.nothing;
  if (round.draft_tokens?.length) return say("does_not_fit");
  return remaining <= 1 ? say("one_left") : method.nothing;
}

/**
 * @param {Round} round
 * @param {Teller} teller
 */
function check(round, { rule }) {
  const number = round.drafted.length;
  if (!number) return say("plain_pass");
  if (isTree(round) && number > 2) return say("checks_tree", { number });
  if (number === 1) return say("checks_one");
  return say(`checks_${number === 2 ? "two" : "all"}${rule === "block" ? "_block" : ""}`, { number });
}

/**
 * @param {Round} round
 * @param {Teller} teller
 */
function judgement(round, { rule }) {
  const number = round.drafted.length;
  if (!number) return say("writes_one");
  if (isTree(round)) return walked(round);
  if (count(round, "rejected")) return replaced(round, rule);
  if (addedIn(round) !== "bonus") return ended(round);
  if (number === 1) return say("accepts_one");
  return say(rule === "block" ? "accepts_block" : number === 2 ? "accepts_two" : "accepts_all", { number });
}

/**
 * Along a tree: how far the target agrees with one of its paths.
 * @param {Round} round
 */
function walked(round) {
  const accepted = acceptedTokens(round).length;
  if (!accepted) return say("no_path");
  const then = round.emitted.kind === "none" ? "ends" : addedIn(round) === "bonus" ? "bonus" : "own";
  return say(`tree_${accepted === 1 ? "guess" : "path"}_${then}`, { accepted });
}

/**
 * @param {Round} round
 * @param {Rule} rule
 */
function replaced(round, rule) {
  const [accepted, discarded] = [count(round, "accepted"), count(round, "discarded")];
  if (!accepted && !discarded) return say("replaces_it");
  const block = rule === "block" && accepted !== 1 ? "_block" : "";
  const rest = discarded === 1 ? "one" : "several";
  if (!accepted) return say(`replaces_first_${rest}${block}`, { discarded });
  const figures = { accepted, discarded, place: ordinal(accepted), last: ordinal(round.drafted.length - 1) };
  return say(`replaces_${discarded ? rest : "last"}${block}`, figures);
}

/** @param {Round} round */
function ended(round) {
  if (round.drafted.length === 1) return say("ends_it");
  const [accepted, discarded] = [count(round, "accepted"), count(round, "discarded")];
  const key = discarded ? /** @type {const} */ (`ends_${discarded === 1 ? "one" : "several"}`) : "ends";
  return say(key, { accepted, discarded, place: ordinal(accepted - 1) });
}
