/** A trace as the stage takes it; what a server says elsewhere is said here. */

import { costsOf, roundSteps, timedOf } from "./timing.js";
import { resultOf } from "./words.js";

/** @import { ComparedPayload, DraftGuesses, MethodPayload, Phase, ReplayTimes, SentStage, TourPayload, Trace } from "../shared/payloads.js" */

const LONGEST = 16; // of a draft
const SHOWN_PROMPT_TOKENS = 60;

/**
 * @typedef {object} Shown a run
 * @property {string} id
 * @property {Trace} trace
 * @property {DraftGuesses | null} guesses
 * @property {boolean} here decoded by this page
 * @property {number} [step] where it begins
 * @property {string[]} [hide] what a lesson keeps as a surprise
 * @property {TourPayload} [tour] the tour of it, while it is open
 */

/**
 * @param {Shown} shown
 * @param {{ methods: Record<string, MethodPayload>, phases: Phase[] }} made methods by the drafter's kind
 * @param {Shown | null} before the run that this one is compared with
 * @param {boolean} pinned whether the visitor chose that run
 * @returns {SentStage}
 */
export function sentOf({ id, trace, guesses, here, step, hide = [], tour }, { methods, phases }, before, pinned) {
  const running = trace.output.stopped_by === null;
  const hidden = Math.max(0, trace.prompt.tokens.length - SHOWN_PROMPT_TOKENS);
  const prompt = { ...trace.prompt, tokens: trace.prompt.tokens.slice(-SHOWN_PROMPT_TOKENS) };
  const method = methods[trace.drafter?.kind ?? ""] ?? methods[""];
  return {
    stream: "", version: 0, run_id: id, name: nameOf(trace), differs: before ? differences(trace, before.trace) : "", running,
    phases, longest_draft: LONGEST, notice: null, badge: here ? "live · this browser" : "recorded run",
    measured: `measured on ${trace.recorded_on.machine}`, idle: running ? "Waiting for the first round…" : "No draft took part in this run.",
    link: {}, playhead: step ?? null, gamma: trace.settings.draft_length,
    ...(running || hide.includes("result") ? {} : { result: resultOf(trace, here) }), hide,
    ...(before ? { before: { ...comparedWith(before), pinned } } : {}),
    view: "full", ...(tour && { tour }),
    run: { trace: { ...trace, prompt }, hidden, method, guesses, times: guesses ? timesOf(trace) : null },
  };
}

/** @param {Trace} trace */
export function nameOf({ target, drafter, settings }) {
  return `${drafter ? drafter.name : "no draft"} → ${target.name}, ${settings.draft_length}`;
}

/**
 * What rounds take at other draft lengths, in plain steps: the measured speedup is what the run's own length has.
 * @param {Trace} trace
 * @returns {ReplayTimes}
 */
function timesOf(trace) {
  const [costs, timed] = [costsOf(trace), timedOf(trace)];
  if (!costs || (timed && !timed.trusted)) return { steps: null, between: null, said: "not known: this machine was busy" };
  const modelled = trace.output.token_ids.length / trace.rounds.reduce((total, { drafted }) => total + roundSteps(costs, drafted.length), 0);
  const scale = timed ? modelled / timed.speedup : 1;
  const steps = Array.from({ length: LONGEST + 1 }, (_, drafted) => scale * roundSteps(costs, drafted));
  return { steps, between: null, said: "estimated from this run’s times" };
}

/**
 * @param {Shown} before
 * @returns {ComparedPayload}
 */
function comparedWith({ trace }) {
  const timed = timedOf(trace);
  /** @type {Array<number | null>} */
  const acceptance = [];
  /** @type {Array<number | null>} */
  const speedup = [];
  const sums = { drafted: 0, accepted: 0, emitted: 0, seconds: 0 };
  const plain = trace.autoregressive?.seconds_per_token ?? [];
  for (const round of trace.rounds) {
    const accepted = round.drafted.filter(({ status }) => status === "accepted").length;
    sums.drafted += round.drafted.length;
    sums.accepted += accepted;
    sums.emitted += accepted + (round.emitted.kind === "none" ? 0 : 1);
    sums.seconds += (round.draft_seconds ?? 0) + (round.verify_seconds ?? 0) + (round.overhead_seconds ?? 0);
    acceptance.push(sums.drafted ? sums.accepted / sums.drafted : null);
    const beside = plain.slice(0, sums.emitted).reduce((total, step) => total + step, 0);
    speedup.push(plain.length >= sums.emitted && sums.seconds ? beside / sums.seconds : null);
  }
  return {
    name: nameOf(trace), differs: "", draft_length: trace.settings.draft_length, acceptance, speedup, lengths: [],
    per_call: trace.rounds.length ? sums.emitted / trace.rounds.length : null, ranked: "", trusted: timed?.trusted ?? true, pinned: false,
  };
}

/**
 * What else the other run has different, as it is in this one.
 * @param {Trace} trace
 * @param {Trace} other
 */
function differences(trace, other) {
  const parts = [];
  if (trace.prompt.text !== other.prompt.text) parts.push(`“${[...trace.prompt.text].slice(0, 16).join("").trim()}…”`);
  if (trace.settings.temperature !== other.settings.temperature) parts.push(`temperature ${trace.settings.temperature}`);
  return parts.join(", ");
}
