// A round in plain words: one sentence for each of its three phases. In a lesson the words are the intern's and the editor's.

import { fill } from "../shared/fill.js";
import { addedIn, count, depthOf, isTree } from "./rounds.js";
import { say } from "./words.js";
import type { DiagramPayload, MethodPayload, Round } from "../dist/payloads.js";
import type { RoundPayload } from "./drawn.js";

type Sentences = RoundPayload["sentences"];

/**
 * What happens while the round proposes, checks and judges. `remaining`: tokens still to write at its start. `ends`: whether it
 * writes the end of the text
 */
export function narrate(round: Round, method: MethodPayload, remaining: number, ends: boolean): Sentences {
  const number = round.drafted.length;
  const unreported = round.drafted.some(({ text }) => text === null) && say("unreported");
  const check = say(number > 1 ? "checks_all" : number ? "checks_one" : "plain_pass", { number });
  return [proposal(round, method, remaining), check, paragraph(judgement(round), unreported, endOfText(round, ends))];
}

/** `sentences`: some of them not there */
function paragraph(...sentences: (string | false)[]) {
  return sentences.filter(Boolean).join(" ");
}

function endOfText({ emitted }: Round, ends: boolean) {
  return ends && emitted.kind !== "none" && say("end_of_text");
}

function proposal(round: Round, method: MethodPayload, remaining: number) {
  const number = round.drafted.length;
  const { subject, several } = method;
  const figures = { Subject: subject[0].toUpperCase() + subject.slice(1), subjects: several ? 2 : 1, number, depth: depthOf(round) };
  if (!number && round.draft_tokens?.length && !method.by_hand) return say("does_not_fit");
  if (!number) return remaining <= 1 && !method.by_hand ? say("one_left") : method.nothing;
  if (isTree(round)) return say("guesses_tree", figures);
  if (method.proposes) return fill(method.proposes, { tokens: say("tokens", figures) });
  return say(method.at_once && number > 1 ? "guesses_at_once" : "guesses", figures);
}

function judgement(round: Round) {
  const [number, accepted, discarded] = [round.drafted.length, count(round, "accepted"), count(round, "discarded")];
  const figures = { number, accepted, discarded, place: accepted + 1 };
  const added = addedIn(round);
  if (!number) return say("writes_one");
  if (isTree(round)) return accepted ? say(`tree_${added === "none" ? "ends" : added === "bonus" ? "bonus" : "own"}`, figures) : say("no_path"); // how far the target agrees with one of its paths
  if (count(round, "rejected") && !accepted) return say(discarded ? "replaces_first" : "replaces_it", figures);
  if (count(round, "rejected")) return say(discarded ? "replaces" : "replaces_last", figures);
  if (added === "bonus") return say(number === 1 ? "accepts_one" : "accepts_all", figures);
  return number === 1 ? say("ends_it") : say(discarded ? "ends_early" : "ends", figures);
}

/** A pass of the target alone. `index`: of the pass */
export function aloneSentences(index: number, all: number, words: DiagramPayload["words"]): Sentences {
  const sentence = say(words === "plain" ? "alone_plain" : "alone", { number: index + 1, all });
  return [sentence, sentence, sentence];
}

/** What the intern suggests, how the editor looks, and what stays. `ends`: whether this round writes the end of the text */
export function plainSentences(round: Round, ends: boolean): Sentences {
  const [number, accepted, discarded] = [round.drafted.length, count(round, "accepted"), count(round, "discarded")];
  const suggests = !number ? "suggests_none_plain" : isTree(round) && number > depthOf(round) ? "suggests_tree_plain" : "suggests_plain";
  const looks = number > 1 ? "looks_plain" : number ? "looks_one_plain" : "thinks_plain";
  const stay = accepted > 0 && say("stay_plain", { accepted });
  const unread = discarded > 0 && say("unread_plain", { discarded });
  const added = addedIn(round);
  const result = () => {
    if (!number) return say("writes_one_plain");
    if (isTree(round) && !accepted) return say("no_path_plain");
    if (isTree(round) && added === "none") return paragraph(stay, say("ends_plain"));
    if (isTree(round)) return say(added === "bonus" ? "tree_bonus_plain" : "tree_own_plain", { accepted });
    if (count(round, "rejected")) return paragraph(stay, say("crossed_out_plain", { place: accepted + 1 }), unread);
    if (added === "bonus") return say(number === 1 ? "bonus_one_plain" : "bonus_plain", { number });
    return paragraph(stay, say("ends_plain"), unread);
  };
  return [say(suggests, { number }), say(looks, { number }), paragraph(result(), endOfText(round, ends))];
}
