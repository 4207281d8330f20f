// What follows from one round of a trace, under the names that specviz/core/rounds.py gives it; and the figures of a run after each
// of its rounds.
import type { Added, Autoregressive, DraftedToken, Round, Status, Trace } from "../dist/payloads.js";
import type { FiguresAfter, RoundPayload } from "./drawn.js";

const NOT_REPORTED = "⟨?⟩"; // is shown for a token that the system which wrote the run does not report

/** A drafted token's text, or a sign where that is not reported. */
export function shown({ text }: DraftedToken) {
  return text ?? NOT_REPORTED;
}

export function acceptedTokens({ drafted }: Round) {
  return drafted.filter(({ status }) => status === "accepted");
}

export function count({ drafted }: Round, ...statuses: Status[]) {
  return drafted.filter(({ status }) => statuses.includes(status)).length;
}

export function isTree({ drafted }: Round) {
  return drafted.length > 0 && drafted[0].parent != null;
}

/** For each drafted token the places of its ancestors, from the text on, and its own. */
export function pathsOf({ drafted }: Round) {
  const paths: number[][] = [];
  drafted.forEach((token, place) => paths.push([...(paths[token.parent ?? place - 1] ?? []), place]));
  return paths;
}

/** The place of each drafted token in the text after the round's start, from 0; siblings share one. */
export function depthsOf(round: Round) {
  return isTree(round) ? pathsOf(round).map((path) => path.length - 1) : round.drafted.map((_, place) => place);
}

/** Draft steps: the length of a chain, or a tree's longest path. */
export function depthOf(round: Round) {
  return isTree(round) ? Math.max(...depthsOf(round)) + 1 : round.drafted.length;
}

/** What the token that the target added is: the trace calls it a bonus also where nothing was drafted. */
export function addedIn({ drafted, emitted }: Round): Added {
  return emitted.kind === "bonus" && !drafted.length ? "own" : emitted.kind;
}

/** How many tokens the round adds to the text. */
export function emits(round: Round) {
  return count(round, "accepted") + Number(round.emitted.kind !== "none");
}

/** The whole round; null where a part of it is not reported. */
export function secondsOf({ draft_seconds: draft, verify_seconds: verify, overhead_seconds: overhead }: Round) {
  return draft === null || verify === null || overhead === null ? null : draft + verify + overhead;
}

// ---- after each round: the figures of the run, and its times

export function running(trace: Trace): Pick<RoundPayload, "after" | "ms" | "alone">[] {
  const { rounds, autoregressive: plain } = trace;
  const total = rounds.reduce((sum, round) => sum + emits(round), 0);
  const steps = plain ? Math.min(total, plain.seconds_per_token.length) : 0;
  // while the run goes on, only what the target alone has written; of a whole run, a plain run that stopped earlier goes on
  const clock = plain && autoregressiveClock(plain, trace.output.stopped_by ? total : steps);
  const wrote = clock && clock.slice(0, steps + 1);
  const longest = rounds.reduce((most, round) => Math.max(most, depthOf(round)), trace.settings.draft_length);
  let positions: FiguresAfter["positions"] = Array.from({ length: longest }, () => [0, 0]);
  let [emitted, accepted, drafted] = [0, 0, 0];
  let end: number | null = 0;
  return rounds.map((round, index) => {
    const depths = depthsOf(round); // of a tree, a place is a depth, judged once for all siblings
    const at = (...statuses: Status[]) => new Set(depths.filter((_, node) => statuses.includes(round.drafted[node].status)));
    const [stay, tried] = [at("accepted"), at("accepted", "rejected")];
    positions = positions.map(([before, judged], depth) => [before + Number(stay.has(depth)), judged + Number(tried.has(depth))]);
    emitted += emits(round);
    accepted += count(round, "accepted");
    drafted += round.drafted.length;
    const judged = positions.reduce((sum, [, each]) => sum + each, 0);
    const seconds = secondsOf(round);
    end = end === null || seconds === null ? null : end + seconds;
    const begin = (end ?? 0) - (seconds ?? 0);
    const checked = begin + (round.draft_seconds ?? 0);
    const moments = end === null ? [0, 0, 0, 0] : [Math.max(begin, 0), checked, checked + (round.verify_seconds ?? 0), end]; // of its phases, in seconds; zeros where the run has no times
    const rates = { acceptance: ratio(accepted, drafted), judgement: ratio(accepted, judged), speedup: ratio(clock?.[emitted], end) };
    return {
      after: { emitted, accepted, drafted, judged, positions, per_call: emitted / (index + 1), ...rates },
      ms: moments.map((moment) => 1000 * moment) as RoundPayload["ms"],
      alone: wrote && (moments.slice(1).map((moment) => writtenBy(wrote, moment)) as RoundPayload["alone"]),
    };
  });
}

/** What was counted in all rounds. */
export function countsOf(trace: Trace) {
  return { rounds: trace.rounds.length, drafted: 0, accepted: 0, judged: 0, emitted: 0, acceptance: null, per_call: null, ...running(trace).at(-1)?.after };
}

/** How many tokens the target alone had written by then. A search through all would be quadratic in a run's length. */
function writtenBy(clock: number[], moment: number) {
  let [low, high] = [0, clock.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (clock[middle] <= moment) low = middle + 1;
    else high = middle;
  }
  return low - 1;
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

function ratio(above: number | undefined, below: number | null) {
  return above === undefined || !below ? null : above / below;
}
