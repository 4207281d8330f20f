/** A trace as the stage takes it; what a server says elsewhere is said here. */

import { running } from "../trace/running.js";
import { costsOf, roundSteps, timedOf } from "./timing.js";
import { countsOf, firstWords, resultOf } from "./words.js";

/** @import { ComparedPayload, DraftGuesses, MethodPayload, Phase, ReplayTimes, SentStage, TourPayload, Trace } from "../shared/payloads.js" */

const LONGEST = 16; // of a draft

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
  const grows = trace.output.stopped_by === null;
  const method = methods[trace.drafter?.kind ?? ""] ?? methods[""];
  return {
    stream: "", version: 0, run_id: id, name: nameOf(trace), differs: before ? differences(trace, before.trace) : "", running: grows,
    phases, longest_draft: LONGEST, notice: null, badge: here ? "live · this browser" : "recorded run",
    measured: `measured on ${trace.recorded_on.machine}`, idle: grows ? "Waiting for the first round…" : "No draft took part in this run.",
    link: {}, playhead: step ?? null, gamma: trace.settings.draft_length,
    ...(grows || hide.includes("result") ? {} : { result: resultOf(trace, here) }), hide,
    ...(before ? { before: { ...comparedWith(before), pinned } } : {}),
    ...(tour && { tour }),
    run: { trace, hidden: 0, method, guesses, times: guesses ? timesOf(trace) : null },
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
  const after = running(trace).map((state) => state.after);
  return {
    name: nameOf(trace), differs: "", draft_length: trace.settings.draft_length, lengths: [], ranked: "", pinned: false,
    acceptance: after.map(({ acceptance }) => acceptance), speedup: after.map(({ speedup }) => speedup),
    per_call: after.length ? countsOf(trace).emitted / after.length : null, trusted: timedOf(trace)?.trusted ?? true,
  };
}

/**
 * What else the other run has different, as it is in this one.
 * @param {Trace} trace
 * @param {Trace} other
 */
function differences(trace, other) {
  const parts = [];
  if (trace.prompt.text !== other.prompt.text) parts.push(`“${firstWords(trace.prompt.text, 16)}”`);
  if (trace.settings.temperature !== other.settings.temperature) parts.push(`temperature ${trace.settings.temperature}`);
  return parts.join(", ");
}
