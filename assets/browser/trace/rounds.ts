// What follows from one round of a trace, under the names that specviz/core/rounds.py gives it.
import type { Added, DraftedToken, Round, Status } from "../dist/payloads.js";

const NOT_REPORTED = "⟨?⟩"; // is shown for a token that the system which wrote the run does not report

/** A drafted token's text, or a sign where that is not reported. */
export function shown({ text }: DraftedToken) {
  return text ?? NOT_REPORTED;
}

export function acceptedTokens({ drafted }: Round) {
  return drafted.filter(({ status }) => status === "accepted");
}

/** How many drafted tokens have one of these statuses. */
export function count({ drafted }: Round, ...statuses: Status[]) {
  return drafted.filter(({ status }) => statuses.includes(status)).length;
}

export function isTree({ drafted }: Round) {
  return drafted.length > 0 && drafted[0].parent != null;
}

/** For each drafted token the places of its ancestors, from the text on, and its own. */
export function pathsOf({ drafted }: Round) {
  const paths: number[][] = [];
  drafted.forEach((token, place) => paths.push([...(paths[token.parent ?? place - 1] ?? []), place]));
  return paths;
}

/** The place of each drafted token in the text after the round's start, from 0; siblings share one. */
export function depthsOf(round: Round) {
  return isTree(round) ? pathsOf(round).map((path) => path.length - 1) : round.drafted.map((_, place) => place);
}

/** Draft steps: the length of a chain, or a tree's longest path. */
export function depthOf(round: Round) {
  return isTree(round) ? Math.max(...depthsOf(round)) + 1 : round.drafted.length;
}

/** What the token that the target added is: the trace calls it a bonus also where nothing was drafted. */
export function addedIn({ drafted, emitted }: Round): Added {
  return emitted.kind === "bonus" && !drafted.length ? "own" : emitted.kind;
}

/** How many tokens the round adds to the text. */
export function emits(round: Round) {
  return count(round, "accepted") + Number(round.emitted.kind !== "none");
}

/** The whole round; null where a part of it is not reported. */
export function secondsOf({ draft_seconds: draft, verify_seconds: verify, overhead_seconds: overhead }: Round) {
  return draft === null || verify === null || overhead === null ? null : draft + verify + overhead;
}
