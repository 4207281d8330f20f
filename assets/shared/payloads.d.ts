// Made by scripts/write_payload_types.py from the Python types. Do not edit it.

/**
 * Measured passes over several tokens of one text and of many; times are over that of one token of each text.
 */
export interface BatchPayload {
  texts: number;
  tokens: number;
  alone: number;
  together: number;
  empty: number;
}

/**
 * A beat of the tour: what it says and asks for, where the playhead stands, and what is said once it is done.
 */
export interface BeatPayload {
  until: "checked" | "guessed" | "opened" | "full" | "length" | "ended";
  says: string;
  asks: string;
  keys: string;
  round: number;
  phase: Phase;
  lights: Array<"guesses" | "transport" | "rejected" | "rounds" | "bonus" | "draft-length" | "play">;
  did: Record<string, string>;
  least: number;
  moves: boolean;
}

export type CandidateRow = [string, number, number | null, boolean];

/**
 * A figure, and what it shows in words.
 */
export interface ChartPayload {
  figure: { data: object[]; layout: Record<string, unknown> };
  alt: string;
}

export type Chip = JudgedChip | DiscardedChip | NotTakenChip | TargetChip;

export type ChipStatus = "accepted" | "rejected" | "discarded" | "not taken" | "correction" | "bonus" | "own";

/**
 * The run that the one on screen is compared with: the one before it, or one that the visitor pinned.
 *
 * `name` is its draft and draft length, `differs` what else is not as in the run on screen. Acceptance and speedup
 * after each round, and in `lengths` both at each draft length from 1, where it was replayed. `per_call` is its tokens
 * per target call, `estimated` its speedup at calibrated costs.
 */
export interface ComparedPayload {
  name: string;
  differs: string;
  draft_length: number;
  acceptance: Array<number | null>;
  speedup: Array<number | null>;
  lengths: Array<[number | null, number | null]>;
  per_call: number | null;
  estimated: number | null;
  trusted: boolean;
  pinned: boolean;
}

/**
 * A lesson: its picture, the part of the stage it is about, and its place in the run.
 */
export interface DiagramPayload {
  words: "technical" | "plain";
  focus: "timeline" | "diagram" | "transport" | "accepted" | "rejected" | "bonus" | "strip";
  picture: "way" | "alone" | "pass" | "dice" | "lossless" | "weights" | "texts" | "stops";
  passes?: PassesPayload;
  batch?: BatchPayload;
  rule?: LosslessPayload;
  stops?: StopsPayload;
  step: number;
  place: string;
}

/**
 * A drafted token that was never judged: only what the draft thought of it is sent.
 */
export interface DiscardedChip {
  text: string;
  status: "discarded";
  q: number | null;
}

export interface Draft {
  acceptance: number;
  length: number;
  cost: number;
}

/**
 * Where the word can be seen in a run.
 */
export interface EntryLink {
  label: string;
  href: string;
}

/**
 * One word with its sentence, and a picture where there is one.
 */
export interface EntryPayload {
  id: string;
  name: string;
  symbol: string;
  text: string;
  figure: string;
  link: EntryLink;
  picture: RoundPicture | TimesPicture | null;
}

export type Fate = "accepted" | "part" | "rejected" | "discarded" | "not taken";

/**
 * What the feed sends to the stage of its page: a whole run, or only what is new of it.
 */
export interface FeedPayload {
  stream: string;
  version: number;
  whole: StagePayload | null;
  growth: StageGrowth | null;
}

/**
 * The figures after a round; `positions` are (accepted, judged) so far at each position of the draft.
 */
export interface FiguresAfter {
  emitted: number;
  accepted: number;
  drafted: number;
  judged: number;
  acceptance: number | null;
  judgement: number | null;
  speedup: number | null;
  positions: Array<[number, number]>;
}

/**
 * One guess: its chips, the target's own token where it follows, and how its chips make words.
 */
export interface GuessPayload {
  chips: Array<Chip>;
  words: Array<WordPayload>;
}

/**
 * The part, and what names it.
 */
export interface HeldRun {
  key: string;
  run: RunPart;
}

/**
 * A drafted token that the target judged.
 */
export interface JudgedChip {
  text: string;
  status: "accepted" | "rejected";
  p: number | null;
  q: number | null;
  accept_prob: number | null;
  u: number | null;
  candidates: Array<CandidateRow>;
}

/**
 * The words of the one judge, and the speedup up to which nobody would notice a difference.
 */
export interface JudgedPayload {
  neutral: number;
  helps: string;
  even: string;
  hurts: string;
}

/**
 * One decoder on one prompt. Times are milliseconds from the end of the prompt.
 */
export interface LanePayload {
  name: "target alone" | "speculative";
  tokens: number;
  end: number;
  steps: Array<Step>;
  flag: string;
}

export type LaneStatus = "plain" | "accepted" | "correction" | "bonus" | "own";

/**
 * Both decoders on one prompt.
 */
export interface LapPayload {
  name: string;
  prompt: string;
  lanes: Array<LanePayload>;
  result: string;
  wins: "plain" | "speculative" | null;
}

/**
 * A question, its answer with named figures, and the settings that they are computed from.
 */
export interface LoadAnswerPayload {
  name: "batch" | "context" | "experts";
  question: string;
  answer: string;
  shows: Array<Shown>;
}

/**
 * One place of a sampled run: the text, p and q of its most probable tokens; and of all others together p, q and
 * Σ min(p, q).
 */
export interface LosslessPayload {
  round: number;
  tokens: Array<[string, number, number]>;
  others: [number, number, number];
}

export interface Machine {
  name: string;
  short: string;
  teraflops: number;
  terabytes: number;
  memory: number;
  says: string;
  url: string;
  checked: string;
}

/**
 * What the stage needs to know of the way to draft: facts and parts of sentences, see `core/drafters.py`.
 */
export interface MethodPayload {
  by_hand: boolean;
  at_once: boolean;
  sees_state: boolean;
  title: string;
  gives: string;
  certain: string;
}

/**
 * Why the run cannot be replayed at other draft lengths.
 */
export interface NoReplay {
  why_not: string;
}

/**
 * A guess of a tree that was never judged. The target's pass read it all the same.
 */
export interface NotTakenChip {
  text: string;
  status: "not taken";
  p: number | null;
  q: number | null;
}

/**
 * What the page plays. Moments of the same run share it; a moment without a run is null.
 */
export interface OfflineLesson {
  runs: Record<string, RunPart>;
  moments: Array<OfflineMoment | null>;
}

/**
 * A moment that plays a run: the run's name, and what else its stage needs.
 */
export interface OfflineMoment {
  run: string;
  state: StageState;
}

/**
 * A measured pass: the milliseconds of weights, attention, the program and the rest, and its time over that of one
 * token in the same number format.
 */
export interface PassPayload {
  dtype: string;
  tokens: number;
  ms: [number, number, number, number];
  ratio: number;
}

/**
 * A lesson's measured passes over one token and over several, in each number format.
 */
export interface PassesPayload {
  tokens: number;
  passes: Array<PassPayload>;
}

export type Phase = "propose" | "check" | "judge";

export type PlayPayload = TextPicture | TurnPicture;

/**
 * The prompt's last tokens, and how many come before them.
 */
export interface PromptPayload {
  hidden: number;
  tokens: Array<string>;
}

export interface RacePayload {
  run_id: string;
  badge: string;
  place: number | null;
  end: number;
  slower: number;
  choices: Array<number>;
  laps: Array<LapPayload>;
}

/**
 * The run as it would have been at another draft length.
 */
export interface ReplayedLength {
  rounds: Array<ReplayedRound>;
  accepted: number;
  rejected: number;
  discarded: number;
  per_call: number;
  speedup: number | null;
}

export type ReplayedRound = [number, number, "correction" | "bonus" | "own" | "none", Array<string>, number];

/**
 * The run at every draft length.
 *
 * `times` says where the costs are from; where `exact` is false, nearly equal tokens may be
 * chosen differently in a real run.
 */
export interface Replays {
  why_not: null;
  tokens: Array<string>;
  lengths: Record<string, ReplayedLength>;
  times: string;
  exact: boolean;
}

/**
 * The result of a run in words. `trusted` is false where the machine was too busy for its time to say anything;
 * `estimated` is the speedup at calibrated costs.
 */
export interface ResultPayload {
  says: string;
  reason: string;
  trusted: boolean;
  estimated: number | null;
}

/**
 * What another drafter proposed at the same position.
 */
export interface RivalPayload {
  name: string;
  chips: Array<Chip>;
  more: string;
}

/**
 * The whole lesson: published figures in, everything else is computed from them.
 */
export interface RooflinePayload {
  words: "technical" | "plain";
  limits: string;
  machines: Array<Machine>;
  models: Array<Shape>;
  draft: Draft;
  questions: Array<LoadAnswerPayload>;
  judged: JudgedPayload;
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
  chips: Array<Chip>;
  draft_tokens?: Array<string>;
  tree?: TreePayload;
  ms: [number, number, number, number];
  alone: [number, number, number] | null;
  after: FiguresAfter;
}

/**
 * A recorded round; the chips that the word is about have a ring.
 */
export interface RoundPicture {
  kind: "round";
  alt: string;
  chips: Array<Chip>;
  ringed: Array<number>;
}

/**
 * What stays as it is while a page is drawn again: nearly all of a payload. The browser is sent it once.
 */
export interface RunPart {
  replay: NoReplay | Replays;
  prompt: PromptPayload;
  rounds: Array<RoundPayload>;
  plain: Array<number> | null;
}

export interface Shape {
  name: string;
  layers: number;
  width: number;
  inner: number;
  heads: number;
  kv_heads: number;
  head: number;
  vocabulary: number;
  experts: number;
  active: number;
  billions: number;
  url: string;
  checked: string;
}

export type ShareRow = [string, number, boolean];

export interface Shown {
  machine: string;
  model: string;
  batch: number;
  context: number;
}

/**
 * What is new of a run: its rounds from `start` on, and the plain steps from `plain_start` on.
 */
export interface StageGrowth {
  run_id: string;
  running: boolean;
  more: boolean;
  notice: string | null;
  badge: string;
  idle: string;
  start: number;
  rounds: Array<RoundPayload>;
  plain_start: number;
  plain: Array<number>;
}

/**
 * What the stage itself is sent; `part` names the `HeldRun` that belongs to it.
 */
export interface StageMount {
  greedy: boolean;
  drafter: string;
  method: MethodPayload;
  rule: "token" | "tree" | "block";
  point_mass: boolean;
  tree: string | null;
  translated: boolean;
  stream: string;
  version: number;
  run_id: string;
  name: string;
  differs: string;
  running: boolean;
  more: boolean;
  phases: Array<Phase>;
  longest_draft: number;
  notice: string | null;
  badge: string;
  measured: string;
  idle: string;
  link: Record<string, string>;
  playhead: number | null;
  timed: boolean;
  imported: boolean;
  draft_length: number;
  gamma: number;
  result?: ResultPayload;
  before?: ComparedPayload;
  diagram?: DiagramPayload;
  view?: "simple" | "full" | "projector" | "stage";
  hide?: Array<string>;
  tour?: TourPayload;
  part: string;
}

/**
 * Everything the stage shows of one run.
 */
export interface StagePayload {
  greedy: boolean;
  drafter: string;
  method: MethodPayload;
  rule: "token" | "tree" | "block";
  point_mass: boolean;
  tree: string | null;
  translated: boolean;
  stream: string;
  version: number;
  run_id: string;
  name: string;
  differs: string;
  running: boolean;
  more: boolean;
  phases: Array<Phase>;
  longest_draft: number;
  notice: string | null;
  badge: string;
  measured: string;
  idle: string;
  link: Record<string, string>;
  playhead: number | null;
  timed: boolean;
  imported: boolean;
  draft_length: number;
  gamma: number;
  result?: ResultPayload;
  before?: ComparedPayload;
  diagram?: DiagramPayload;
  view?: "simple" | "full" | "projector" | "stage";
  hide?: Array<string>;
  tour?: TourPayload;
  replay: NoReplay | Replays;
  prompt: PromptPayload;
  rounds: Array<RoundPayload>;
  plain: Array<number> | null;
}

/**
 * What may change at each drawing: a few hundred bytes.
 *
 * `stream` and `version` order what a page draws and what its feed sends: the stage never goes back to an older one.
 */
export interface StageState {
  greedy: boolean;
  drafter: string;
  method: MethodPayload;
  rule: "token" | "tree" | "block";
  point_mass: boolean;
  tree: string | null;
  translated: boolean;
  stream: string;
  version: number;
  run_id: string;
  name: string;
  differs: string;
  running: boolean;
  more: boolean;
  phases: Array<Phase>;
  longest_draft: number;
  notice: string | null;
  badge: string;
  measured: string;
  idle: string;
  link: Record<string, string>;
  playhead: number | null;
  timed: boolean;
  imported: boolean;
  draft_length: number;
  gamma: number;
  result?: ResultPayload;
  before?: ComparedPayload;
  diagram?: DiagramPayload;
  view?: "simple" | "full" | "projector" | "stage";
  hide?: Array<string>;
  tour?: TourPayload;
}

export type Step = [number, Array<[string, LaneStatus]>];

/**
 * Measured speedups with their 95 % intervals, by schedule and in batches; and the limit of the confidence stop.
 *
 * `schedules` are (schedule, value, low, high); `batches` (texts, draft length, value, low, high); `measured` says
 * over how many prompts and on which machine, for each of the two.
 */
export interface StopsPayload {
  limit: number;
  schedules: Array<["fixed" | "heuristic" | "confidence", number, number, number]>;
  batches: Array<[number, number, number, number, number]>;
  measured: [string, string];
}

/**
 * The target's own token at the end of a round.
 */
export interface TargetChip {
  text: string;
  status: "correction" | "bonus" | "own";
  p: number | null;
  candidates: Array<CandidateRow>;
  residual: Array<ShareRow>;
}

/**
 * The text so far; `fresh` is what the last turn added.
 */
export interface TextPicture {
  kind: "text";
  label: string;
  text: string;
  fresh: string;
  inside: boolean;
  focus: string;
  busy: boolean;
}

/**
 * Recorded times as bars on one scale.
 */
export interface TimesPicture {
  kind: "times";
  alt: string;
  bars: Array<[string, number, "draft" | "verify" | "wasted"]>;
}

/**
 * The tour of a first visit.
 *
 * `started` counts how often the visitor began it; `at` is the beat to begin with, from 1; `next` are the addresses,
 * names and purposes of the pages to go to after it.
 */
export interface TourPayload {
  started: number;
  at: number;
  beats: Array<BeatPayload>;
  end: string;
  next: Array<[string, string, string]>;
}

/**
 * The shape of a round's draft.
 *
 * `parents` has an entry for each guess: the one that it follows, or -1, the text. `rows` are its guesses as they are
 * drawn, from the top. `folded` are rows that are hidden at first; `best` is the draft's probability of the most
 * probable path among them.
 */
export interface TreePayload {
  parents: Array<number>;
  rows: Array<Array<number>>;
  folded: Array<number>;
  best: number | null;
}

/**
 * A draft and its verification.
 */
export interface TurnPicture {
  kind: "turn";
  label: string;
  title: string;
  said: string;
  spoken: boolean;
  guesses: Array<GuessPayload>;
  lines: Array<string>;
  asked: string;
  wants: Array<ShareRow>;
  mine: "yours" | "theirs";
  rivals: Array<RivalPayload>;
}

/**
 * All words.
 */
export interface VocabularyPayload {
  words: Array<EntryPayload>;
}

/**
 * A word of the draft, made of so many tokens.
 */
export interface WordPayload {
  text: string;
  fate: Fate;
  pieces: number;
}
