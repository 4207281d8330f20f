// A trace as the stage takes it; what a server says elsewhere is said here.

import { partOf } from "../trace/drawn_run.js";
import { LENGTHS } from "../trace/replay.js";
import { draftName } from "../trace/words.js";
import { costsOf, firstWords, modelledSpeedup, resultIn, roundSteps, timedOf } from "./outcome.js";
import { say } from "./words.js";
import type { ComparedPayload, DecodeSettings, DraftGuesses, MethodPayload, Phase, ReplayTimes, SentRun, SentStage, TourPayload, Trace } from "../dist/payloads.js";

const PROMPT_CHARACTERS = 16;

export interface Shown {
  id: string;
  trace: Trace;
  guesses: DraftGuesses | null;
  here: boolean; // decoded by this page
  step?: number; // where it begins
  hide?: string[]; // what a lesson keeps as a surprise
  tour?: TourPayload; // the tour of it, while it is open
  sent?: SentRun;
}

/** `methods`: by the drafter's kind. `unusual`: the words for other settings than the usual ones */
export type Made = { methods: Record<string, MethodPayload>, phases: Phase[], settings: DecodeSettings, unusual: Record<string, string | Record<string, string>> };

/** `before`: the run that this one is compared with */
export function sentOf(shown: Shown, made: Made, before: Shown | null): SentStage {
  const { id, trace, here, step, hide = [], tour } = shown;
  const grows = trace.output.stopped_by === null;
  return {
    stream: "", version: 0, run_id: id, running: grows, phases: made.phases, notice: null, badge: say(here ? "live_badge" : "recorded_badge"),
    measured: say("measured_on", { machine: trace.recorded_on.machine }), idle: say(grows ? "waiting" : "no_draft"),
    link: {}, playhead: step ?? null, gamma: trace.settings.draft_length, hide, tour, run: runOf(shown, made),
    result: grows || hide.includes("result") ? undefined : resultIn(trace, here),
    before: before ? comparedWith(runOf(before, made)) : undefined,
  };
}

/** Made once: a run is drawn many times. */
function runOf(shown: Shown, made: Made) {
  const { trace, guesses } = shown;
  return (shown.sent ??= {
    trace, hidden: 0, method: made.methods[trace.drafter?.kind ?? ""] ?? made.methods[""], guesses, times: guesses ? timesOf(trace) : null,
    named: {
      ...trace.settings, draft: draftName(trace), target: trace.target.name, prompt: trace.prompt.text, words: firstWords(trace.prompt.text, PROMPT_CHARACTERS),
      manner: mannerOf(trace.settings, made), machine: trace.recorded_on.machine, created: trace.created,
    },
  });
}

/** What rounds take at other draft lengths, in plain steps: the measured speedup is what the run's own length has. */
function timesOf(trace: Trace): ReplayTimes {
  const [costs, timed] = [costsOf(trace), timedOf(trace)];
  const busy = timed?.trusted === false;
  if (busy || !costs) return { steps: null, between: null, said: busy ? "unknown_busy" : "unknown_times" };
  const scale = timed ? modelledSpeedup(trace, costs) / timed.speedup : 1;
  return { steps: [0, ...LENGTHS].map((drafted) => scale * roundSteps(costs, drafted)), between: null, said: "of_run" };
}

/** As `compared` of specviz/player/data.py. */
function comparedWith(run: SentRun): ComparedPayload {
  const { rounds, replay } = partOf({ run, running: false });
  const [acceptance, speedup] = (["acceptance", "speedup"] as const).map((name) => rounds.map(({ after }) => after[name]));
  const lengths = Object.values(replay.why_not === null ? replay.lengths : {}).map((each): [number | null, number | null] => [each.acceptance, each.speedup]);
  return { named: run.named, acceptance, speedup, lengths, per_call: rounds.at(-1)?.after.per_call ?? null, trusted: timedOf(run.trace)?.trusted !== false };
}

/** What is not usual in how tokens are drafted and verified, as `manner` of specviz/core/settings.py. */
function mannerOf(settings: DecodeSettings, { settings: defaults, unusual }: Made) {
  const words = Object.entries(unusual).map(([name, words]) => {
    const setting = name as keyof DecodeSettings;
    const value = String(settings[setting] ?? defaults[setting]);
    if (value === String(defaults[setting])) return "";
    return typeof words === "string" ? words.split("{}").join(value) : words[value];
  });
  return words.filter(Boolean).join(", ");
}
