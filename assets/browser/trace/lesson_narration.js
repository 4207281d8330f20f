// A round in the lessons' words: as the intern and the editor, and as a pass of the target alone.

import { counted } from "../shared/numbers.js";
import { acceptedTokens, addedIn, count, depthOf, isTree } from "./rounds.js";
import { endOfText, ordinal } from "./narration.js";

/** @import { DiagramPayload, Round } from "../shared/payloads.js" */
/** @import { RoundPayload } from "./drawn.js" */

/** @type {Record<DiagramPayload["words"], (number: number, all: number) => string>} */
const ALONE = {
  technical: (number, all) => `Pass ${number} of ${all}: the target makes one whole pass and writes one token.`,
  plain: (number, all) => `Word ${number} of ${all}: the machine thinks once and writes one word.`,
};

/**
 * @param {number} index of the pass
 * @param {number} all
 * @param {DiagramPayload["words"]} words
 * @returns {RoundPayload["sentences"]}
 */
export function aloneSentences(index, all, words) {
  const sentence = ALONE[words](index + 1, all);
  return [sentence, sentence, sentence];
}

/**
 * What the intern suggests, how the editor looks, and what stays.
 * @param {Round} round
 * @param {boolean} [ends] whether this round writes the end of the text
 * @returns {RoundPayload["sentences"]}
 */
export function plainSentences(round, ends = false) {
  return [suggestion(round), look(round.drafted.length), result(round) + endOfText(round, ends)];
}

/** @param {Round} round */
function suggestion(round) {
  const number = round.drafted.length;
  if (!number) return "The intern suggests nothing.";
  return `The intern suggests ${counted(number, "word")}${isTree(round) && number > depthOf(round) ? ", several for one place" : ""}.`;
}

/** @param {number} number */
function look(number) {
  if (!number) return "The editor thinks of the next word.";
  return `The editor looks at ${number === 1 ? "it" : `all ${number} at once`}.`;
}

/** @param {Round} round */
function result(round) {
  const number = round.drafted.length;
  const accepted = acceptedTokens(round).length;
  if (!number) return "The editor writes one word.";
  if (isTree(round)) return walked(round, accepted);
  const stay = accepted ? `${accepted} ${accepted === 1 ? "stays" : "stay"}. ` : "";
  if (count(round, "rejected")) {
    return `${stay}The ${ordinal(accepted)} is crossed out, and the editor writes another word there.${unread(round)}`;
  }
  if (round.emitted.kind === "bonus") return `${number === 1 ? "It stays" : `All ${number} stay`}, and the editor adds one for free.`;
  return `${stay}The last of them ends the text.${unread(round)}`;
}

/**
 * Along a tree of suggestions: how far the editor agrees with one way through it.
 * @param {Round} round
 * @param {number} accepted
 */
function walked(round, accepted) {
  if (!accepted) return "None of the first words fits, so the editor writes another one.";
  const stay = accepted === 1 ? "One word stays" : `${accepted} words, one after the other, stay`;
  if (round.emitted.kind === "none") return `${stay}. The last of them ends the text.`;
  return `${stay}, and the editor adds ${addedIn(round) === "bonus" ? "one for free" : "a word"}.`;
}

/** @param {Round} round */
function unread(round) {
  const discarded = count(round, "discarded");
  if (!discarded) return "";
  return ` ${discarded === 1 ? "The last one is" : `The last ${discarded} are`} thrown away unread.`;
}
