// The figures of a run after each of its rounds, and its times.

import { count, depthOf, depthsOf, emits, secondsOf } from "./rounds.js";

/** @import { Autoregressive, Round, Trace } from "../shared/payloads.js" */
/** @import { FiguresAfter, RoundPayload } from "./drawn.js" */

/**
 * @typedef {object} Running
 * @property {FiguresAfter} after
 * @property {RoundPayload["ms"]} ms
 * @property {RoundPayload["alone"]} alone
 */

/**
 * @param {Trace} trace
 * @returns {Running[]}
 */
export function running(trace) {
  const { rounds, autoregressive: plain } = trace;
  const total = rounds.reduce((sum, round) => sum + emits(round), 0);
  const steps = plain ? Math.min(total, plain.seconds_per_token.length) : 0;
  // while the run goes on, only what the target alone has written; of a whole run, a plain run that stopped earlier goes on
  const clock = plain && autoregressiveClock(plain, trace.output.stopped_by ? total : steps);
  const wrote = clock && clock.slice(0, steps + 1);
  const places = new Places(longestDraft(trace));
  const counts = { emitted: 0, accepted: 0, drafted: 0 };
  /** @type {number | null} */
  let end = 0;
  return rounds.map((round) => {
    places.add(round);
    counts.emitted += emits(round);
    counts.accepted += count(round, "accepted");
    counts.drafted += round.drafted.length;
    const seconds = secondsOf(round);
    end = end === null || seconds === null ? null : end + seconds;
    const moments = momentsOf(round, end);
    return {
      after: { ...counts, ...ratesOf(counts, places.counted), speedup: ratio(clock?.[counts.emitted], end) },
      ms: /** @type {RoundPayload["ms"]} */ (moments.map((moment) => 1000 * moment)),
      alone: wrote && /** @type {RoundPayload["alone"]} */ (moments.slice(1).map((moment) => writtenBy(wrote, moment))),
    };
  });
}

/**
 * The seconds after which the target alone has written 0, 1, ... `tokens` tokens. If the plain run stopped earlier (a
 * sampled run is another draw), its median step is used for the rest.
 * @param {Autoregressive} plain
 * @param {number} tokens
 */
export function autoregressiveClock({ seconds_per_token: seconds }, tokens) {
  const missing = seconds.length ? Math.max(0, tokens - seconds.length) : 0;
  const clock = [0];
  for (const step of [...seconds.slice(0, tokens), ...Array(missing).fill(median(seconds))]) clock.push(clock[clock.length - 1] + step);
  return clock;
}

/** @param {number[]} values */
function median(values) {
  const ordered = values.toSorted((a, b) => a - b);
  const middle = ordered.length >> 1;
  return ordered.length % 2 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
}

/** @param {Trace} trace */
function longestDraft({ settings, rounds }) {
  return rounds.reduce((longest, round) => Math.max(longest, depthOf(round)), settings.draft_length);
}

/** Accepted and judged tokens at each place of the draft. Of a tree, a place is a depth, judged once for all siblings. */
class Places {
  /** @param {number} longest */
  constructor(longest) {
    /** @type {FiguresAfter["positions"]} */
    this.counted = Array.from({ length: longest }, () => [0, 0]);
  }

  /** @param {Round} round */
  add(round) {
    const depths = depthsOf(round);
    const at = (/** @type {string[]} */ statuses) => new Set(depths.filter((_, node) => statuses.includes(round.drafted[node].status)));
    const [judged, accepted] = [at(["accepted", "rejected"]), at(["accepted"])];
    this.counted = this.counted.map(([before, tried], depth) => [before + Number(accepted.has(depth)), tried + Number(judged.has(depth))]);
  }
}

/**
 * @param {{ accepted: number, drafted: number }} counts
 * @param {FiguresAfter["positions"]} positions
 */
function ratesOf({ accepted, drafted }, positions) {
  const judged = positions.reduce((sum, [, tried]) => sum + tried, 0);
  return { judged, acceptance: ratio(accepted, drafted), judgement: ratio(accepted, judged), positions };
}

/**
 * @param {number | undefined} above
 * @param {number | null} below
 */
function ratio(above, below) {
  return above === undefined || !below ? null : above / below;
}

/**
 * When the phases of the round begin and when it ends, in seconds; zeros where the run has no times.
 * @param {Round} round
 * @param {number | null} end
 */
function momentsOf(round, end) {
  const seconds = secondsOf(round);
  if (end === null || seconds === null) return [0, 0, 0, 0];
  const drafted = end - seconds + (round.draft_seconds ?? 0);
  return [Math.max(end - seconds, 0), drafted, drafted + (round.verify_seconds ?? 0), end];
}

/**
 * How many tokens the target alone had written by then.
 * @param {number[]} clock
 * @param {number} moment
 */
function writtenBy(clock, moment) {
  let [low, high] = [0, clock.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (clock[middle] <= moment) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
