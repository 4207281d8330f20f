// A round in plain words: one sentence for each of its three phases.

import { fill } from "../shared/fill.js";
import { acceptedTokens, addedIn, count, depthOf, isTree } from "./rounds.js";
import { say } from "./words.js";
import type { MethodPayload, Round } from "../dist/payloads.js";
import type { RoundPayload } from "./drawn.js";

export type Teller = { method: MethodPayload }; // what the sentences about every round of a run depend on

export interface When {
  remaining: number; // tokens still to write at the start of this round
  ends: boolean; // whether this round writes the end of the text
}

/** What happens while the round proposes, checks and judges. */
export function narrate(round: Round, teller: Teller, when: When): RoundPayload["sentences"] {
  const unreported = round.drafted.some(({ text }) => text === null) && say("unreported");
  return [proposal(round, teller, when), check(round), paragraph(judgement(round), unreported, endOfText(round, when.ends))];
}

/** `sentences`: some of them not there */
export function paragraph(...sentences: (string | false)[]) {
  return sentences.filter(Boolean).join(" ");
}

export function endOfText({ emitted }: Round, ends: boolean) {
  return ends && emitted.kind !== "none" && say("end_of_text");
}

function proposal(round: Round, { method }: Teller, { remaining }: When) {
  const number = round.drafted.length;
  const { subject, several } = method;
  const figures = { Subject: subject[0].toUpperCase() + subject.slice(1), subjects: several ? 2 : 1, number, depth: depthOf(round) };
  if (!number) return noDraft(round, method, remaining);
  if (isTree(round)) return say("guesses_tree", figures);
  if (method.proposes) return fill(method.proposes, { tokens: say("tokens", figures) });
  return say(method.at_once && number > 1 ? "guesses_at_once" : "guesses", figures);
}

function noDraft(round: Round, method: MethodPayload, remaining: number) {
  if (method.by_hand) return method.nothing;
  if (round.draft_tokens?.length) return say("does_not_fit");
  return remaining <= 1 ? say("one_left") : method.nothing;
}

function check({ drafted: { length: number } }: Round) {
  return say(number > 1 ? "checks_all" : number ? "checks_one" : "plain_pass", { number });
}

function judgement(round: Round) {
  const number = round.drafted.length;
  if (!number) return say("writes_one");
  if (isTree(round)) return walked(round);
  if (count(round, "rejected")) return replaced(round);
  if (addedIn(round) !== "bonus") return ended(round);
  return say(number === 1 ? "accepts_one" : "accepts_all", { number });
}

/** Along a tree: how far the target agrees with one of its paths. */
function walked(round: Round) {
  const accepted = acceptedTokens(round).length;
  if (!accepted) return say("no_path");
  const then = round.emitted.kind === "none" ? "ends" : addedIn(round) === "bonus" ? "bonus" : "own";
  return say(`tree_${then}`, { accepted });
}

function replaced(round: Round) {
  const [accepted, discarded] = [count(round, "accepted"), count(round, "discarded")];
  const figures = { accepted, discarded, place: accepted + 1 };
  if (!accepted) return say(discarded ? "replaces_first" : "replaces_it", figures);
  return say(discarded ? "replaces" : "replaces_last", figures);
}

function ended(round: Round) {
  if (round.drafted.length === 1) return say("ends_it");
  const [accepted, discarded] = [count(round, "accepted"), count(round, "discarded")];
  return say(discarded ? "ends_early" : "ends", { accepted, discarded });
}
