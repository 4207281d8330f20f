// The figures of a run after each of its rounds, and its times.

import { count, depthOf, depthsOf, emits, secondsOf } from "./rounds.js";
import type { Autoregressive, Round, Trace } from "../dist/payloads.js";
import type { FiguresAfter, RoundPayload } from "./drawn.js";

export interface Running {
  after: FiguresAfter;
  ms: RoundPayload["ms"];
  alone: RoundPayload["alone"];
}

export function running(trace: Trace): Running[] {
  const { rounds, autoregressive: plain } = trace;
  const total = rounds.reduce((sum, round) => sum + emits(round), 0);
  const steps = plain ? Math.min(total, plain.seconds_per_token.length) : 0;
  // while the run goes on, only what the target alone has written; of a whole run, a plain run that stopped earlier goes on
  const clock = plain && autoregressiveClock(plain, trace.output.stopped_by ? total : steps);
  const wrote = clock && clock.slice(0, steps + 1);
  const places = new Places(longestDraft(trace));
  const counts = { emitted: 0, accepted: 0, drafted: 0 };
  let end: number | null = 0;
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
      ms: moments.map((moment) => 1000 * moment) as RoundPayload["ms"],
      alone: wrote && (moments.slice(1).map((moment) => writtenBy(wrote, moment)) as RoundPayload["alone"]),
    };
  });
}

/**
 * The seconds after which the target alone has written 0, 1, ... `tokens` tokens. If the plain run stopped earlier (a
 * sampled run is another draw), its median step is used for the rest.
 */
export function autoregressiveClock({ seconds_per_token: seconds }: Autoregressive, tokens: number) {
  const missing = seconds.length ? Math.max(0, tokens - seconds.length) : 0;
  const clock = [0];
  for (const step of [...seconds.slice(0, tokens), ...Array(missing).fill(median(seconds))]) clock.push(clock[clock.length - 1] + step);
  return clock;
}

export function median(values: number[]) {
  const ordered = values.toSorted((a, b) => a - b);
  const middle = ordered.length >> 1;
  return ordered.length % 2 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
}

function longestDraft({ settings, rounds }: Trace) {
  return rounds.reduce((longest, round) => Math.max(longest, depthOf(round)), settings.draft_length);
}

/** Accepted and judged tokens at each place of the draft. Of a tree, a place is a depth, judged once for all siblings. */
class Places {
  counted: FiguresAfter["positions"];

  constructor(longest: number) {
    this.counted = Array.from({ length: longest }, () => [0, 0]);
  }

  add(round: Round) {
    const depths = depthsOf(round);
    const at = (statuses: string[]) => new Set(depths.filter((_, node) => statuses.includes(round.drafted[node].status)));
    const [judged, accepted] = [at(["accepted", "rejected"]), at(["accepted"])];
    this.counted = this.counted.map(([before, tried], depth) => [before + Number(accepted.has(depth)), tried + Number(judged.has(depth))]);
  }
}

function ratesOf({ accepted, drafted }: { accepted: number, drafted: number }, positions: FiguresAfter["positions"]) {
  const judged = positions.reduce((sum, [, tried]) => sum + tried, 0);
  return { judged, acceptance: ratio(accepted, drafted), judgement: ratio(accepted, judged), positions };
}

function ratio(above: number | undefined, below: number | null) {
  return above === undefined || !below ? null : above / below;
}

/** When the phases of the round begin and when it ends, in seconds; zeros where the run has no times. */
function momentsOf(round: Round, end: number | null) {
  const seconds = secondsOf(round);
  if (end === null || seconds === null) return [0, 0, 0, 0];
  const drafted = end - seconds + (round.draft_seconds ?? 0);
  return [Math.max(end - seconds, 0), drafted, drafted + (round.verify_seconds ?? 0), end];
}

/** How many tokens the target alone had written by then. */
function writtenBy(clock: number[], moment: number) {
  let [low, high] = [0, clock.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (clock[middle] <= moment) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
