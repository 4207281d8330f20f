// A round in the lessons' words: as the intern and the editor, and as a pass of the target alone.

import { acceptedTokens, addedIn, count, depthOf, isTree } from "./rounds.js";
import { endOfText, paragraph } from "./narration.js";
import { say } from "./words.js";

/** @import { DiagramPayload, Round } from "../shared/payloads.js" */
/** @import { RoundPayload } from "./drawn.js" */

/**
 * @param {number} index of the pass
 * @param {number} all
 * @param {DiagramPayload["words"]} words
 * @returns {RoundPayload["sentences"]}
 */
export function aloneSentences(index, all, words) {
  const sentence = say(words === "plain" ? "alone_plain" : "alone", { number: index + 1, all });
  return [sentence, sentence, sentence];
}

/**
 * What the intern suggests, how the editor looks, and what stays.
 * @param {Round} round
 * @param {boolean} [ends] whether this round writes the end of the text
 * @returns {RoundPayload["sentences"]}
 */
export function plainSentences(round, ends = false) {
  return [suggestion(round), look(round.drafted.length), paragraph(result(round), endOfText(round, ends))];
}

/** @param {Round} round */
function suggestion(round) {
  const number = round.drafted.length;
  if (!number) return say("suggests_none_plain");
  return say(isTree(round) && number > depthOf(round) ? "suggests_tree_plain" : "suggests_plain", { number });
}

/** @param {number} number */
function look(number) {
  return say(number > 1 ? "looks_plain" : number ? "looks_one_plain" : "thinks_plain", { number });
}

/** @param {Round} round */
function result(round) {
  const number = round.drafted.length;
  const accepted = acceptedTokens(round).length;
  if (!number) return say("writes_one_plain");
  if (isTree(round)) return walked(round, accepted);
  const stay = accepted > 0 && say("stay_plain", { accepted });
  if (count(round, "rejected")) return paragraph(stay, say("crossed_out_plain", { place: accepted + 1 }), unread(round));
  if (round.emitted.kind === "bonus") return say(number === 1 ? "bonus_one_plain" : "bonus_plain", { number });
  return paragraph(stay, say("ends_plain"), unread(round));
}

/**
 * Along a tree of suggestions: how far the editor agrees with one way through it.
 * @param {Round} round
 * @param {number} accepted
 */
function walked(round, accepted) {
  if (!accepted) return say("no_path_plain");
  if (round.emitted.kind === "none") return paragraph(say("stay_plain", { accepted }), say("ends_plain"));
  return say(addedIn(round) === "bonus" ? "tree_bonus_plain" : "tree_own_plain", { accepted });
}

/** @param {Round} round */
function unread(round) {
  const discarded = count(round, "discarded");
  return discarded > 0 && say("unread_plain", { discarded });
}
