// What the stage draws: what the modules of this folder make of a trace, and the server's small state beside it.

import type { Added, MethodPayload, ShareRow, StageState } from "../dist/payloads.js";

/** How a draft is judged: token after token, along a tree, or all of it together. */
export type Rule = "token" | "tree" | "block";

/** Text, p, q, whether it is this token. */
export type CandidateRow = [string, number, number | null, boolean];

/** A drafted token that the target judged. */
export interface JudgedChip {
  text: string;
  status: "accepted" | "rejected";
  p: number | null;
  q: number | null;
  accept_prob: number | null;
  u: number | null;
  candidates: CandidateRow[];
}

/** A drafted token that was never judged: only what the draft thought of it is shown. */
export interface DiscardedChip {
  text: string;
  status: "discarded";
  q: number | null;
}

/** A guess of a tree that was never judged. The target's pass read it all the same. */
export interface NotTakenChip {
  text: string;
  status: "not taken";
  p: number | null;
  q: number | null;
}

/** The target's own token at the end of a round. */
export interface TargetChip {
  text: string;
  status: "correction" | "bonus" | "own";
  p: number | null;
  candidates: CandidateRow[];
  residual: ShareRow[];
}

export type Chip = JudgedChip | DiscardedChip | NotTakenChip | TargetChip;

/**
 * The shape of a round's draft.
 *
 * `parents` has an entry for each guess: the one that it follows, or -1, the text. `rows` are its guesses as they are
 * drawn, from the top. `folded` are rows that are hidden at first; `best` is the draft's probability of the most
 * probable path among them.
 */
export interface TreePayload {
  parents: number[];
  rows: number[][];
  folded: number[];
  best: number | null;
}

/** The figures after a round; `positions` are (accepted, judged) so far at each position of the draft. */
export interface FiguresAfter {
  emitted: number;
  accepted: number;
  drafted: number;
  judged: number;
  acceptance: number | null;
  judgement: number | null;
  speedup: number | null;
  positions: [number, number][];
}

/**
 * A round: a sentence for each phase, its chips, and when each phase begins and ends.
 *
 * `ms` are the starts of the three phases and the end; `alone` is what the target alone had written by the end of each
 * phase; `draft_tokens` is what a draft with another tokenizer wrote, in its own tokens; `tree` is there where the
 * draft is a tree.
 */
export interface RoundPayload {
  sentences: [string, string, string];
  chips: Chip[];
  draft_tokens?: string[];
  tree?: TreePayload;
  ms: [number, number, number, number];
  alone: [number, number, number] | null;
  after: FiguresAfter;
}

/** The prompt's last tokens, and how many come before them. */
export interface PromptPayload {
  hidden: number;
  tokens: string[];
}

/** Accepted, rejected, what the target added, known guesses, number of unknown ones. */
export type ReplayedRound = [number, number, Added, string[], number];

/** The run as it would have been at another draft length. */
export interface ReplayedLength {
  rounds: ReplayedRound[];
  accepted: number;
  rejected: number;
  discarded: number;
  per_call: number;
  speedup: number | null;
  interval: [number, number] | null; // 95 % of the speedup; null: not known
}

/** Why the run cannot be replayed at other draft lengths. */
export interface NoReplay {
  why_not: string;
}

/**
 * The run at every draft length.
 *
 * `times` says where the costs are from; where `exact` is false, nearly equal tokens may be chosen differently in a
 * real run.
 */
export interface Replays {
  why_not: null;
  tokens: string[];
  lengths: Record<string, ReplayedLength>;
  times: string;
  exact: boolean;
}

/** What is computed of the run alone. */
export interface RunPart {
  replay: NoReplay | Replays;
  prompt: PromptPayload;
  rounds: RoundPayload[];
  plain: number[] | null; // milliseconds at which the target alone had written each token
}

/**
 * How the run was drafted and judged.
 *
 * `drafter` is the kind of method, as in traces. `point_mass` is true where the draft does not draw its guesses, so
 * that q is 1 on each; `tree` is the setting; `translated` says that the draft's tokens are not the target's. Where
 * `timed` is false the rounds have no times: their `ms` are 0, and the stage draws no timeline. `imported`: another
 * system wrote the run.
 */
export interface HowPayload {
  greedy: boolean;
  drafter: string;
  method: MethodPayload;
  rule: Rule;
  point_mass: boolean;
  tree: string | null;
  translated: boolean;
  timed: boolean;
  imported: boolean;
  draft_length: number;
  more: boolean; // rounds may still come
}

/** Everything the stage shows of one run. */
export interface StagePayload extends StageState, HowPayload, RunPart {}
