// What the stage draws: what the modules of this folder make of a trace, and the server's small state beside it.

import type { Added, ComparedPayload, ShareRow, StageState } from "../dist/payloads.js";
import type { howOf } from "./drawn_run.js";

export type Rule = "token" | "tree" | "block"; // how a draft is judged: token after token, along a tree, or all of it together
export type CandidateRow = [text: string, p: number, q: number | null, own: boolean]; // own: whether it is the token that is explained

/** A drafted token that the target judged. */
export type JudgedChip = { text: string, status: "accepted" | "rejected", p: number | null, q: number | null, accept_prob: number | null, u: number | null, candidates: CandidateRow[] };
/** A drafted token that was never judged: only what the draft thought of it is shown. */
export type DiscardedChip = { text: string, status: "discarded", q: number | null };
/** A guess of a tree that was never judged. The target's pass read it all the same. */
export type NotTakenChip = { text: string, status: "not taken", p: number | null, q: number | null };
/** The target's own token at the end of a round. */
export type TargetChip = { text: string, status: "correction" | "bonus" | "own", p: number | null, candidates: CandidateRow[], residual: ShareRow[] };
export type Chip = JudgedChip | DiscardedChip | NotTakenChip | TargetChip;

export interface TreePayload {
  parents: number[]; // of each guess: the one that it follows, or -1, the text
  rows: number[][]; // its guesses as they are drawn, from the top
  folded: number[]; // rows that are hidden at first
  best: number | null; // the draft's probability of the most probable path among these
}

export type Point = { acceptance: number | null, speedup: number | null, interval?: [number, number] | null }; // interval: 95 % of an estimated speedup
/** The figures after a round; `positions` are (accepted, judged) so far at each position of the draft, `per_call` tokens a round. */
export type FiguresAfter = { emitted: number, accepted: number, drafted: number, judged: number, per_call: number, acceptance: number | null, judgement: number | null, speedup: number | null, positions: [number, number][] };

export interface RoundPayload {
  sentences: [string, string, string]; // one for each phase
  chips: Chip[];
  draft_tokens?: string[]; // what a draft with another tokenizer wrote, in its own tokens
  tree?: TreePayload;
  ms: [number, number, number, number]; // the starts of the three phases, and the end
  alone: [number, number, number] | null; // what the target alone had written by the end of each phase
  after: FiguresAfter;
}

export type PromptPayload = { hidden: number, tokens: string[] }; // its last tokens, and how many come before them
export type ReplayedRound = [accepted: number, rejected: number, added: Added, known: string[], unknown: number]; // known: guesses; unknown: their number
/** The run as it would have been at another draft length. */
export type ReplayedLength = { rounds: ReplayedRound[], accepted: number, rejected: number, discarded: number, per_call: number, acceptance: number | null, speedup: number | null, interval: [number, number] | null };
/** The run at every draft length. `times`: where the costs are from. `exact`: false where nearly equal tokens may be chosen differently in a real run */
export type Replays = { why_not: null, tokens: string[], lengths: Record<string, ReplayedLength>, times: string, exact: boolean };

/** What is computed of the run alone. `plain`: milliseconds at which the target alone had written each token */
export type RunPart = { replay: { why_not: string } | Replays, prompt: PromptPayload, rounds: RoundPayload[], plain: number[] | null };

/** The result in words. `speedup`: the measured one, null where it is not trusted. `interval`: 95 % of the speedup that `says` has */
export type Result = { says: string, reason: string, same: string, trusted: boolean, speedup: number | null, interval: [number, number] | null, where: string };
/** The run that the one on screen is compared with, and what both are called. */
export type Compared = ComparedPayload & { names: { run: string, before: string } };

/** Everything the stage shows of one run. */
export interface StagePayload extends Omit<StageState, "result" | "before">, ReturnType<typeof howOf>, RunPart { result?: Result; before?: Compared }
