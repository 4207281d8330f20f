/** What a run's times say: its costs, its speedup with an interval, and whether the machine was too busy to tell. */

import { fixed } from "../shared/localize.js";
import { verificationSteps } from "../shared/theory.js";
import { depthOf, emits, secondsOf } from "../trace/rounds.js";
import { median, running } from "../trace/running.js";
import type { Trace } from "../dist/payloads.js";

const FEWEST = 5; // blocks from which an interval is computed
const WIDE = 1.5; // high / low of an interval: wider ones come from a busy machine
const ONE_RUN = 1.05; // a run that is timed again differs by this much more than its own rounds' times say
const NEUTRAL = 1.05; // nobody would notice a speedup from 1 / 1.05 to 1.05
const HALVINGS = 60; // of the interval that holds Student's t

export type Costs = { step: number, draft: number, check: Map<number, number>, overhead: number }; // in plain steps, but `step` in seconds
export type Timed = { speedup: number, interval: [number, number] | null, trusted: boolean }; // interval: 95 %, null where the decoders took no turns

/**
 * The costs that one trace measured, as `costs` of specviz/core/metrics.py; null without a drafted token or times. A
 * browser's clock may count whole milliseconds. Then a median jumps, and only the mean of all times is right.
 */
export function costsOf(trace: Trace): Costs | null {
  const { rounds, autoregressive } = trace;
  const typical = clockIsCoarse(trace) ? mean : median;
  const drafting = rounds.filter(({ drafted }) => drafted.length);
  const step = typical(autoregressive?.seconds_per_token ?? []);
  if (!drafting.length || !step || rounds.some((round) => secondsOf(round) === null)) return null;
  const sizes = [...new Set(rounds.map(({ drafted }) => drafted.length + 1))].sort((one, other) => one - other);
  const seconds = (tokens: number) => rounds.filter(({ drafted }) => drafted.length + 1 === tokens).map((round) => round.verify_seconds ?? 0);
  const repeated = sizes.filter((tokens) => seconds(tokens).length > 1); // the last round is short, and timed once
  return {
    step,
    draft: typical(drafting.map((round) => (round.draft_seconds ?? 0) / depthOf(round))) / step,
    check: new Map((repeated.length ? repeated : sizes).map((tokens) => [tokens, typical(seconds(tokens)) / step])),
    overhead: typical(rounds.map((round) => round.overhead_seconds ?? 0)) / step,
  };
}

/** The time of a round with so many guesses, in plain steps. */
export function roundSteps({ draft, check, overhead }: Costs, drafted: number) {
  return drafted * draft + verificationSteps(check, drafted + 1) + overhead;
}

/**
 * The measured speedup with its 95 % interval, as `speedup_interval` of specviz/core/intervals.py, widened by as much as one
 * run differs from the next; null where there is no verdict. There is no interval of a few rounds, or where one decoder ran
 * after the other, as in older records.
 */
export function timedOf(trace: Trace): Timed | null {
  const { speedup, drafted, emitted } = running(trace).at(-1)?.after ?? {};
  if (!speedup || !drafted || !emitted) return null;
  const possible = speedup <= (ONE_RUN * emitted) / trace.rounds.length; // a round takes at least as long as a plain step
  const blocks = blocksOf(trace);
  const [plain, rounds, tokens] = [sum(blocks, "plain"), sum(blocks, "round"), sum(blocks, "tokens")];
  if (blocks.length < FEWEST || !trace.autoregressive?.alternating || !plain || !rounds) return { speedup, interval: null, trusted: possible };
  const { slope, middle, parameters } = line(blocks);
  const mean = rounds / blocks.length;
  const moves = blocks.map((block) => {
    const own = (block.plain - (block.tokens * plain) / tokens) / plain;
    return own - (block.round - mean - slope * (block.drafted - middle)) / rounds;
  });
  const freedom = blocks.length - parameters;
  const spread = Math.sqrt((blocks.length / freedom) * moves.reduce((total, move) => total + move ** 2, 0));
  const half = studentT(freedom) * spread;
  const timing = [speedup * Math.exp(-half), speedup * Math.exp(half)];
  return { speedup, interval: [timing[0] / ONE_RUN, timing[1] * ONE_RUN], trusted: possible && timing[1] / timing[0] <= WIDE };
}

/** Student's t for 97.5 %, as `student_t` of specviz/core/intervals.py. */
export function studentT(freedom: number) {
  let [low, high] = [0, 100];
  for (let i = 0; i < HALVINGS; i += 1) {
    const middle = (low + high) / 2;
    if (shareBelow(middle, freedom) >= 0.975) high = middle;
    else low = middle;
  }
  return high;
}

/** The probability below t, from 0 on: Abramowitz and Stegun, 26.7.3 and 26.7.4. */
function shareBelow(t: number, freedom: number) {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const odd = freedom % 2;
  let [term, total] = [odd ? Math.cos(angle) : 1, 0];
  for (let power = odd; power < freedom - 1; power += 2) {
    total += term;
    term *= (Math.cos(angle) ** 2 * (power + 1)) / (power + 2);
  }
  return (1 + (odd ? (2 / Math.PI) * (angle + Math.sin(angle) * total) : Math.sin(angle) * total)) / 2;
}

/** The word for a speedup, as `judge` of specviz/core/judge.py: by its interval, without one by its size. */
export function judged(speedup: number, interval: Timed["interval"]): "helps" | "about even" | "too close to call" | "hurts" {
  if (!interval) return speedup > NEUTRAL ? "helps" : speedup < 1 / NEUTRAL ? "hurts" : "about even";
  const [low, high] = interval;
  return low > 1 ? "helps" : high < 1 ? "hurts" : "too close to call"; // one run's interval is too wide for "about even"
}

/** Each round with the plain steps beside it, while both decoders wrote. */
function blocksOf({ rounds, autoregressive }: Trace) {
  const plain = autoregressive?.seconds_per_token ?? [];
  let end = 0;
  const blocks = rounds.map((round) => {
    const tokens = emits(round);
    end += tokens;
    const beside = plain.slice(end - tokens, end).reduce((total, step) => total + step, 0);
    return { end, drafted: round.drafted.length, tokens, round: secondsOf(round) ?? 0, plain: beside };
  });
  return blocks.filter((block) => block.end <= plain.length);
}

/** The straight line of the rounds' times over their drafted tokens, by least squares. */
function line(blocks: Array<{ drafted: number, round: number }>) {
  const [middle, mean] = [sum(blocks, "drafted") / blocks.length, sum(blocks, "round") / blocks.length];
  const spread = blocks.reduce((total, { drafted }) => total + (drafted - middle) ** 2, 0);
  if (!spread) return { slope: 0, middle, parameters: 1 };
  const slope = blocks.reduce((total, { drafted, round }) => total + (drafted - middle) * (round - mean), 0) / spread;
  return { slope, middle, parameters: 2 };
}

function sum<Name extends string>(rows: Array<Record<Name, number>>, name: Name) {
  return rows.reduce((total, row) => total + row[name], 0);
}

function mean(values: number[]) {
  return values.length ? values.reduce((total, value) => total + value, 0) / values.length : 0;
}

const COARSE = 0.5; // milliseconds between two times that the clock tells apart; a step of this page takes 1 or 2

/** Whether the browser's clock is coarse, as Firefox and Safari have it so that no page can measure others. */
export function clockIsCoarse({ autoregressive }: Trace) {
  const steps = [...new Set((autoregressive?.seconds_per_token ?? []).map((seconds) => Math.round(1e5 * seconds) / 100))].sort((a, b) => a - b);
  if (steps.length < 2) return steps.length === 1 && Number.isInteger(steps[0]);
  return steps.every((step, i) => !i || step - steps[i - 1] >= COARSE);
}

/** A function that writes such costs with the digits that the clock gives. */
export function writing(trace: Trace) {
  const digits = clockIsCoarse(trace) ? 1 : 2;
  return (steps: number) => fixed(steps, digits);
}
