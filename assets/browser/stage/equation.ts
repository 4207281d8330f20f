// The second line of the result: tokens per target call ÷ steps a round = speedup. Tokens are counted. Steps are timed: what a round
// takes, in plain steps of the target. A part lights what it is made of, see stage.css. Draws nothing.

import { fixed, localize } from "../shared/localize.js";
import { estimated } from "./curves.js";
import { say } from "./words.js";
import type { ReplayedLength, StagePayload } from "../dist/payloads.js";

export type Part = "tokens" | "steps" | "speedup";
export type Piece = { part: Part | null, words: string }; // of the line; null: a sign between two parts
export type Equation = { pieces: Piece[], tips: Record<Part, string> };
export type Sides = { tokens: number, steps: number | null, speedup: number | null, interval?: ReplayedLength["interval"], estimated: boolean }; // the speedup as it is said

const PLACES = [2, 3, 4]; // decimals: as many as make the quotient right

/** The equation of the run on screen, or of its replay at another draft length; nothing where there is no round. */
export function equationOf(data: StagePayload, run: ReplayedLength | null): Equation | null {
  const sides = run ? replayed(run) : measured(data);
  if (!sides) return null;
  const [tokens, steps] = agreeing(sides);
  const { speedup, estimated: modelled } = sides;
  const tips = {
    tokens: run ? countedIn(run.accepted, run.per_call * run.rounds.length, run.rounds.length) : countedInRun(data),
    steps: [say("step_meaning"), modelled ? "" : madeOf(data, steps), timing(data, sides)].join(" ").trim(),
    speedup: steps === null ? say("speedup_meaning") : `${say("speedup_meaning")} ${say("pays_if", { steps: localize(steps) })}`,
  };
  const left = [{ part: "tokens" as Part, words: say("tokens_per_call", { tokens: localize(tokens) }) }, { part: null, words: " ÷ " }];
  if (steps === null || speedup === null) return { pieces: [...left, { part: "steps", words: say(data.result?.trusted === false ? "steps_busy" : "steps_unknown") }], tips };
  const right = `${modelled ? estimated(sides) : fixed(speedup, 2)}×`;
  return { pieces: [...left, { part: "steps", words: say("steps", { steps: localize(steps) }) }, { part: null, words: " = " }, { part: "speedup", words: right }], tips };
}

function replayed({ per_call: tokens, speedup, interval }: ReplayedLength): Sides {
  return { tokens, steps: speedup && tokens / speedup, speedup, interval, estimated: true };
}

function measured({ rounds, running, result, replay, draft_length: own }: StagePayload): Sides | null {
  const last = rounds.at(-1)?.after;
  if (!last || running || !result) return null;
  const quiet = !result.trusted && replay.why_not === null ? replay.lengths[own] : null;
  if (quiet?.speedup) return { ...replayed(quiet), interval: result.interval ?? quiet.interval }; // what is known of its costs, where its own time says nothing
  const tokens = last.emitted / rounds.length;
  const speedup = result.trusted ? (result.speedup ?? null) : null;
  return { tokens, steps: speedup && tokens / (last.speedup ?? speedup), speedup, estimated: false };
}

/** Both sides with so many decimals that their quotient is the speedup as it is said. */
function agreeing({ tokens, steps, speedup, interval }: Sides): [string, string | null] {
  if (steps === null || speedup === null) return [tokens.toFixed(2), null];
  if (interval) return [tokens.toFixed(2), steps.toFixed(2)]; // no one speedup is said
  const pairs = PLACES.map((places) => [tokens.toFixed(places), steps.toFixed(places)] as [string, string]);
  const right = pairs.find(([above, below]) => (Number(above) / Number(below)).toFixed(2) === speedup.toFixed(2));
  return right ?? [pairs[0][0], (Number(pairs[0][0]) / speedup).toFixed(4)]; // a speedup in the middle of two roundings
}

function countedInRun({ rounds }: StagePayload) {
  const last = rounds[rounds.length - 1].after;
  return countedIn(last.accepted, last.emitted, rounds.length);
}

function countedIn(accepted: number, emitted: number, rounds: number) {
  const tokens = Math.round(emitted);
  return say("tokens_counted", { tokens, rounds, accepted, own: tokens - accepted });
}

/** The parts of a round, in steps that add up. */
function madeOf({ rounds, timed }: StagePayload, steps: string | null) {
  if (!timed || steps === null) return "";
  const sum = (part: number) => rounds.reduce((total, { ms }) => total + ms[part + 1] - ms[part], 0);
  const [draft, check, rest] = [0, 1, 2].map(sum);
  const [guesses, checks] = [draft, check].map((ms) => Number(((Number(steps) * ms) / (draft + check + rest)).toFixed(2)));
  const others = Math.max(Number(steps) - guesses - checks, 0);
  return say("steps_made_of", { guesses: fixed(guesses, 2), checks: fixed(checks, 2), others: fixed(others, 2) });
}

/** Where the steps are from, with their interval: that of the speedup, turned around. */
function timing({ replay, result }: StagePayload, { tokens, steps, estimated }: Sides) {
  if (estimated) return replay.why_not === null ? say("steps_estimated", { times: replay.times }) : "";
  if (steps === null) return say(result?.trusted === false ? "times_doubted" : "times_unknown");
  return result?.interval ? say("steps_interval", ends(tokens, result.interval)) : say("steps_timed");
}

/** The steps that an interval of the speedup comes to, and the interval. */
function ends(tokens: number, [low, high]: [number, number]) {
  return { least: fixed(tokens / high, 2), most: fixed(tokens / low, 2), low: fixed(low, 2), high: fixed(high, 2) };
}

/** What stands beside the equation where the reasons are not shown: how certain it is. */
export function certainty({ rounds, result }: StagePayload) {
  if (!result?.trusted || result.speedup == null) return null;
  const { interval, where = "" } = result;
  if (!interval) return say(where ? "timed_once_where" : "timed_once", { where });
  const tokens = (rounds.at(-1)?.after.emitted ?? 0) / rounds.length;
  return say(where ? "run_interval_where" : "run_interval", { where, ...ends(tokens, interval) });
}
