// The second line of the result: tokens a round ÷ steps a round = speedup. Tokens are counted. Steps are timed: what a round
// takes, in plain steps of the target. A part lights what it is made of, see stage.css. Draws nothing.

import { counted } from "../shared/numbers.js";
import { estimated } from "./curves.js";

/** @import { ReplayedLength, StagePayload } from "../shared/payloads.js" */

/** @typedef {"tokens" | "steps" | "speedup"} Part */

/** @typedef {{ part: Part | null, words: string }} Piece of the line; null: a sign between two parts */

/** @typedef {{ pieces: Piece[], tips: Record<Part, string> }} Equation */

/** @typedef {{ tokens: number, steps: number | null, speedup: number | null, interval?: ReplayedLength["interval"], estimated: boolean }} Sides the speedup as it is said */

const PLACES = [2, 3, 4]; // decimals: as many as make the quotient right
const SPEEDUP = "Speedup: the time that the target takes alone, divided by the time that both take together, for the same number of tokens, both in this program: in another one plain decoding takes other times. Above 1 it pays; 2 is half the time.";
const STEPS = "How long a round takes. A step is one pass of the target for one token, as it works alone.";

/**
 * The equation of the run on screen, or of its replay at another draft length; nothing where there is no round.
 * @param {StagePayload} data
 * @param {ReplayedLength | null} run
 * @returns {Equation | null}
 */
export function equationOf(data, run) {
  const sides = run ? replayed(run) : measured(data);
  if (!sides) return null;
  const [tokens, steps] = agreeing(sides);
  const { speedup, estimated: modelled } = sides;
  const tips = {
    tokens: run ? countedIn(run.accepted, run.per_call * run.rounds.length, run.rounds.length) : countedInRun(data),
    steps: [STEPS, modelled ? "" : madeOf(data, steps), timing(data, sides)].join(" ").trim(),
    speedup: steps === null ? SPEEDUP : `${SPEEDUP} So it pays if a round gives more than ${steps} tokens: here ${tokens}.`,
  };
  const left = [{ part: /** @type {Part} */ ("tokens"), words: `${tokens} tokens a round` }, { part: null, words: " ÷ " }];
  if (steps === null || speedup === null) return { pieces: [...left, { part: "steps", words: `? steps: ${unknown(data)}` }], tips };
  const right = `${modelled ? estimated(sides) : speedup.toFixed(2)}×`;
  return { pieces: [...left, { part: "steps", words: `${steps} steps` }, { part: null, words: " = " }, { part: "speedup", words: right }], tips };
}

/**
 * @param {ReplayedLength} run
 * @returns {Sides}
 */
function replayed({ per_call: tokens, speedup, interval }) {
  return { tokens, steps: speedup && tokens / speedup, speedup, interval, estimated: true };
}

/**
 * @param {StagePayload} data
 * @returns {Sides | null}
 */
function measured({ rounds, running, result, replay, draft_length: own }) {
  const last = rounds.at(-1)?.after;
  if (!last || running || !result) return null;
  const quiet = !result.trusted && replay.why_not === null ? replay.lengths[own] : null;
  if (quiet?.speedup) return { ...replayed(quiet), interval: result.interval ?? quiet.interval }; // what is known of its costs, where its own time says nothing
  const tokens = last.emitted / rounds.length;
  const speedup = result.trusted ? (result.speedup ?? null) : null;
  return { tokens, steps: speedup && tokens / (last.speedup ?? speedup), speedup, estimated: false };
}

/**
 * Both sides with so many decimals that their quotient is the speedup as it is said.
 * @param {Sides} sides
 * @returns {[string, string | null]}
 */
function agreeing({ tokens, steps, speedup, interval }) {
  if (steps === null || speedup === null) return [tokens.toFixed(2), null];
  if (interval) return [tokens.toFixed(2), steps.toFixed(2)]; // no one speedup is said
  const pairs = PLACES.map((places) => /** @type {[string, string]} */ ([tokens.toFixed(places), steps.toFixed(places)]));
  const right = pairs.find(([above, below]) => (Number(above) / Number(below)).toFixed(2) === speedup.toFixed(2));
  return right ?? [pairs[0][0], (Number(pairs[0][0]) / speedup).toFixed(4)]; // a speedup in the middle of two roundings
}

/** @param {StagePayload} data */
function unknown({ result }) {
  return result?.trusted === false ? "busy machine" : "not known";
}

/** @param {StagePayload} data */
function countedInRun({ rounds }) {
  const last = rounds[rounds.length - 1].after;
  return countedIn(last.accepted, last.emitted, rounds.length);
}

/**
 * @param {number} accepted
 * @param {number} emitted
 * @param {number} rounds
 */
function countedIn(accepted, emitted, rounds) {
  const own = Math.round(emitted) - accepted;
  return `${counted(Math.round(emitted), "token")} in ${counted(rounds, "round")}: ${counted(accepted, "accepted guess", "accepted guesses")}, and ${own} of the target’s own. Counted, so exact.`;
}

/**
 * The parts of a round, in steps that add up.
 * @param {StagePayload} data
 * @param {string | null} steps
 */
function madeOf({ rounds, timed }, steps) {
  if (!timed || steps === null) return "";
  const sum = (/** @type {number} */ part) => rounds.reduce((total, { ms }) => total + ms[part + 1] - ms[part], 0);
  const [draft, check, rest] = [0, 1, 2].map(sum);
  const [guesses, checks] = [draft, check].map((ms) => Number(((Number(steps) * ms) / (draft + check + rest)).toFixed(2)));
  const others = Math.max(Number(steps) - guesses - checks, 0).toFixed(2);
  return `Here ${guesses.toFixed(2)} for the guesses, ${checks.toFixed(2)} for the check and ${others} for the rest.`;
}

/**
 * Where the steps are from, with their interval: that of the speedup, turned around.
 * @param {StagePayload} data
 * @param {Sides} sides
 */
function timing({ replay, result }, { tokens, steps, estimated }) {
  if (estimated) return replay.why_not === null ? `This is ${replay.times}.` : "";
  if (steps === null) return result?.trusted === false ? "This machine was busy, so the times of this run are not trusted." : "This run has no times that say it.";
  return `Timed, one run${inInterval(tokens, result?.interval ?? null)}.`;
}

/**
 * @param {number} tokens
 * @param {[number, number] | null} interval
 */
function inInterval(tokens, interval) {
  return interval ? `; 95 % interval ${(tokens / interval[1]).toFixed(2)} to ${(tokens / interval[0]).toFixed(2)} steps` : "";
}

/**
 * What stands beside the equation where the reasons are not shown: how certain it is.
 * @param {StagePayload} data
 */
export function certainty({ rounds, result }) {
  if (!result?.trusted || result.speedup == null) return null;
  const { interval } = result;
  const run = `One run${result.where ? `, ${result.where}` : ""}`;
  if (!interval) return `${run}, timed once.`;
  const tokens = (rounds.at(-1)?.after.emitted ?? 0) / rounds.length;
  const [low, high] = interval;
  return `${run}${inInterval(tokens, interval)}, ${low.toFixed(2)} to ${high.toFixed(2)}×.`;
}
