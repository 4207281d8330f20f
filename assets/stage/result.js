// The result of the run at the top of the stage, and how it differs from the run before. While the draft length is dragged:
// what the replay at that length comes to.

import { find } from "../shared/dom.js";
import { counted, percent, times } from "../shared/numbers.js";
import { figuresOf, lastOf } from "./curves.js";

/** @import { ReplayedLength, StagePayload } from "../shared/payloads.js" */
/** @import { Asked, Point } from "./curves.js" */

const NOTHING_BEFORE = "Choose another draft or draft length: this run then stays as a pale line in each plot.";

export class Result {
  /** @param {HTMLElement} stage */
  constructor(stage) {
    this.stage = stage;
    this.says = find(stage, ".says strong");
    this.reason = find(stage, ".reason");
    this.change = find(stage, ".change");
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
    this.reason.textContent = run && data.replay.why_not === null ? `Not measured: ${data.replay.times}. ${released ? "It is being run now." : "Release the slider to run it."}` : data.result.reason;
    this.reason.title = data.measured;
    this.change.textContent = run ? whileDragging(data, length, run) : fromTheRunBefore(data);
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
  const was = `${before.pinned ? "pinned" : "was"} ${both(then, before.trusted)} (${named(before)})`;
  return `${was} → now ${now ? both(now, trusted(data)) : "…"} (${named({ name, differs })})`;
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
 * Whether the machine was quiet enough for the speedup of the run on screen to say something.
 * @param {StagePayload} data
 */
function trusted({ result }) {
  return result?.trusted !== false;
}

/**
 * @param {Point} point
 * @param {boolean} [trusted]
 */
function both({ acceptance, speedup }, trusted = true) {
  return `${percent(acceptance)} accepted, ${times(speedup)}${trusted ? "" : " not trusted"}`;
}

/** @param {{ name: string, differs: string }} run */
function named({ name, differs }) {
  return differs ? `${name}, ${differs}` : name;
}
