// Made by scripts/write_payload_types.py from the Python types. Do not edit it.

export * from "../trace/drawn.js";

export type Added = "correction" | "bonus" | "own" | "none";

export interface Autoregressive {
  seconds_per_token: Array<number>;
  token_ids: Array<number>;
  alternating?: boolean;
  disturbed?: boolean;
}

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

export interface ComparedPayload {
  named: RunName;
  acceptance: Array<number | null>;
  speedup: Array<number | null>;
  lengths: Array<[number | null, number | null]>;
  per_call: number | null;
  trusted: boolean;
}

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

export interface DraftGuesses {
  drafter: DrafterInfo;
  token_ids: Array<number>;
  guesses: Array<number> | null;
  proposals: Array<Array<number>> | null;
  pieces: Record<string, string>;
  exact: boolean;
  seconds: number;
}

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

export interface FeedPayload {
  stream: string;
  version: number;
  whole: SentStage | null;
  growth: StageGrowth | null;
}

export interface GuessPayload {
  chips: Array<TokenPayload>;
  words: Array<WordPayload>;
}

export interface HeldRun {
  key: string;
  run: SentRun;
}

export interface JudgedPayload {
  neutral: number;
  helps: string;
  even: string;
  hurts: string;
}

export interface Judgement {
  word: "helps" | "about even" | "too close to call" | "hurts";
  speedup: number;
  basis: "interval" | "one pair" | "modelled";
  interval: [number, number] | null;
  trusted: boolean;
}

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
}

export interface LoadQuestion {
  name: "batch" | "context" | "experts";
  question: string;
  answer: string;
  shows: Array<RooflineView>;
}

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

export interface MessagePayload {
  name: string;
  text: string;
}

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

export interface OfflineLesson {
  runs: Record<string, SentRun>;
  moments: Array<OfflineMoment | null>;
  sites: Array<string>;
}

export interface OfflineMoment {
  run: string;
  state: StageState;
}

export interface Output {
  token_ids: Array<number>;
  text: string;
  stopped_by: "length" | "eos" | "other" | null;
}

export interface PassPayload {
  dtype: string;
  tokens: number;
  ms: [number, number, number, number];
  ratio: number;
}

export interface PassesPayload {
  tokens: number;
  passes: Array<PassPayload>;
}

export type Phase = "propose" | "check" | "judge";

export type PlayPayload = TextPicture | TurnPicture;

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

export interface ReplayTimes {
  steps: Array<number> | null;
  between: [Array<number>, Array<number>] | null;
  said: "of_pair" | "of_pair_unsure" | "of_run" | "of_both" | "of_both_unsure" | "unknown_busy" | "unknown_times";
}

export type ResidualCandidate = [id: number, text: string, r: number];

export interface ResultPayload {
  verdict: Verdict | null;
  spans?: [[number, number], [number, number]] | null;
  rough?: boolean;
  quiet: Judgement | null;
  source: string;
  where: string;
  same: string;
  previous: boolean;
}

export interface RivalPayload {
  name: string;
  chips: Array<TokenPayload>;
  more: string;
}

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

export interface Round {
  index: number;
  draft_seconds: number | null;
  verify_seconds: number | null;
  overhead_seconds: number | null;
  drafted: Array<DraftedToken>;
  emitted: EmittedToken;
  draft_tokens?: Array<string>;
}

export interface RoundPicture {
  kind: "round";
  alt: string;
  chips: Array<TokenPayload>;
  ringed: Array<number>;
}

export interface RoundTerms {
  tokens: number;
  drafted: number;
  verification: number;
  nodes: number | null;
}

export interface RunName {
  draft: string;
  draft_length: number;
  target: string;
  prompt: string;
  words: string;
  temperature: number;
  manner: string;
  max_new_tokens: number;
  machine: string;
  created: string;
}

export interface SentRun {
  trace: Trace;
  hidden: number;
  method: MethodPayload;
  guesses: DraftGuesses | null;
  times: ReplayTimes | null;
  named: RunName;
}

export interface SentStage {
  stream: string;
  version: number;
  run_id: string;
  running: boolean;
  phases: Array<Phase>;
  notice: string | null;
  badge: string;
  measured: string;
  idle: string;
  link: Record<string, string>;
  playhead: number | null;
  gamma: number;
  why_not?: string;
  result?: ResultPayload;
  before?: ComparedPayload;
  diagram?: DiagramPayload;
  view?: "simple" | "full" | "projector" | "stage";
  hide?: Array<string>;
  tour?: TourPayload;
  run: SentRun;
}

export type ShareRow = [string, number, boolean];

export interface SourceSystem {
  system: string;
  notes: Array<string>;
  unknown: Array<string>;
}

export interface SpeculationPayload {
  alpha: number;
  length: number;
  cost: number;
}

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

export interface StageMount {
  stream: string;
  version: number;
  run_id: string;
  running: boolean;
  phases: Array<Phase>;
  notice: string | null;
  badge: string;
  measured: string;
  idle: string;
  link: Record<string, string>;
  playhead: number | null;
  gamma: number;
  why_not?: string;
  result?: ResultPayload;
  before?: ComparedPayload;
  diagram?: DiagramPayload;
  view?: "simple" | "full" | "projector" | "stage";
  hide?: Array<string>;
  tour?: TourPayload;
  part: string;
}

export interface StageState {
  stream: string;
  version: number;
  run_id: string;
  running: boolean;
  phases: Array<Phase>;
  notice: string | null;
  badge: string;
  measured: string;
  idle: string;
  link: Record<string, string>;
  playhead: number | null;
  gamma: number;
  why_not?: string;
  result?: ResultPayload;
  before?: ComparedPayload;
  diagram?: DiagramPayload;
  view?: "simple" | "full" | "projector" | "stage";
  hide?: Array<string>;
  tour?: TourPayload;
}

export type Status = "accepted" | "rejected" | "discarded" | "not taken";

export interface StopsPayload {
  limit: number;
  schedules: Array<["fixed" | "heuristic" | "confidence", number, number, number]>;
  batches: Array<[number, number, number, number, number]>;
  measured: [string, string];
}

export interface Terms {
  alpha: number;
  draft_length: number;
  cost_ratio: number;
  verification: number;
  overhead: number;
  counted: RoundTerms | null;
  of_rounds: number | null;
}

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

export interface TourPayload {
  started: number;
  at: number;
  tour: Tour;
}

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

export interface Verdict {
  word: "helps" | "about even" | "too close to call" | "hurts";
  speedup: number;
  basis: "interval" | "one pair" | "modelled";
  interval: [number, number] | null;
  trusted: boolean;
  reason: string;
  binding: "acceptance" | "draft cost" | "verification" | "overhead" | null;
  break_even: number | null;
  terms: Terms | null;
}

export interface VocabularyPayload {
  words: Array<EntryPayload>;
}

export interface WordPayload {
  text: string;
  fate: Fate;
  pieces: number;
}
