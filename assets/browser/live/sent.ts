/** A trace as the stage takes it; what a server says elsewhere is said here. */

import { replayOf } from "../trace/replay.js";
import { running } from "../trace/running.js";
import { differences, runName, type Usual } from "./names.js";
import { comparedInWords, countsOf, resultOf } from "./outcome.js";
import { costsOf, roundSteps, timedOf } from "./timing.js";
import { say } from "./words.js";
import type { ComparedPayload, DraftGuesses, MethodPayload, Phase, ReplayTimes, SentStage, TourPayload, Trace } from "../dist/payloads.js";

const LONGEST = 16; // of a draft

/** a run */
export interface Shown {
  id: string;
  trace: Trace;
  guesses: DraftGuesses | null;
  here: boolean; // decoded by this page
  step?: number; // where it begins
  hide?: string[]; // what a lesson keeps as a surprise
  tour?: TourPayload; // the tour of it, while it is open
}

/** `made`: methods by the drafter's kind. `before`: the run that this one is compared with. `pinned`: whether the visitor chose that run */
export function sentOf({ id, trace, guesses, here, step, hide = [], tour }: Shown, made: { methods: Record<string, MethodPayload>, phases: Phase[] } & Usual, before: Shown | null, pinned: boolean): SentStage {
  const grows = trace.output.stopped_by === null;
  const { methods, phases } = made;
  const method = methods[trace.drafter?.kind ?? ""] ?? methods[""];
  return {
    stream: "", version: 0, run_id: id, name: runName(trace), differs: before ? differences(trace, before.trace, made) : "", running: grows,
    phases, longest_draft: LONGEST, notice: null, badge: say(here ? "live_badge" : "recorded_badge"),
    measured: say("measured_on", { machine: trace.recorded_on.machine }), idle: say(grows ? "waiting" : "no_draft"),
    link: {}, playhead: step ?? null, gamma: trace.settings.draft_length,
    ...(grows || hide.includes("result") ? {} : { result: { ...resultOf(trace, here), same: comparedInWords(trace) } }), hide,
    ...(before ? { before: { ...comparedWith(before), differs: differences(before.trace, trace, made), pinned } } : {}),
    ...(tour && { tour }),
    run: { trace, hidden: 0, method, guesses, times: guesses ? timesOf(trace) : null },
  };
}

/** What rounds take at other draft lengths, in plain steps: the measured speedup is what the run's own length has. */
function timesOf(trace: Trace): ReplayTimes {
  const [costs, timed] = [costsOf(trace), timedOf(trace)];
  const busy = timed !== null && !timed.trusted;
  if (busy || !costs) return { steps: null, between: null, said: say(busy ? "costs_busy" : "costs_without_times") };
  const modelled = countsOf(trace).emitted / trace.rounds.reduce((total, { drafted }) => total + roundSteps(costs, drafted.length), 0);
  const scale = timed ? modelled / timed.speedup : 1;
  const steps = Array.from({ length: LONGEST + 1 }, (_, drafted) => scale * roundSteps(costs, drafted));
  return { steps, between: null, said: say("costs_estimated") };
}

function comparedWith({ trace, guesses }: Shown): ComparedPayload {
  const after = running(trace).map((state) => state.after);
  return {
    name: runName(trace), differs: "", draft_length: trace.settings.draft_length, lengths: lengthsOf(trace, guesses), pinned: false,
    acceptance: after.map(({ acceptance }) => acceptance), speedup: after.map(({ speedup }) => speedup),
    per_call: after.length ? countsOf(trace).emitted / after.length : null, trusted: timedOf(trace)?.trusted ?? true,
  };
}

/** Acceptance and estimated speedup at each draft length from 1; empty where the run cannot be replayed. */
function lengthsOf(trace: Trace, guesses: DraftGuesses | null): ComparedPayload["lengths"] {
  const replay = replayOf({ trace, guesses, times: guesses && timesOf(trace) }, { running: false, longest_draft: LONGEST });
  return Object.values(replay.why_not === null ? replay.lengths : {}).map(({ accepted, rejected, discarded, speedup }) => {
    const drafted = accepted + rejected + discarded;
    return [drafted ? accepted / drafted : null, speedup];
  });
}
