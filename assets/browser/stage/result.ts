// The result of the run at the top of the stage, and how it differs from the run before. While the draft length is dragged:
// what the replay at that length comes to.

import { fixed, localize } from "../shared/localize.js";
import { percent, times } from "../shared/numbers.js";
import { estimated, figuresOf, lastOf, trusted, type Asked, type Point } from "./curves.js";
import { certainty, equationOf, type Equation } from "./equation.js";
import { say } from "./words.js";
import type { ReplayedLength, StagePayload } from "../dist/payloads.js";

/** words of the reason, and the tips that explain them */
const EXPLAINED: Record<string, string> = { [say("judged_guesses")]: "tip-judged", [say("calibrated_costs")]: "tip-calibrated" };

export type Outcome = { says: string, when: string, same: string, reason: string, equation: Equation | null, change: string, doubted: boolean, source: string };

/** Null where the stage shows no result. `over`: whether all of the run was played */
export function outcomeOf(data: StagePayload, { length, run, released }: Asked, over: boolean): Outcome | null {
  const { result, view, replay, running, tour, measured } = data;
  if (!result) return null;
  const own = (view === "simple" ? certainty(data) : null) ?? result.reason;
  return {
    says: run ? estimate(data, length, run) : result.says,
    when: over || run || running ? "" : say("at_the_end"),
    same: result.same,
    reason: run && replay.why_not === null ? whyEstimated(replay.times, run, released, Boolean(tour)) : own,
    equation: equationOf(data, run),
    change: run ? whileDragging(data, length, run) : fromTheRunBefore(data),
    doubted: !result.trusted && !run,
    source: measured,
  };
}

/** Where the estimate is from, and when the length is run. `times`: where the times of a replay are from */
function whyEstimated(times: string, { speedup }: ReplayedLength, released: boolean, touring: boolean) {
  const next = touring ? "tour_runs_nothing" : released ? "runs_now" : "release_to_run";
  return `${say(speedup === null ? "speed_is" : "not_measured", { times })} ${say(next)}`;
}

/** Short: the reason then has two lines. */
function estimate({ replay }: StagePayload, length: number, run: ReplayedLength) {
  const counts = { tokens: replay.why_not === null ? replay.tokens.length : 0, passes: run.rounds.length };
  if (run.speedup === null) return say("at_length_counts", { ...counts, length });
  const speed = estimated(run);
  return say("estimated_counts", { ...counts, speed: speed[0].toUpperCase() + speed.slice(1) });
}

function fromTheRunBefore(data: StagePayload) {
  const { before, name, differs } = data;
  const now = lastOf(data);
  if (!before) return now ? say("nothing_before") : "";
  const then = { acceptance: before.acceptance.at(-1) ?? null, speedup: before.speedup.at(-1) ?? null };
  if (now && !(before.trusted && trusted(data))) return `${say("busy")} ${counts(data, before, now, then)}`;
  return say("change", { then: both(then, before.trusted), before: named(before), now: now ? both(now) : "…", run: named({ name, differs }) });
}

/** What is exact however busy the machine was: both acceptances, and both tokens per target call. */
function counts({ rounds, name, differs }: StagePayload, before: NonNullable<StagePayload["before"]>, now: Point, then: Point) {
  return say("exact", {
    then: percent(then.acceptance),
    then_tokens: localize(String(before.per_call?.toFixed(2))),
    before: named(before),
    now: percent(now.acceptance),
    tokens: fixed((rounds.at(-1)?.after.emitted ?? 0) / rounds.length, 2),
    run: named({ name, differs }),
  });
}

/** A text in parts: the first place of a word that has a tip, and what stands around it. */
export function explained(text: string): Array<{ words: string, tip?: string }> {
  const parts = text.split(new RegExp(`(${Object.keys(EXPLAINED).join("|")})`));
  return parts.map((words, i) => ({ words, tip: parts.indexOf(words) === i ? EXPLAINED[words] : undefined }));
}

function whileDragging(data: StagePayload, length: number, run: ReplayedLength) {
  const now = lastOf(data);
  const share = percent(figuresOf(run).acceptance);
  const then = run.speedup === null ? say("share_accepted", { share }) : say("share_and_speed", { share, speed: `${estimated(run)}×` });
  return say("dragged", { now: now ? both(now, trusted(data)) : "…", own: data.draft_length, then, length });
}

/** `quiet`: whether its time is trusted */
function both({ acceptance, speedup }: Point, quiet: boolean = true) {
  const figures = { share: percent(acceptance), speed: times(speedup) };
  return say(speedup === null || !quiet ? "share_accepted" : "share_and_speed", figures);
}

function named({ name, differs }: { name: string, differs: string }) {
  return differs ? `${name}, ${differs}` : name;
}
