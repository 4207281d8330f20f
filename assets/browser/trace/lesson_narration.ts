// A round in the lessons' words: as the intern and the editor, and as a pass of the target alone.

import { acceptedTokens, addedIn, count, depthOf, isTree } from "./rounds.js";
import { endOfText, paragraph } from "./narration.js";
import { say } from "./words.js";
import type { DiagramPayload, Round } from "../dist/payloads.js";
import type { RoundPayload } from "./drawn.js";

/** `index`: of the pass */
export function aloneSentences(index: number, all: number, words: DiagramPayload["words"]): RoundPayload["sentences"] {
  const sentence = say(words === "plain" ? "alone_plain" : "alone", { number: index + 1, all });
  return [sentence, sentence, sentence];
}

/** What the intern suggests, how the editor looks, and what stays. `ends`: whether this round writes the end of the text */
export function plainSentences(round: Round, ends: boolean = false): RoundPayload["sentences"] {
  return [suggestion(round), look(round.drafted.length), paragraph(result(round), endOfText(round, ends))];
}

function suggestion(round: Round) {
  const number = round.drafted.length;
  if (!number) return say("suggests_none_plain");
  return say(isTree(round) && number > depthOf(round) ? "suggests_tree_plain" : "suggests_plain", { number });
}

function look(number: number) {
  return say(number > 1 ? "looks_plain" : number ? "looks_one_plain" : "thinks_plain", { number });
}

function result(round: Round) {
  const number = round.drafted.length;
  const accepted = acceptedTokens(round).length;
  if (!number) return say("writes_one_plain");
  if (isTree(round)) return walked(round, accepted);
  const stay = accepted > 0 && say("stay_plain", { accepted });
  if (count(round, "rejected")) return paragraph(stay, say("crossed_out_plain", { place: accepted + 1 }), unread(round));
  if (round.emitted.kind === "bonus") return say(number === 1 ? "bonus_one_plain" : "bonus_plain", { number });
  return paragraph(stay, say("ends_plain"), unread(round));
}

/** Along a tree of suggestions: how far the editor agrees with one way through it. */
function walked(round: Round, accepted: number) {
  if (!accepted) return say("no_path_plain");
  if (round.emitted.kind === "none") return paragraph(say("stay_plain", { accepted }), say("ends_plain"));
  return say(addedIn(round) === "bonus" ? "tree_bonus_plain" : "tree_own_plain", { accepted });
}

function unread(round: Round) {
  const discarded = count(round, "discarded");
  return discarded > 0 && say("unread_plain", { discarded });
}
