// Acceptance and speedup at every draft length, replayed from the run on screen. A dot follows the slider.

import { percent, times } from "../shared/numbers.js";
import { label } from "../shared/svg.js";
import { PERCENT, curve, dotAt, figuresOf, inPercent, lastOf, margin, speedupSpan, speedupTicks, tip } from "./curves.js";
import { Plane, line } from "./plane.js";

/** @import { StagePayload } from "../shared/payloads.js" */
/** @import { Asked, Point } from "./curves.js" */
/** @import { Wanted } from "./figures.js" */
/** @import { Span, Tick } from "./plane.js" */

/**
 * Acceptance (left axis) and speedup (right axis) at every draft length, and a dot at the slider's.
 * @param {Wanted} wanted
 */
export function lengthsFigure({ plot, style, data, asked, reach }) {
  const { letters } = style;
  const sides = { ...margin(style), r: letters * 2.6 };
  const lengths = Array.from({ length: data.longest_draft }, (_, i) => i + 1);
  /** @type {Span} */
  const span = [0.5, lengths.length + 0.5];
  const shares = new Plane(plot, sides, span, [0, 105]);
  const speeds = new Plane(plot, sides, span, speedupSpan(reach));
  const root = shares.root();
  const right = shares.width - sides.r;
  const ticks = lengths.filter((length) => length === 1 || length % 4 === 0).map((length) => /** @type {Tick} */ ([length, String(length)]));
  root.append(shares.axes(ticks, PERCENT, letters));
  for (const [value, words] of speedupTicks(reach)) root.append(label(words, right + letters * 0.3, speeds.y(value) + letters * 0.35, "right"));
  root.append(line(shares.x(span[0]), speeds.y(1), right, speeds.y(1), "break-even"));
  const replayed = data.replay.why_not === null ? lengths.map((length) => replayAt(data, length)) : [];
  const { before } = data;
  if (before) {
    root.append(...curve(shares, before.lengths.map(([share]) => inPercent(share)), "accepted pale"));
    root.append(...curve(speeds, before.lengths.map(([, speedup]) => speedup), "corrected pale"));
  }
  root.append(...curve(shares, replayed.map((run) => inPercent(run?.acceptance)), "accepted"));
  root.append(...curve(speeds, replayed.map((run) => run?.speedup ?? null), "corrected estimated"));
  root.append(...dots(shares, speeds, data, asked, letters));
  for (const [i, run] of replayed.entries()) {
    if (run) root.append(tip(shares, i + 1, `draft length ${i + 1}: ${percent(run.acceptance)} accepted, ${times(run.speedup)} estimated`));
  }
  return root;
}

/**
 * The run before as a pale dot, and what the slider asks for: full where it was measured.
 * @param {Plane} shares
 * @param {Plane} speeds
 * @param {StagePayload} data
 * @param {Asked} asked
 * @param {number} letters
 */
function dots(shares, speeds, data, { length, run }, letters) {
  const { before } = data;
  const now = run ? figuresOf(run) : lastOf(data);
  const doubted = Boolean(run) || data.result?.trusted === false;
  /** @type {Array<[Plane, number, number | null | undefined, string]>} */
  const wanted = [
    [shares, before?.draft_length ?? 0, inPercent(before?.acceptance.at(-1)), "accepted pale"],
    [speeds, before?.draft_length ?? 0, before?.speedup.at(-1), "corrected pale"],
    [shares, run ? length : data.draft_length, inPercent(now?.acceptance), run ? "accepted hollow" : "accepted"],
    [speeds, run ? length : data.draft_length, now?.speedup, doubted ? "corrected hollow" : "corrected"],
  ];
  return wanted.flatMap(([plane, x, y, name]) =>
    y == null ? [] : [dotAt(plane, x, y, name, letters)],
  );
}

/**
 * @param {StagePayload} data
 * @param {number} length
 * @returns {Point | null}
 */
function replayAt({ replay }, length) {
  const run = replay.why_not === null ? replay.lengths[length] : null;
  return run ? figuresOf(run) : null;
}
