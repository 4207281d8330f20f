// The result of the run at the top of the stage, and how it differs from the run before. While the draft length is dragged:
// what the replay at that length comes to.

import { element, find } from "../shared/dom.js";
import { fixed, localize } from "../shared/localize.js";
import { percent, times } from "../shared/numbers.js";
import { estimated, figuresOf, lastOf, trusted, type Asked, type Point } from "./curves.js";
import { certainty, equationOf, type Equation } from "./equation.js";
import { say } from "./words.js";
import type { ReplayedLength, StagePayload } from "../dist/payloads.js";

const LONG_CHANGE = 170; // characters that fit one line in usual letters
/** words of the reason, and the tips that explain them */
const EXPLAINED: Record<string, string> = { [say("judged_guesses")]: "tip-judged", [say("calibrated_costs")]: "tip-calibrated" };

export class Result {
  says = find(this.stage, ".says strong");
  when = find(this.stage, ".says .when");
  same = find(this.stage, ".same");
  reason = find(this.stage, ".reason");
  change = find(this.stage, ".change");
  shown: string | null = null; // the equation and the reason

  constructor(public stage: HTMLElement) {}

  /** `over`: whether all of the run was played */
  show(data: StagePayload, { length, run, released }: Asked, over: boolean) {
    this.stage.toggleAttribute("data-result", Boolean(data.result));
    if (!data.result) return;
    this.stage.toggleAttribute("data-doubt", !data.result.trusted && !run);
    this.says.textContent = run ? estimate(data, length, run) : data.result.says;
    this.same.textContent = this.same.title = data.result.same;
    this.when.textContent = over || run || data.running ? "" : say("at_the_end");
    const own = (data.view === "simple" ? certainty(data) : null) ?? data.result.reason;
    const reason = run && data.replay.why_not === null ? whyEstimated(data.replay.times, run, released, Boolean(data.tour)) : own;
    this.#explain(equationOf(data, run), reason);
    this.reason.title = `${reason} (${data.measured})`; // the line may be cut
    this.change.textContent = this.change.title = run ? whileDragging(data, length, run) : fromTheRunBefore(data);
    this.change.classList.toggle("long", this.change.title.length > LONG_CHANGE);
  }

  /** The equation and the words after it. What has not changed stays, so that a term keeps its focus. */
  #explain(equation: Equation | null, reason: string) {
    const wanted = JSON.stringify([equation, reason]);
    if (wanted === this.shown) return;
    this.shown = wanted;
    const line = element("span", "equation");
    for (const { part, words } of equation?.pieces ?? []) line.append(part ? term(words, `tip-${part}`) : words);
    this.reason.replaceChildren(...(equation ? [line, " "] : []), ...explained(reason));
    for (const [part, words] of Object.entries(equation?.tips ?? {})) find(this.stage, `#tip-${part}`).textContent = words;
  }
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

/** A text as nodes: the words that have a tip are buttons that show it. */
function explained(text: string) {
  const parts = text.split(new RegExp(`(${Object.keys(EXPLAINED).join("|")})`));
  return parts.map((part, i) => (part in EXPLAINED && parts.indexOf(part) === i ? term(part, EXPLAINED[part]) : part));
}

/** No button element: WebKit counts its line as one more of the reason, and cuts the reason. `tip`: the id of its explanation */
function term(words: string, tip: string) {
  const made = element("span", "term", words);
  made.tabIndex = 0;
  made.setAttribute("role", "button");
  made.setAttribute("aria-describedby", tip);
  return made;
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
