// The result of the run at the top of the stage, and how it differs from the run before. While the draft length is dragged: what
// the replay at that length comes to. Its second line is an equation: tokens per target call ÷ steps a round = speedup. Tokens are
// counted. Steps are timed: what a round takes, in plain steps of the target. Draws nothing.

import { fixed, localize, percent, times } from "../shared/numbers.js";
import { endsOf, estimated } from "../trace/outcome.js";
import { say } from "./words.js";
import type { Point, ReplayedLength, StagePayload } from "../dist/payloads.js";

export type Asked = { length: number, run: ReplayedLength | null, released: boolean }; // The slider's draft length, the run replayed there, and whether a real run of it was asked for.
export type Mark = Point & { length: number, kind: "measured" | "estimated" | "so_far" };
export type Outcome = { says: string, when: string, same: string, reason: string, equation: Equation | null, change: string, doubted: boolean, source: string };
export type Part = "tokens" | "steps" | "speedup"; // each lights what it is made of, see stage.css
type Equation = { pieces: { part: Part | null, words: string }[], tips: Record<Part, string> }; // null: a sign between two parts
type Sides = { tokens: number, steps: number | null, speedup: number | null, interval?: ReplayedLength["interval"], estimated: boolean }; // the speedup as it is said

const PLACES = [2, 3, 4]; // decimals: as many as make the quotient right
/** words of the reason, and the tips that explain them */
const EXPLAINED: Record<string, string> = { [say("judged_guesses")]: "tip-judged", [say("calibrated_costs")]: "tip-calibrated" };

/** The figures of the whole run on screen; nothing while it goes on. */
export function lastOf({ rounds, running }: StagePayload) {
  return running ? undefined : rounds.at(-1)?.after;
}

/**
 * What is marked over the draft lengths: the replay where the slider is elsewhere, else the run, also while it goes on. A
 * time that is not trusted says nothing: the speedup is then estimated too, or not known.
 */
export function markOf(data: StagePayload, { length, run }: Asked): Mark | null {
  if (run) return { ...run, length, kind: "estimated" };
  const { rounds, running, draft_length: own } = data;
  const last = rounds.at(-1)?.after;
  if (!last) return null;
  const here = { acceptance: last.acceptance, speedup: last.speedup, length: own };
  if (running || trusted(data)) return { ...here, kind: running ? "so_far" : "measured" };
  const quiet = quietly(data);
  return { ...here, speedup: quiet?.speedup ?? null, interval: data.result?.interval ?? quiet?.interval ?? null, kind: "estimated" };
}

/** Whether the machine was quiet enough for the speedup of the run on screen to say something. */
export function trusted({ result }: StagePayload) {
  return result?.trusted !== false;
}

/** What is known of the costs of the run on screen, where its own time says nothing. */
function quietly({ replay, draft_length: own }: StagePayload) {
  return replay.why_not === null ? replay.lengths[own] : null;
}

// ---- the equation

/** The equation of the run on screen, or of its replay at another draft length; nothing where there is no round. */
export function equationOf(data: StagePayload, run: ReplayedLength | null): Equation | null {
  const [counts, sides] = run ? [run, replayed(run)] : [lastOf(data), measured(data)];
  if (!counts || !sides) return null;
  const { rounds, replay, result, timed } = data;
  const [tokens, steps] = agreeing(sides);
  const { speedup, estimated: modelled } = sides;
  const passes = (run ?? data).rounds.length;
  const written = Math.round(counts.per_call * passes);
  const sum = (part: number) => rounds.reduce((total, { ms }) => total + ms[part + 1] - ms[part], 0);
  const madeOf = () => { // the parts of a round, in steps that add up
    const [draft, check, rest] = [0, 1, 2].map(sum);
    const [guesses, checks] = [draft, check].map((ms) => Number(((Number(steps) * ms) / (draft + check + rest)).toFixed(2)));
    return say("steps_made_of", { guesses: fixed(guesses, 2), checks: fixed(checks, 2), others: fixed(Math.max(Number(steps) - guesses - checks, 0), 2) });
  };
  const timing = () => { // where the steps are from, with their interval
    if (modelled) return replay.why_not === null ? say("steps_estimated", { times: replay.times }) : "";
    if (steps === null) return say(trusted(data) ? "times_unknown" : "times_doubted");
    return result?.interval ? say("steps_interval", ends(sides.tokens, result.interval)) : say("steps_timed");
  };
  const tips = {
    tokens: say("tokens_counted", { tokens: written, rounds: passes, accepted: counts.accepted, own: written - counts.accepted }),
    steps: [say("step_meaning"), modelled || !timed || steps === null ? "" : madeOf(), timing()].filter(Boolean).join(" "),
    speedup: steps === null ? say("speedup_meaning") : `${say("speedup_meaning")} ${say("pays_if", { steps: localize(steps) })}`,
  };
  const left = [{ part: "tokens" as Part, words: say("tokens_per_call", { tokens: localize(tokens) }) }, { part: null, words: " ÷ " }];
  if (steps === null || speedup === null) return { pieces: [...left, { part: "steps", words: say(trusted(data) ? "steps_unknown" : "steps_busy") }], tips };
  const right = `${modelled ? estimated(sides) : fixed(speedup, 2)}×`;
  return { pieces: [...left, { part: "steps", words: say("steps", { steps: localize(steps) }) }, { part: null, words: " = " }, { part: "speedup", words: right }], tips };
}

function replayed({ per_call: tokens, speedup, interval }: ReplayedLength): Sides {
  return { tokens, steps: speedup && tokens / speedup, speedup, interval, estimated: true };
}

function measured(data: StagePayload): Sides | null {
  const [last, { result }] = [lastOf(data), data];
  if (!last || !result) return null;
  const quiet = result.trusted ? null : quietly(data);
  if (quiet?.speedup) return { ...replayed(quiet), interval: result.interval ?? quiet.interval };
  const [tokens, { speedup }] = [last.per_call, result];
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

/** The steps that an interval of the speedup comes to, turned around, and the interval. */
function ends(tokens: number, interval: [number, number]) {
  const [low, high] = interval;
  return { least: fixed(tokens / high, 2), most: fixed(tokens / low, 2), ...endsOf(interval) };
}

/** What stands beside the equation where the reasons are not shown: how certain it is. */
export function certainty({ rounds, result }: StagePayload) {
  if (!result?.speedup) return null;
  const { interval, where } = result;
  return interval ? say("run_interval", { where, ...ends(rounds.at(-1)?.after.per_call ?? 0, interval) }) : say("timed_once", { where });
}

// ---- the result

/** Null where the stage shows no result. `over`: whether all of the run was played */
export function outcomeOf(data: StagePayload, { length, run, released }: Asked, over: boolean): Outcome | null {
  const { result, view, replay, running, tour } = data;
  if (!result) return null;
  const said = { when: over || run || running ? "" : say("at_the_end"), same: result.same, equation: equationOf(data, run), source: data.measured };
  if (!run) {
    const reason = (view === "simple" ? certainty(data) : null) ?? result.reason;
    return { ...said, says: result.says, reason, change: fromTheRunBefore(data), doubted: !result.trusted };
  }
  const [now, speed, { acceptance, speedup }] = [lastOf(data), estimated(run), run];
  const then = say(speedup === null ? "share_accepted" : "share_and_speed", { share: percent(acceptance), speed: `${speed}×` });
  const change = say("dragged", { now: now ? both(now, trusted(data)) : "…", own: data.draft_length, then, length });
  const { tokens, times } = replay.why_not === null ? replay : { tokens: [], times: "" };
  const counts = { tokens: tokens.length, passes: run.rounds.length, length, speed: speed[0].toUpperCase() + speed.slice(1) };
  const reason = `${say(speedup === null ? "speed_is" : "not_measured", { times })} ${say(tour ? "tour_runs_nothing" : released ? "runs_now" : "release_to_run")}`;
  return { ...said, says: say(speedup === null ? "at_length_counts" : "estimated_counts", counts), reason, change, doubted: false }; // short: the reason has two lines
}

function fromTheRunBefore(data: StagePayload) {
  const [now, { before }] = [lastOf(data), data];
  if (!before) return now ? say("nothing_before") : "";
  const then = { acceptance: before.acceptance.at(-1) ?? null, speedup: before.speedup.at(-1) ?? null };
  if (!now || (before.trusted && trusted(data))) return say("change", { then: both(then, before.trusted), now: now ? both(now) : "…", ...before.names });
  const exact = { // however busy the machine was: both acceptances, and both tokens per target call
    then: percent(then.acceptance), then_tokens: fixed(before.per_call ?? 0, 2), now: percent(now.acceptance), tokens: fixed(now.per_call, 2),
  };
  return `${say("busy")} ${say("exact", { ...exact, ...before.names })}`;
}

/** `quiet`: whether its time is trusted */
function both({ acceptance, speedup }: Point, quiet: boolean = true) {
  return say(speedup === null || !quiet ? "share_accepted" : "share_and_speed", { share: percent(acceptance), speed: times(speedup) });
}

/** A text in parts: the first place of a word that has a tip, and what stands around it. */
export function explained(text: string): Array<{ words: string, tip?: string }> {
  const parts = text.split(new RegExp(`(${Object.keys(EXPLAINED).join("|")})`));
  return parts.map((words, i) => ({ words, tip: parts.indexOf(words) === i ? EXPLAINED[words] : undefined }));
}
