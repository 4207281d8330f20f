// The run at every draft length. Under greedy decoding the output is fixed, and what the draft guesses after a text
// depends only on that text: from its guess at each place follows which tokens each round accepts and rejects. Only what
// the draft writes after a wrong guess is unknown, unless the run itself has drafted it. specviz/core/replay.py does the
// same for the pages that compare drafts.

import { spelled } from "./readable.js";
import { count, emits, isTree, shown } from "./rounds.js";
import { say } from "./words.js";
import type { Added, DraftGuesses, ReplayTimes, SentRun, Trace } from "../dist/payloads.js";
import type { ReplayedLength, Replays, RunPart } from "./drawn.js";

export const LENGTHS = Array.from({ length: 16 }, (_, i) => i + 1); // of a draft, up to MAX_DRAFT_LENGTH of specviz/core/settings.py

export type Tails = Map<number, (number | null)[]>; // by place in the output: what the run's draft wrote after its guess there

/** one round at a draft length that was not decoded */
export interface Replayed {
  guesses: (number | null)[]; // null: no real run has drafted it
  accepted: number;
  rejected: number;
  added: Added;
}

export function replayOf({ trace, guesses, times }: Pick<SentRun, "trace" | "guesses" | "times">, { running, why_not: why }: { running: boolean, why_not?: string }): RunPart["replay"] {
  if (!guesses || !times) return { why_not: why ?? whyNot(trace, running) };
  const pieces = new Map(Object.entries(guesses.pieces));
  for (const token of trace.rounds.flatMap(({ drafted }) => drafted)) if (token.id !== null) pieces.set(String(token.id), shown(token));
  const texts = (id: number) => pieces.get(String(id)) ?? say("token_id", { id });
  const lengths: Replays["lengths"] = {};
  for (const [length, rounds] of everyLength(trace, guesses)) lengths[length] = lengthOf(rounds, texts, times);
  return { why_not: null, tokens: spelled(guesses.token_ids.map(texts)), lengths, times: say(times.said), exact: guesses.exact };
}

function whyNot({ settings, rounds }: Trace, running: boolean) {
  if (settings.tree?.startsWith("dynamic:")) return say("dynamic_tree");
  if (settings.tree) return say("other_tree", { tree: settings.tree, depth: settings.tree.split(",").length });
  if (settings.temperature) return say("another_text");
  if (settings.draft_schedule !== "fixed") return say("schedule", { schedule: settings.draft_schedule });
  if (rounds.some((round) => round.draft_tokens?.length)) return say("other_tokenizer");
  return say(running ? "lengths_later" : "lengths_live");
}

export function everyLength(trace: Trace, guesses: DraftGuesses): Map<number, Replayed[]> {
  const tails = tailsOf(trace);
  return new Map(LENGTHS.map((length) => [length, replay(trace, guesses, length, tails)]));
}

/** The rounds of decoding with this draft length, token by token as in the real loop. */
function replay({ settings, output }: Trace, guesses: DraftGuesses, length: number, tails: Tails) {
  const tokens = guesses.token_ids;
  const end = output.stopped_by === "eos" ? tokens[tokens.length - 1] : null; // no other end of text is in it
  const rounds = [];
  for (let start = 0; start < tokens.length; ) {
    const room = Math.min(length, settings.max_new_tokens - start - 1); // leaves room for the target's own token
    const round = judged(tokens, start, proposal(guesses, start, room), end, tails);
    rounds.push(round);
    start += round.accepted + Number(round.added !== "none");
  }
  return rounds;
}

/** The guesses of a round that starts there (lookup: at most so many); null where a guess is unknown. */
function proposal({ token_ids: tokens, guesses, proposals }: DraftGuesses, start: number, room: number) {
  if (proposals) return proposals[start].slice(0, room) as (number | null)[];
  const known = (guesses ?? []).slice(start, start + room);
  const wrong = known.findIndex((guess, i) => guess !== tokens[start + i]);
  // after a wrong guess the draft reads a text that was never written
  return Array.from({ length: room }, (_, i) => (wrong >= 0 && i > wrong ? null : (known[i] ?? null)));
}

/** The result of one proposal: the target accepts what equals its own output, up to an end of text. `tokens`: of the output */
function judged(tokens: number[], start: number, proposed: (number | null)[], end: number | null, tails: Tails): Replayed {
  let accepted = 0;
  let ended = false;
  while (accepted < proposed.length && !ended && proposed[accepted] === tokens[start + accepted]) {
    ended = tokens[start + accepted] === end;
    accepted += 1;
  }
  const rejected = Number(!ended && accepted < proposed.length);
  const real = tails.get(start + accepted + rejected - 1) ?? []; // what the run wrote at unknown places
  const guesses = proposed.map((id, i) => id ?? real[i - accepted - rejected] ?? null);
  const bonus = guesses.length ? "bonus" : "own";
  return { guesses, accepted, rejected, added: ended ? "none" : rejected ? "correction" : bonus };
}

/**
 * What the draft of the run wrote after each guess that was rejected (or ended the text), by the place of that guess in the
 * output: the text up to there, with the guess, decides what comes next, wherever the round began.
 */
function tailsOf({ rounds }: Trace): Tails {
  const tails: Tails = new Map();
  let written = 0;
  for (const round of rounds) {
    const known = count(round, "accepted", "rejected");
    const after = round.drafted.slice(known).map(({ id }) => id);
    if (after.length && !isTree(round)) tails.set(written + known - 1, after.filter((id) => id !== null)); // of a tree, several come after one guess
    written += emits(round);
  }
  return tails;
}

function lengthOf(rounds: Replayed[], texts: (id: number) => string, { steps, between }: ReplayTimes): ReplayedLength {
  const sum = (of: (round: Replayed) => number) => rounds.reduce((total, round) => total + of(round), 0);
  const emitted = sum(({ accepted, added }) => accepted + Number(added !== "none"));
  const [accepted, rejected, drafted] = [sum((round) => round.accepted), sum((round) => round.rejected), sum((round) => round.guesses.length)];
  const speedup = (each: number[]) => emitted / sum(({ guesses }) => each[guesses.length]);
  return {
    rounds: rounds.map(({ guesses, accepted, rejected, added }) => {
      const known = guesses.slice(accepted).filter((id) => id !== null);
      return [accepted, rejected, added, spelled(known.map(texts)), guesses.length - accepted - known.length];
    }),
    accepted,
    rejected,
    discarded: drafted - accepted - rejected,
    acceptance: drafted ? accepted / drafted : null,
    per_call: emitted / (rounds.length || 1),
    speedup: steps && rounds.length ? speedup(steps) : null,
    interval: between && rounds.length ? [speedup(between[1]), speedup(between[0])] : null,
  };
}
