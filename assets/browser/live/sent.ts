// A trace as the stage takes it; what a server says elsewhere is said here.

import { figuresOf } from "../stage/result.js";
import { replayOf } from "../trace/replay.js";
import { running } from "../trace/rounds.js";
import { draftName, shortName } from "../trace/words.js";
import { comparedInWords, costsOf, countsOf, firstWords, modelledSpeedup, resultOf, roundSteps, timedOf } from "./outcome.js";
import { say } from "./words.js";
import type { ComparedPayload, DecodeSettings, DraftGuesses, MethodPayload, Phase, ReplayTimes, SentStage, TourPayload, Trace } from "../dist/payloads.js";

const LONGEST = 16; // of a draft

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
  const scale = timed ? modelledSpeedup(trace, costs) / timed.speedup : 1;
  const steps = Array.from({ length: LONGEST + 1 }, (_, drafted) => scale * roundSteps(costs, drafted));
  return { steps, between: null, said: say("costs_estimated") };
}

function comparedWith({ trace, guesses }: Shown): ComparedPayload {
  const after = running(trace).map((state) => state.after);
  const replay = replayOf({ trace, guesses, times: guesses && timesOf(trace) }, { running: false, longest_draft: LONGEST });
  const lengths = Object.values(replay.why_not === null ? replay.lengths : {}).map(figuresOf);
  return {
    name: runName(trace), differs: "", draft_length: trace.settings.draft_length, pinned: false,
    lengths: lengths.map(({ acceptance, speedup }) => [acceptance, speedup]), // from 1; none where the run cannot be replayed
    acceptance: after.map(({ acceptance }) => acceptance), speedup: after.map(({ speedup }) => speedup),
    per_call: after.length ? countsOf(trace).emitted / after.length : null, trusted: timedOf(trace)?.trusted ?? true,
  };
}

// ---- what a run is called, and what is different about it: as in specviz/core/names.py and specviz/player/data.py

const PROMPT_CHARACTERS = 16;

type Usual = { settings: DecodeSettings, unusual: Record<string, string | Record<string, string>> }; // the defaults, and the words for other values

function runName(trace: Trace) {
  return `${draftName(trace)}, ${trace.settings.draft_length}`;
}

/** What else the other run has different, as it is in this one; empty where that is nothing. */
function differences(trace: Trace, other: Trace, usual: Usual) {
  const { settings, target, prompt, created } = trace;
  const elsewhere = trace.recorded_on.machine !== other.recorded_on.machine;
  const manner = mannerOf(settings, usual);
  const parts = [
    target.name !== other.target.name && say("for_target", { target: shortName(target.name) }),
    prompt.text !== other.prompt.text && `“${firstWords(prompt.text, PROMPT_CHARACTERS)}”`,
    settings.temperature !== other.settings.temperature && say("at_temperature", { temperature: Number(settings.temperature.toPrecision(6)) }),
    manner !== mannerOf(other.settings, usual) && manner,
    settings.max_new_tokens !== other.settings.max_new_tokens && say("so_many_tokens", { number: settings.max_new_tokens }),
    elsewhere && say(created < other.created ? "recorded_elsewhere" : "measured_here"),
  ];
  return parts.filter(Boolean).join(", ");
}

/** What is not usual in how tokens are drafted and verified, as `manner` of specviz/core/settings.py. */
function mannerOf(settings: DecodeSettings, { settings: defaults, unusual }: Usual) {
  const words = Object.entries(unusual).map(([name, words]) => {
    const setting = name as keyof DecodeSettings;
    const value = String(settings[setting] ?? defaults[setting]);
    if (value === String(defaults[setting])) return "";
    return typeof words === "string" ? words.split("{}").join(value) : words[value];
  });
  return words.filter(Boolean).join(", ");
}
