// The result of the run at the top of the stage, and how it differs from the run before. While the draft length is dragged:
// what the replay at that length comes to.

import { element, find } from "../shared/dom.js";
import { counted, percent, times } from "../shared/numbers.js";
import { figuresOf, lastOf, trusted } from "./curves.js";

/** @import { ReplayedLength, StagePayload } from "../shared/payloads.js" */
/** @import { Asked, Point } from "./curves.js" */

const ONE_LINE = 74; // characters of the result
const ALIKE = 0.05; // two estimates that differ by less are about the same
/** @type {Record<string, string>} words of the reason, and the tips that explain them */
const EXPLAINED = { "checked guesses": "tip-checked", "calibrated costs": "tip-calibrated" };
const NOTHING_BEFORE = "Choose another draft or draft length: this run then stays as a pale line in each plot.";

export class Result {
  /** @param {HTMLElement} stage */
  constructor(stage) {
    this.stage = stage;
    this.says = find(stage, ".says strong");
    this.what = find(stage, ".says .term");
    this.reason = find(stage, ".reason");
    this.change = find(stage, ".change");
    /** @type {string | null} */
    this.shown = null; // the reason
  }

  /**
   * @param {StagePayload} data
   * @param {Asked} asked
   */
  show(data, { length, run, released }) {
    this.stage.toggleAttribute("data-result", Boolean(data.result));
    if (!data.result) return;
    this.stage.toggleAttribute("data-doubt", !data.result.trusted && !run);
    this.says.textContent = run ? estimate(data, length, run) : data.result.says;
    const long = (this.says.textContent ?? "").length > ONE_LINE;
    this.stage.dataset.says = long ? "long" : "usual"; // what is below the reason must not be pushed down
    this.what.hidden = !this.says.textContent?.includes("times as fast"); // it explains the speedup
    const live = released ? "It is being run now." : "Release the slider to run it.";
    const next = data.tour ? "The tour runs nothing." : live;
    const from = run?.speedup === null ? "Its speed is" : "Not measured:";
    const reason = run && data.replay.why_not === null ? `${from} ${data.replay.times}. ${next}` : data.result.reason + estimates(data);
    if (reason !== this.shown) this.reason.replaceChildren(...explained(reason)); // a term keeps its focus
    this.shown = reason;
    this.reason.title = data.measured;
    this.change.textContent = this.change.title = run ? whileDragging(data, length, run) : fromTheRunBefore(data);
  }
}

/**
 * @param {StagePayload} data
 * @param {number} length
 * @param {ReplayedLength} run
 */
function estimate({ replay }, length, { rounds, speedup }) {
  const tokens = replay.why_not === null ? counted(replay.tokens.length, "token") : "";
  const passes = `${tokens} in ${counted(rounds.length, "pass", "passes")} of the big model`;
  return speedup === null ? `At draft length ${length}: ${passes}` : `About ${speedup.toFixed(2)} times as fast, estimated: ${passes}`;
}

/** @param {StagePayload} data */
function fromTheRunBefore(data) {
  const { before, name, differs } = data;
  const now = lastOf(data);
  if (!before) return now ? NOTHING_BEFORE : "";
  const then = { acceptance: before.acceptance.at(-1) ?? null, speedup: before.speedup.at(-1) ?? null };
  const was = before.pinned ? "pinned" : "was";
  if (now && !(before.trusted && trusted(data))) return `${notRanked(data, before)} ${counts(data, now, then, was)}`;
  return `${was} ${both(then, before.trusted)} (${named(before)}) → now ${now ? both(now) : "…"} (${named({ name, differs })})`;
}

/**
 * Which of the two was timed on a busy machine.
 * @param {StagePayload} data
 * @param {NonNullable<StagePayload["before"]>} before
 */
function notRanked(data, { trusted: quiet, pinned }) {
  const earlier = pinned ? "The pinned run" : "The run before";
  const busy = quiet ? "This run" : trusted(data) ? earlier : "Both runs";
  return `${busy}: busy machine, so time cannot rank them.`;
}

/**
 * What is exact however busy the machine was: both acceptances, and both tokens per target call.
 * @param {StagePayload} data
 * @param {Point} now
 * @param {Point} then
 * @param {string} was
 */
function counts({ before, rounds, name, differs }, now, then, was) {
  const calls = (rounds.at(-1)?.after.emitted ?? 0) / rounds.length;
  const earlier = `${percent(then.acceptance)} accepted, ${before?.per_call?.toFixed(2)} tokens a call`;
  const later = `${percent(now.acceptance)}, ${calls.toFixed(2)}`;
  return `Exact: ${was} ${earlier} (${before && named(before)}) → now ${later} (${named({ name, differs })}).`;
}

/**
 * Where this run's time says nothing: how its estimate compares with that of the run before. Nothing where one has none.
 * @param {StagePayload} data
 */
function estimates({ before, result }) {
  const [then, now] = [before?.estimated, result?.estimated];
  if (!then || !now || result?.trusted) return "";
  const order = Math.abs(now / then - 1) < ALIKE ? "both are about as fast" : `this one is ${now > then ? "faster" : "slower"}`;
  return ` By such estimates ${order}: the ${before?.pinned ? "pinned run" : "run before"} has ${times(then)}.`;
}

/**
 * A text as nodes: the words that have a tip are buttons that show it.
 * @param {string} text
 */
function explained(text) {
  const parts = text.split(new RegExp(`(${Object.keys(EXPLAINED).join("|")})`));
  return parts.map((part, i) => (part in EXPLAINED && parts.indexOf(part) === i ? term(part) : part));
}

/**
 * No button element: WebKit counts its line as one more of the reason, and cuts the reason.
 * @param {string} words
 */
function term(words) {
  const made = element("span", "term", words);
  made.tabIndex = 0;
  made.setAttribute("role", "button");
  made.setAttribute("aria-describedby", EXPLAINED[words]);
  return made;
}

/**
 * @param {StagePayload} data
 * @param {number} length
 * @param {ReplayedLength} run
 */
function whileDragging(data, length, run) {
  const now = lastOf(data);
  const measured = `${now ? both(now, trusted(data)) : "…"} at draft length ${data.draft_length} (lines and timeline)`;
  return `${measured} → ${both(figuresOf(run))} at ${length}, estimated (dashed)`;
}

/**
 * @param {Point} point
 * @param {boolean} [quiet] whether its time is trusted
 */
function both({ acceptance, speedup }, quiet = true) {
  const timed = speedup === null ? "" : `, ${times(speedup)}${quiet ? "" : " not trusted"}`;
  return `${percent(acceptance)} accepted${timed}`;
}

/** @param {{ name: string, differs: string }} run */
function named({ name, differs }) {
  return differs ? `${name}, ${differs}` : name;
}
