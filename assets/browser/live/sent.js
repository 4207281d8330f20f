/** A trace as the stage takes it; what a server says elsewhere is said here. */

import { replayOf } from "../trace/replay.js";
import { running } from "../trace/running.js";
import { differences, runName } from "./names.js";
import { countsOf, resultOf } from "./outcome.js";
import { costsOf, roundSteps, timedOf } from "./timing.js";
import { say } from "./words.js";

/** @import { ComparedPayload, DraftGuesses, MethodPayload, Phase, ReplayTimes, SentStage, TourPayload, Trace } from "../shared/payloads.js" */
/** @import { Usual } from "./names.js" */

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
 * @param {{ methods: Record<string, MethodPayload>, phases: Phase[] } & Usual} made methods by the drafter's kind
 * @param {Shown | null} before the run that this one is compared with
 * @param {boolean} pinned whether the visitor chose that run
 * @returns {SentStage}
 */
export function sentOf({ id, trace, guesses, here, step, hide = [], tour }, made, before, pinned) {
  const grows = trace.output.stopped_by === null;
  const { methods, phases } = made;
  const method = methods[trace.drafter?.kind ?? ""] ?? methods[""];
  return {
    stream: "", version: 0, run_id: id, name: runName(trace), differs: before ? differences(trace, before.trace, made) : "", running: grows,
    phases, longest_draft: LONGEST, notice: null, badge: say(here ? "live_badge" : "recorded_badge"),
    measured: say("measured_on", { machine: trace.recorded_on.machine }), idle: say(grows ? "waiting" : "no_draft"),
    link: {}, playhead: step ?? null, gamma: trace.settings.draft_length,
    ...(grows || hide.includes("result") ? {} : { result: resultOf(trace, here) }), hide,
    ...(before ? { before: { ...comparedWith(before), differs: differences(before.trace, trace, made), pinned } } : {}),
    ...(tour && { tour }),
    run: { trace, hidden: 0, method, guesses, times: guesses ? timesOf(trace) : null },
  };
}

/**
 * What rounds take at other draft lengths, in plain steps: the measured speedup is what the run's own length has.
 * @param {Trace} trace
 * @returns {ReplayTimes}
 */
function timesOf(trace) {
  const [costs, timed] = [costsOf(trace), timedOf(trace)];
  const busy = timed !== null && !timed.trusted;
  if (busy || !costs) return { steps: null, between: null, said: say(busy ? "costs_busy" : "costs_without_times") };
  const modelled = countsOf(trace).emitted / trace.rounds.reduce((total, { drafted }) => total + roundSteps(costs, drafted.length), 0);
  const scale = timed ? modelled / timed.speedup : 1;
  const steps = Array.from({ length: LONGEST + 1 }, (_, drafted) => scale * roundSteps(costs, drafted));
  return { steps, between: null, said: say("costs_estimated") };
}

/**
 * @param {Shown} before
 * @returns {ComparedPayload}
 */
function comparedWith({ trace, guesses }) {
  const after = running(trace).map((state) => state.after);
  return {
    name: runName(trace), differs: "", draft_length: trace.settings.draft_length, lengths: lengthsOf(trace, guesses), pinned: false,
    acceptance: after.map(({ acceptance }) => acceptance), speedup: after.map(({ speedup }) => speedup),
    per_call: after.length ? countsOf(trace).emitted / after.length : null, trusted: timedOf(trace)?.trusted ?? true,
  };
}

/**
 * Acceptance and estimated speedup at each draft length from 1; empty where the run cannot be replayed.
 * @param {Trace} trace
 * @param {DraftGuesses | null} guesses
 * @returns {ComparedPayload["lengths"]}
 */
function lengthsOf(trace, guesses) {
  const replay = replayOf({ trace, guesses, times: guesses && timesOf(trace) }, { running: false, longest_draft: LONGEST });
  return Object.values(replay.why_not === null ? replay.lengths : {}).map(({ accepted, rejected, discarded, speedup }) => {
    const drafted = accepted + rejected + discarded;
    return [drafted ? accepted / drafted : null, speedup];
  });
}
