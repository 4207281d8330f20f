// The result of the run at the top of the stage, and how it differs from the run before. While the draft length is dragged:
// what the replay at that length comes to.

import { element, find } from "../shared/dom.js";
import { counted, percent, times } from "../shared/numbers.js";
import { estimated, figuresOf, lastOf, trusted } from "./curves.js";
import { certainty, equationOf } from "./equation.js";

/** @import { ReplayedLength, StagePayload } from "../shared/payloads.js" */
/** @import { Asked, Point } from "./curves.js" */
/** @import { Equation } from "./equation.js" */

const ONE_LINE = 74; // characters of the result
const LONG_CHANGE = 170; // characters that fit one line in usual letters
/** @type {Record<string, string>} words of the reason, and the tips that explain them */
const EXPLAINED = { "judged guesses": "tip-judged", "calibrated costs": "tip-calibrated" };
const NOTHING_BEFORE = "Choose another draft or draft length: this run then stays as a pale line in each plot.";

export class Result {
  /** @param {HTMLElement} stage */
  constructor(stage) {
    this.stage = stage;
    this.says = find(stage, ".says strong");
    this.when = find(stage, ".says .when");
    this.reason = find(stage, ".reason");
    this.change = find(stage, ".change");
    /** @type {string | null} */
    this.shown = null; // the equation and the reason
  }

  /**
   * @param {StagePayload} data
   * @param {Asked} asked
   * @param {boolean} over whether all of the run was played
   */
  show(data, { length, run, released }, over) {
    this.stage.toggleAttribute("data-result", Boolean(data.result));
    if (!data.result) return;
    this.stage.toggleAttribute("data-doubt", !data.result.trusted && !run);
    this.says.textContent = run ? estimate(data, length, run) : data.result.says;
    const long = (this.says.textContent ?? "").length > ONE_LINE;
    this.stage.dataset.says = long ? "long" : "usual"; // what is below the reason must not be pushed down
    this.when.textContent = over || run || data.running ? "" : "at the end";
    const live = released ? "It is being run now." : "Release the slider to run it.";
    const next = data.tour ? "The tour runs nothing." : live;
    const from = run?.speedup === null ? "Its speed is" : "Not measured:";
    const own = (data.view === "simple" ? certainty(data) : null) ?? data.result.reason;
    const reason = run && data.replay.why_not === null ? `${from} ${data.replay.times}. ${next}` : own;
    this.#explain(equationOf(data, run), reason);
    this.reason.title = `${reason} (${data.measured})`; // the line may be cut
    this.change.textContent = this.change.title = run ? whileDragging(data, length, run) : fromTheRunBefore(data);
    this.change.classList.toggle("long", this.change.title.length > LONG_CHANGE);
  }

  /**
   * The equation and the words after it. What has not changed stays, so that a term keeps its focus.
   * @param {Equation | null} equation
   * @param {string} reason
   */
  #explain(equation, reason) {
    const wanted = JSON.stringify([equation, reason]);
    if (wanted === this.shown) return;
    this.shown = wanted;
    const line = element("span", "equation");
    for (const { part, words } of equation?.pieces ?? []) line.append(part ? term(words, `tip-${part}`) : words);
    this.reason.replaceChildren(...(equation ? [line, " "] : []), ...explained(reason));
    for (const [part, words] of Object.entries(equation?.tips ?? {})) find(this.stage, `#tip-${part}`).textContent = words;
  }
}

/**
 * @param {StagePayload} data
 * @param {number} length
 * @param {ReplayedLength} run
 */
function estimate({ replay }, length, run) {
  const { rounds, speedup } = run;
  const speed = estimated(run);
  const tokens = replay.why_not === null ? counted(replay.tokens.length, "token") : "";
  const passes = `${tokens} in ${counted(rounds.length, "pass", "passes")}`; // short: the reason then has two lines
  return speedup === null ? `At draft length ${length}: ${passes}` : `${speed[0].toUpperCase()}${speed.slice(1)} times as fast, estimated: ${passes}`;
}

/** @param {StagePayload} data */
function fromTheRunBefore(data) {
  const { before, name, differs } = data;
  const now = lastOf(data);
  if (!before) return now ? NOTHING_BEFORE : "";
  const then = { acceptance: before.acceptance.at(-1) ?? null, speedup: before.speedup.at(-1) ?? null };
  const was = before.pinned ? "pinned" : "was";
  if (now && !(before.trusted && trusted(data))) return before.ranked || `${notRanked(data, before)} ${counts(data, now, then, was)}`;
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
  const earlier = `${percent(then.acceptance)} accepted, ${before?.per_call?.toFixed(2)} tokens a round`;
  const later = `${percent(now.acceptance)}, ${calls.toFixed(2)}`;
  return `Exact: ${was} ${earlier} (${before && named(before)}) → now ${later} (${named({ name, differs })}).`;
}

/**
 * A text as nodes: the words that have a tip are buttons that show it.
 * @param {string} text
 */
function explained(text) {
  const parts = text.split(new RegExp(`(${Object.keys(EXPLAINED).join("|")})`));
  return parts.map((part, i) => (part in EXPLAINED && parts.indexOf(part) === i ? term(part, EXPLAINED[part]) : part));
}

/**
 * No button element: WebKit counts its line as one more of the reason, and cuts the reason.
 * @param {string} words
 * @param {string} tip the id of its explanation
 */
function term(words, tip) {
  const made = element("span", "term", words);
  made.tabIndex = 0;
  made.setAttribute("role", "button");
  made.setAttribute("aria-describedby", tip);
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
  return `${measured} → ${percent(figuresOf(run).acceptance)} accepted${run.speedup === null ? "" : `, ${estimated(run)}×`} at ${length}, estimated (dashed)`;
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
