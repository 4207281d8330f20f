// What the small charts share: curves and dots, the axes' ticks, and the figures of a run in two numbers.

import { label, svg } from "../shared/svg.js";
import { line, roundNumbers } from "./plane.js";

/** @import { ReplayedLength, StagePayload } from "../shared/payloads.js" */
/** @import { Margin, Plane, Span, Tick } from "./plane.js" */
/** @import { Style } from "./style.js" */

/** @typedef {{ acceptance: number | null, speedup: number | null }} Point */

/**
 * The slider's draft length, the run replayed there, and whether a real run of it was asked for.
 * @typedef {{ length: number, run: ReplayedLength | null, released: boolean }} Asked
 */

/** @typedef {{ rounds: number, speedup: number }} Reach how far the axes go */

const DOT = 0.37; // of the letters' height
/** @type {Tick[]} */
export const PERCENT = [[0, "0"], [50, "50"], [100, "100 %"]];

/**
 * The share of drafted tokens that a replay accepts, and its speedup.
 * @param {ReplayedLength} run
 * @returns {Point}
 */
export function figuresOf({ accepted, rejected, discarded, speedup }) {
  const drafted = accepted + rejected + discarded;
  return { acceptance: drafted ? accepted / drafted : null, speedup };
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

/** @param {number | null | undefined} share */
export function inPercent(share) {
  return share == null ? null : share * 100;
}

/**
 * @param {Reach} reach
 * @returns {Span}
 */
export function speedupSpan({ speedup }) {
  return [0, speedup * 1.12];
}

/**
 * @param {Reach} reach
 * @returns {Tick[]}
 */
export function speedupTicks(reach) {
  return roundNumbers(speedupSpan(reach), 4).map((value) => [value, `${value}×`]);
}

/**
 * @param {Style} style
 * @returns {Margin}
 */
export function margin({ letters }) {
  return { l: letters * 3.3, r: letters * 0.7, t: letters * 0.5, b: letters * 1.8 };
}

/**
 * The line of the run before, its end with its name.
 * @param {Plane} plane
 * @param {Array<number | null>} values
 * @param {string} className
 * @param {string} name
 * @param {Style} style
 */
export function paleLine(plane, values, className, name, { letters }) {
  const last = values.findLastIndex((value) => value !== null);
  if (last < 0) return [];
  const x = plane.x(last + 1);
  const value = values[last] ?? 0;
  const above = value > plane.ySpan[1];
  const arrow = above ? [dotAt(plane, last + 1, value, `${className} pale`, letters)] : [];
  const at = plane.y(value) + letters * (above ? 1.8 : -0.5);
  const atEnd = x > plane.width / 2 ? "end" : "";
  return [...curve(plane, values, `${className} pale`), ...arrow, label(name, x, at, `before-name ${atEnd}`)];
}

/**
 * What a replay at another draft length comes to: a line across.
 * @param {Plane} plane
 * @param {number | null} value
 * @param {number} length
 * @param {string} className
 * @param {Style} style
 * @param {(value: number) => string} words
 */
export function level(plane, value, length, className, { letters }, words) {
  if (value === null) return [];
  const [left, right] = [plane.margin.l, plane.width - plane.margin.r];
  const y = plane.y(value);
  return [
    line(left, y, right, y, `curve ${className} estimated`),
    label(`at ${length}: ${words(value)}, estimated`, right, y - letters * 0.4, "end estimate"),
  ];
}

/**
 * @param {Plane} plane
 * @param {Array<number | null>} values from x = 1 on
 * @param {string} className
 */
export function curve(plane, values, className) {
  const points = values.flatMap((value, i) => (value === null ? [] : [`${plane.x(i + 1)},${plane.y(value)}`]));
  return points.length ? [svg("polyline", { points: points.join(" "), class: `curve ${className}` })] : [];
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
  const tips = known.map(({ round, value }) => tip(plane, round, `round ${round}: ${words(value)}`));
  return [...curve(plane, values, className), dot, ...tips];
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
