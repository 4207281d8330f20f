// Made by scripts/write_payload_types.py from the Python types. Do not edit it.

export * from "../trace/drawn.js";

export type Added = "correction" | "bonus" | "own" | "none";

/**
 * The run for comparison: the target alone, one token a step.
 */
export interface Autoregressive {
  seconds_per_token: Array<number>;
  token_ids: Array<number>;
  alternating?: boolean;
}

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

export interface Beat {
  until: "checked" | "guessed" | "opened" | "full" | "length" | "ended";
  says: string;
  asks: string;
  keys: string;
  did: Record<string, string>;
  place: "mixed" | "full" | "last";
  phase: Phase;
  lights: Array<"guesses" | "transport" | "rejected" | "rounds" | "bonus" | "draft-length" | "play">;
  moves: boolean;
  least: number;
  round: number;
}

export type Candidate = [id: number, text: string, p: number, q: number | null];

export interface ChartPayload {
  figure: { data: object[]; layout: Record<string, unknown> };
  alt: string;
}

export type ChipStatus = "accepted" | "rejected" | "discarded" | "not taken" | "correction" | "bonus" | "own";

/**
 * The run that the one on screen is compared with: the one before it, or one that the visitor pinned.
 *
 * `name` is its draft and draft length, `differs` what else is not as in the run on screen. Acceptance and speedup
 * after each round, and in `lengths` both at each draft length from 1, where it was replayed. `per_call` is its tokens
 * per target call.
 */
export interface ComparedPayload {
  name: string;
  differs: string;
  draft_length: number;
  acceptance: Array<number | null>;
  speedup: Array<number | null>;
  lengths: Array<[number | null, number | null]>;
  per_call: number | null;
  trusted: boolean;
  pinned: boolean;
}

/**
 * Settings of both decoders, checked when they are made: the InputError names the setting.
 */
export interface DecodeSettings {
  max_new_tokens: number;
  draft_length: number;
  temperature: number;
  top_k: number | null;
  top_p: number | null;
  seed: number;
  stop_at_eos: boolean;
  draft_schedule: "fixed" | "heuristic" | "confidence";
  draft_sampling: "sample" | "argmax";
  verification: "token" | "block";
  tree: string | null;
  prompt_format: "raw" | "chat";
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
 * What one drafter would guess at each place of a greedy output, with the true text before that place.
 */
export interface DraftGuesses {
  drafter: DrafterInfo;
  token_ids: Array<number>;
  guesses: Array<number> | null;
  proposals: Array<Array<number>> | null;
  pieces: Record<string, string>;
  exact: boolean;
  seconds: number;
}

/**
 * One token the draft proposed, and what happened to it.
 */
export interface DraftedToken {
  id: number | null;
  text: string | null;
  status: Status;
  target_prob?: number | null;
  draft_prob?: number | null;
  accept_prob?: number | null;
  u?: number | null;
  candidates?: Array<Candidate>;
  parent?: number | null;
}

/**
 * Who drafted: a model, or a rule without a model (the model fields are then None).
 */
export interface DrafterInfo {
  kind: string;
  name: string;
  parameters: number | null;
  dtype: string | null;
  weights_hash: string | null;
  forward: string | null;
  device?: string | null;
}

export interface EmittedToken {
  kind: "correction" | "bonus" | "none";
  id?: number | null;
  text?: string;
  target_prob?: number | null;
  candidates?: Array<Candidate>;
  residual_top?: Array<ResidualCandidate>;
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
  link: string;
  picture: RoundPicture | TimesPicture | null;
}

export type Fate = "accepted" | "part" | "rejected" | "discarded" | "not taken";

/**
 * What the feed sends to the stage of its page: a whole run, or only what is new of it.
 */
export interface FeedPayload {
  stream: string;
  version: number;
  whole: SentStage | null;
  growth: StageGrowth | null;
}

/**
 * One guess: its chips, the target's own token where it follows, and how its chips make words.
 */
export interface GuessPayload {
  chips: Array<TokenPayload>;
  words: Array<WordPayload>;
}

export interface HeldRun {
  key: string;
  run: SentRun;
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
  steps: Array<LaneStep>;
  flag: string;
}

export type LaneStatus = "plain" | "accepted" | "correction" | "bonus" | "own";

export type LaneStep = [number, Array<[string, LaneStatus]>];

export interface LapPayload {
  name: string;
  prompt: string;
  lanes: Array<LanePayload>;
  result: string;
  wins: "plain" | "speculative" | null;
}

export interface LoadQuestion {
  name: "batch" | "context" | "experts";
  question: string;
  answer: string;
  shows: Array<RooflineView>;
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
  machine: string;
  torch: string;
  transformers: string;
  threads: number;
  instructions?: string;
}

/**
 * A message of a chat, before the answer.
 */
export interface MessagePayload {
  name: string;
  text: string;
}

/**
 * What the stage needs to know of the way to draft: facts and parts of sentences, see `core/drafters.py`.
 *
 * `subject` is who guesses, as in the middle of a sentence, and `several` whether these are several.
 */
export interface MethodPayload {
  kind: string;
  by_hand: boolean;
  at_once: boolean;
  sees_state: boolean;
  title: string;
  gives: string;
  certain: string;
  subject: string;
  several: boolean;
  proposes: string;
  nothing: string;
}

/**
 * Which weights were used, in which number format.
 */
export interface ModelInfo {
  name: string;
  parameters: number;
  dtype: string;
  weights_hash: string;
  forward: string | null;
  device?: string | null;
}

export interface ModelShape {
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

export interface NextPage {
  page: string;
  name: string;
  why: string;
}

/**
 * What the page plays. Moments of the same run share it; a moment without a run is null.
 */
export interface OfflineLesson {
  runs: Record<string, SentRun>;
  moments: Array<OfflineMoment | null>;
  sites: Array<string>;
}

/**
 * A moment that plays a run: the run's name, and what else its stage needs.
 */
export interface OfflineMoment {
  run: string;
  state: StageState;
}

export interface Output {
  token_ids: Array<number>;
  text: string;
  stopped_by: "length" | "eos" | "other" | null;
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
 * Time to read the prompt; it is not part of decoding.
 */
export interface PrefillSeconds {
  target: number | null;
  draft: number | null;
}

export interface Prompt {
  text: string;
  token_ids: Array<number>;
  tokens: Array<string>;
}

export interface PublishedMachine {
  name: string;
  short: string;
  teraflops: number;
  terabytes: number;
  memory: number;
  says: string;
  url: string;
  checked: string;
}

export interface RacePayload {
  run_id: string;
  pair: string;
  badge: string;
  place: number | null;
  end: number;
  slower: number;
  choices: Array<number>;
  laps: Array<LapPayload>;
}

/**
 * What replayed rounds take: `steps` for 0, 1, ... guesses, in target steps, so that the run's own speedup is the
 * measured one; None where it is not known. `between` is their 95 % interval, low ends and high ends. `said` is where
 * they are from.
 */
export interface ReplayTimes {
  steps: Array<number> | null;
  between: [Array<number>, Array<number>] | null;
  said: string;
}

export type ResidualCandidate = [id: number, text: string, r: number];

export interface Result {
  says: string;
  reason: string;
  trusted: boolean;
  speedup: number | null;
  interval: [number, number] | null;
  where: string;
}

/**
 * What another drafter proposed at the same position.
 */
export interface RivalPayload {
  name: string;
  chips: Array<TokenPayload>;
  more: string;
}

/**
 * The whole lesson: published figures in, everything else is computed from them.
 */
export interface RooflinePayload {
  limits: string;
  machines: Array<PublishedMachine>;
  models: Array<ModelShape>;
  draft: SpeculationPayload;
  labels: Record<string, string>;
  sentences: Record<string, string>;
  questions: Array<LoadQuestion>;
  judged: JudgedPayload;
}

export interface RooflineView {
  machine: string;
  model: string;
  batch: number;
  context: number;
}

/**
 * One draft phase and the target pass that checked it.
 */
export interface Round {
  index: number;
  draft_seconds: number | null;
  verify_seconds: number | null;
  overhead_seconds: number | null;
  drafted: Array<DraftedToken>;
  emitted: EmittedToken;
  draft_tokens?: Array<string>;
}

/**
 * A recorded round; the chips that the word is about have a ring.
 */
export interface RoundPicture {
  kind: "round";
  alt: string;
  chips: Array<TokenPayload>;
  ringed: Array<number>;
}

/**
 * What stays as it is while a page is drawn again: a run as its trace, without what the stage does not show.
 *
 * `hidden` counts the prompt's tokens before those of the trace. `guesses` are there where the run can be replayed at
 * other draft lengths, and then `times` too.
 */
export interface SentRun {
  trace: Trace;
  hidden: number;
  method: MethodPayload;
  guesses: DraftGuesses | null;
  times: ReplayTimes | null;
}

export interface SentStage {
  stream: string;
  version: number;
  run_id: string;
  name: string;
  differs: string;
  running: boolean;
  phases: Array<Phase>;
  longest_draft: number;
  notice: string | null;
  badge: string;
  measured: string;
  idle: string;
  link: Record<string, string>;
  playhead: number | null;
  gamma: number;
  why_not?: string;
  result?: Result;
  before?: ComparedPayload;
  diagram?: DiagramPayload;
  view?: "simple" | "full" | "projector" | "stage";
  hide?: Array<string>;
  tour?: TourPayload;
  run: SentRun;
}

export type ShareRow = [string, number, boolean];

/**
 * The system that wrote a run, if it was not this program.
 */
export interface SourceSystem {
  system: string;
  notes: Array<string>;
  unknown: Array<string>;
}

/**
 * Acceptance of a judged guess, draft length, cost of a guess in plain passes.
 */
export interface SpeculationPayload {
  alpha: number;
  length: number;
  cost: number;
}

/**
 * What is new of a run: its rounds from `start` on, and the seconds of the plain steps from `plain_start` on.
 */
export interface StageGrowth {
  run_id: string;
  running: boolean;
  notice: string | null;
  badge: string;
  idle: string;
  start: number;
  rounds: Array<Round>;
  plain_start: number;
  plain: Array<number>;
}

/**
 * What the stage itself is sent; `part` names the `HeldRun` that belongs to it.
 */
export interface StageMount {
  stream: string;
  version: number;
  run_id: string;
  name: string;
  differs: string;
  running: boolean;
  phases: Array<Phase>;
  longest_draft: number;
  notice: string | null;
  badge: string;
  measured: string;
  idle: string;
  link: Record<string, string>;
  playhead: number | null;
  gamma: number;
  why_not?: string;
  result?: Result;
  before?: ComparedPayload;
  diagram?: DiagramPayload;
  view?: "simple" | "full" | "projector" | "stage";
  hide?: Array<string>;
  tour?: TourPayload;
  part: string;
}

/**
 * What may change at each drawing: a few hundred bytes.
 *
 * `stream` and `version` order what a page draws and what its feed sends: the stage never goes back to an older one.
 */
export interface StageState {
  stream: string;
  version: number;
  run_id: string;
  name: string;
  differs: string;
  running: boolean;
  phases: Array<Phase>;
  longest_draft: number;
  notice: string | null;
  badge: string;
  measured: string;
  idle: string;
  link: Record<string, string>;
  playhead: number | null;
  gamma: number;
  why_not?: string;
  result?: Result;
  before?: ComparedPayload;
  diagram?: DiagramPayload;
  view?: "simple" | "full" | "projector" | "stage";
  hide?: Array<string>;
  tour?: TourPayload;
}

export type Status = "accepted" | "rejected" | "discarded" | "not taken";

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
 * The text so far; `fresh` is what the last turn added.
 */
export interface TextPicture {
  kind: "text";
  label: string;
  asked: Array<MessagePayload>;
  text: string;
  fresh: string;
  inside: boolean;
  focus: string;
  busy: boolean;
}

export interface TimesPicture {
  kind: "times";
  alt: string;
  bars: Array<[string, number, "draft" | "verify" | "wasted"]>;
}

export interface TokenPayload {
  text: string;
  status: ChipStatus;
}

export interface Tour {
  beats: Array<Beat>;
  end: string;
  next: Array<NextPage>;
}

/**
 * The tour of a first visit: how often the visitor began it, and the beat to begin with, from 1.
 */
export interface TourPayload {
  started: number;
  at: number;
  tour: Tour;
}

/**
 * A decode run: settings, models, prompt, rounds, timings, output.
 */
export interface Trace {
  schema: 1 | 2;
  created: string;
  recorded_on: Machine;
  target: ModelInfo;
  drafter: DrafterInfo | null;
  settings: DecodeSettings;
  prompt: Prompt;
  prefill_seconds: PrefillSeconds;
  rounds: Array<Round>;
  autoregressive: Autoregressive | null;
  output: Output;
  imported?: SourceSystem | null;
}

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

export interface VocabularyPayload {
  words: Array<EntryPayload>;
}

export interface WordPayload {
  text: string;
  fate: Fate;
  pieces: number;
}
