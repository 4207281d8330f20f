// What the small charts share: curves and dots, the axes' ticks, and the figures of a run in two numbers.

import { fixed, localize } from "../shared/localize.js";
import { svg } from "../shared/svg.js";
import { line, roundNumbers } from "./plane.js";
import { say } from "./words.js";

/** @import { ReplayedLength, StagePayload } from "../shared/payloads.js" */
/** @import { Margin, Plane, Span, Tick } from "./plane.js" */
/** @import { Style } from "./style.js" */

/** @typedef {{ acceptance: number | null, speedup: number | null, interval?: Span | null }} Point interval: 95 % of an estimated speedup */

/**
 * The slider's draft length, the run replayed there, and whether a real run of it was asked for.
 * @typedef {{ length: number, run: ReplayedLength | null, released: boolean }} Asked
 */

/** @typedef {Point & { length: number, kind: "measured" | "estimated" | "so_far" }} Mark */

/** @typedef {{ rounds: number, speedup: number, lengths: number }} Reach how far the axes go; `lengths`: the speedups there */

/** @typedef {[number, number]} Place in pixels, from the left and from the top */

const DOT = 0.37; // of the letters' height
/** @type {Tick[]} */
export const PERCENT = [[0, "0"], [50, "50"], [100, "100 %"]];

/**
 * The share of drafted tokens that a replay accepts, and its speedup.
 * @param {ReplayedLength} run
 * @returns {Point}
 */
export function figuresOf({ accepted, rejected, discarded, speedup, interval }) {
  const drafted = accepted + rejected + discarded;
  return { acceptance: drafted ? accepted / drafted : null, speedup, interval };
}

/**
 * An estimated speedup in numbers: its interval, where that is known.
 * @param {Pick<Point, "speedup" | "interval">} estimate
 */
export function estimated({ speedup, interval }) {
  if (!interval) return say("about", { figure: localize(String(speedup?.toFixed(2))) });
  const [low, high] = interval.map((end) => fixed(end, 2));
  return low === high ? low : say("from_to", { low, high });
}

/**
 * The figures of the whole run on screen; null while it goes on.
 * @param {StagePayload} data
 * @returns {Point | null}
 */
export function lastOf({ rounds, running }) {
  const last = rounds.at(-1)?.after;
  return last && !running ? { acceptance: last.acceptance, speedup: last.speedup } : null;
}

/**
 * What is marked over the draft lengths: the replay where the slider is elsewhere, else the run, also while it goes on.
 * A time that is not trusted says nothing: the speedup is then estimated too, or not known.
 * @param {StagePayload} data
 * @param {Asked} asked
 * @returns {Mark | null}
 */
export function markOf(data, { length, run }) {
  if (run) return { ...figuresOf(run), length, kind: "estimated" };
  const { rounds, running, replay, draft_length: own } = data;
  const last = rounds.at(-1)?.after;
  if (!last) return null;
  const here = { acceptance: last.acceptance, speedup: last.speedup, length: own };
  if (running || trusted(data)) return { ...here, kind: running ? "so_far" : "measured" };
  const quiet = replay.why_not === null ? replay.lengths[own] : null;
  return { ...here, speedup: quiet?.speedup ?? null, interval: data.result?.interval ?? quiet?.interval ?? null, kind: "estimated" };
}

/**
 * Whether the machine was quiet enough for the speedup of the run on screen to say something.
 * @param {StagePayload} data
 */
export function trusted({ result }) {
  return result?.trusted !== false;
}

/** @param {number | null | undefined} share */
export function inPercent(share) {
  return share == null ? null : share * 100;
}

/**
 * @param {Pick<Reach, "speedup">} reach
 * @returns {Span}
 */
export function speedupSpan({ speedup }) {
  return [0, speedup * 1.12];
}

/**
 * @param {Pick<Reach, "speedup">} reach
 * @returns {Tick[]}
 */
export function speedupTicks(reach) {
  return roundNumbers(speedupSpan(reach), 4).map((value) => [value, `${localize(String(value))}×`]);
}

/**
 * @param {Style} style
 * @returns {Margin}
 */
export function margin({ letters }) {
  return { l: letters * 3.7, r: letters * 0.7, t: letters * 0.5, b: letters * 1.8 };
}

/**
 * The line of the run before, where it ends above the axis with an arrow at its end.
 * @param {Plane} plane
 * @param {StagePayload["before"]} before
 * @param {"acceptance" | "speedup"} figure
 * @param {Style} style
 */
export function lineOfBefore(plane, before, figure, style) {
  if (!before) return [];
  const values = valuesOfBefore(before, figure);
  const name = figure === "speedup" ? "corrected" : "accepted";
  const look = `${name} pale${figure === "speedup" && !before.trusted ? " doubted" : ""}`;
  const last = values.findLastIndex((value) => value !== null);
  if (last < 0) return [];
  const value = values[last] ?? 0;
  const arrow = value > plane.ySpan[1] ? [dotAt(plane, last + 1, value, look, style.letters)] : [];
  return [...curve(plane, values, look), ...arrow];
}

/**
 * @param {StagePayload["before"]} before
 * @param {"acceptance" | "speedup"} figure
 */
export function valuesOfBefore(before, figure) {
  return (figure === "speedup" ? before?.speedup : before?.acceptance.map(inPercent)) ?? [];
}

/**
 * What a replay at another draft length comes to: a line across.
 * @param {Plane} plane
 * @param {number | null} value
 * @param {string} className
 */
export function level(plane, value, className) {
  if (value === null) return [];
  const y = plane.y(value);
  return [line(plane.margin.l, y, plane.width - plane.margin.r, y, `curve ${className} estimated`)];
}

/**
 * @param {Plane} plane
 * @param {Array<number | null>} values from x = 1 on
 * @returns {Place[]}
 */
export function placesOf(plane, values) {
  return values.flatMap((value, i) => (value === null ? [] : [/** @type {Place} */ ([plane.x(i + 1), plane.y(value)])]));
}

/**
 * @param {Plane} plane
 * @param {Array<number | null>} values from x = 1 on
 * @param {string} className
 */
export function curve(plane, values, className) {
  const places = placesOf(plane, values);
  return places.length ? [svg("polyline", { points: places.join(" "), class: `curve ${className}` })] : [];
}

/**
 * A line up to now with a dot at its end; each round's value as a tip.
 * @param {Plane} plane
 * @param {Array<number | null>} values
 * @param {string} className
 * @param {Style} style
 * @param {(value: number) => string} words
 */
export function lineSoFar(plane, values, className, style, words) {
  const known = values.flatMap((value, i) => (value === null ? [] : [{ round: i + 1, value }]));
  if (!known.length) return [];
  const last = known[known.length - 1];
  const dot = dotAt(plane, last.round, last.value, className, style.letters);
  const tips = known.map(({ round, value }) => tip(plane, round, say("round_figure", { round, figure: words(value) })));
  return [...curve(plane, values, className), dot, ...tips];
}

/**
 * What is decoded and not yet played: a thin line on from the round that is played, with a ring at its end.
 * @param {Plane} plane
 * @param {Array<number | null>} values
 * @param {number} done rounds that are played
 * @param {string} className
 * @param {Style} style
 */
export function lineAhead(plane, values, done, className, { letters }) {
  const ahead = values.map((value, i) => (i < done - 1 ? null : value));
  const last = ahead.findLastIndex((value) => value !== null);
  if (last < done) return [];
  const end = dotAt(plane, last + 1, ahead[last] ?? 0, `${className} hollow ahead`, letters * 0.7);
  return [...curve(plane, ahead, `${className} ahead`), end];
}

/**
 * A dot; where the value is above the axis, an arrow at its end.
 * @param {Plane} plane
 * @param {number} x
 * @param {number} value
 * @param {string} className
 * @param {number} letters
 */
export function dotAt(plane, x, value, className, letters) {
  const [cx, cy, r] = [plane.x(x), plane.y(value), letters * DOT];
  if (value <= plane.ySpan[1]) return svg("circle", { cx, cy, r, class: `dot ${className}` });
  return svg("polygon", { points: `${cx - r},${cy + 2 * r} ${cx + r},${cy + 2 * r} ${cx},${cy}`, class: `dot beyond ${className}` });
}

/**
 * A column over one round that nobody sees, with its words.
 * @param {Plane} plane
 * @param {number} round
 * @param {string} words
 */
export function tip(plane, round, words) {
  const [from, to] = [plane.x(round - 0.5), plane.x(round + 0.5)];
  const { t, b } = plane.margin;
  return titled(svg("rect", { x: from, y: t, width: to - from, height: plane.height - t - b, class: "column" }), words);
}

/**
 * @param {SVGElement} made
 * @param {string} words
 */
export function titled(made, words) {
  const title = svg("title", {});
  title.textContent = words;
  made.append(title);
  return made;
}
