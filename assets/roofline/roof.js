// The picture of the roof: what a machine can do at most for each byte that it fetches, on logarithmic axes, and where on
// it the two kinds of work of a plain pass and of a check are.

import { label, svg } from "../shared/svg.js";
import { corner } from "./model.js";

/** @import { PublishedMachine, RooflinePayload } from "../shared/payloads.js" */
/** @import { Pass, Work } from "./model.js" */

/** @typedef {{ x: number, y: number }} Point */
/** @typedef {"matrices" | "attention"} Kind */
/** @typedef {RooflinePayload["labels"]} Labels */

const ACROSS = { from: 0.5, to: 10_000 }; // operations a byte
const UP = { from: 1, to: 4_000 }; // 10^12 operations a second
const MARGIN = { left: 42, right: 10, top: 24, bottom: 38 };
const TICKS = [1, 10, 100, 1000, 10_000];
const MARK = 6.5; // half the width of a mark
export const HEIGHT = 300;

/**
 * @param {number} width
 */
export function scales(width) {
  const inside = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  return {
    x: (/** @type {number} */ intensity) => MARGIN.left + inside.width * share(intensity, ACROSS),
    y: (/** @type {number} */ rate) => MARGIN.top + inside.height * (1 - share(rate, UP)),
  };
}

/**
 * @param {number} value
 * @param {{ from: number, to: number }} range
 */
function share(value, { from, to }) {
  return Math.min(1, Math.max(0, Math.log(value / from) / Math.log(to / from)));
}

/**
 * Trillion operations a second that a machine reaches at most.
 * @param {PublishedMachine} machine
 * @param {number} intensity
 */
export function reached({ teraflops, terabytes }, intensity) {
  return Math.min(teraflops, terabytes * intensity);
}

/**
 * @param {PublishedMachine} machine
 * @param {Pass} plain
 * @param {Pass} check
 * @param {number} width
 * @param {Labels} said
 * @returns {SVGElement[]}
 */
export function drawRoof(machine, plain, check, width, said) {
  const { x, y } = scales(width);
  const [left, right, bottom] = [x(ACROSS.from), x(ACROSS.to), HEIGHT - MARGIN.bottom];
  const [edge, top, low] = [x(corner(machine)), y(machine.teraflops), y(reached(machine, ACROSS.from))];
  return [
    svg("path", { d: `M${left} ${low}L${edge} ${top}V${bottom}H${left}Z`, class: "ground waiting" }),
    svg("path", { d: `M${edge} ${top}H${right}V${bottom}H${edge}Z`, class: "ground arithmetic" }),
    ...axes(width, said),
    svg("path", { d: `M${left} ${low}L${edge} ${top}H${right}`, class: "roof-line" }),
    label(said.waits, (left + edge) / 2, bottom - 8, "region"),
    label(said.busy, (edge + right) / 2, bottom - 8, "region"),
    ...way("attention", machine, plain.caches, check.caches, width),
    ...way("matrices", machine, plain.weights, check.weights, width),
  ];
}

/**
 * @param {number} width
 * @param {Labels} said
 */
function axes(width, said) {
  const { x, y } = scales(width);
  const [bottom, right] = [HEIGHT - MARGIN.bottom, width - MARGIN.right];
  const lines = TICKS.filter((tick) => tick <= UP.to).flatMap((tick) => [
    svg("path", { d: `M${MARGIN.left} ${y(tick)}H${right}`, class: "grid-line" }),
    label(tick.toLocaleString("en-US"), MARGIN.left - 6, y(tick) + 4, "end"),
  ]);
  const ticks = TICKS.map((tick) => label(tick.toLocaleString("en-US"), Math.min(x(tick), right - 18), bottom + 15, ""));
  return [...lines, ...ticks, label(said.up, 2, 13, "start"), label(said.across, (MARGIN.left + right) / 2, bottom + 32, "")];
}

/**
 * One kind of work: from the plain pass, along the roof, to the check.
 * @param {Kind} kind
 * @param {PublishedMachine} machine
 * @param {Work} plain
 * @param {Work} check
 * @param {number} width
 */
function way(kind, machine, plain, check, width) {
  const { x, y } = scales(width);
  const at = (/** @type {number} */ intensity) => ({ x: x(intensity), y: y(reached(machine, intensity)) });
  const [from, bend, to] = [at(plain.flops / plain.bytes), at(corner(machine)), at(check.flops / check.bytes)];
  const over = from.x < bend.x && to.x > bend.x ? `L${bend.x} ${bend.y}` : "";
  return [svg("path", { d: `M${from.x} ${from.y}${over}L${to.x} ${to.y}`, class: `way ${kind}` }), mark(kind, from, "plain"), mark(kind, to, "check")];
}

/**
 * Matrices are round, attention is square; a plain pass is open, a check is filled.
 * @param {Kind} kind
 * @param {Point} at
 * @param {"plain" | "check"} which
 */
export function mark(kind, { x, y }, which) {
  const name = `mark ${kind} ${which}`;
  if (kind === "matrices") return svg("circle", { cx: x, cy: y, r: MARK, class: name });
  return svg("rect", { x: x - MARK + 1, y: y - MARK + 1, width: 2 * MARK - 2, height: 2 * MARK - 2, class: name });
}

/**
 * The picture as a sentence, for a screen reader.
 * @param {PublishedMachine} machine
 * @param {Pass} plain
 * @param {Pass} check
 * @param {Labels} said
 */
export function roofInWords(machine, plain, check, said) {
  const edge = corner(machine);
  const where = (/** @type {Work} */ { flops, bytes }) => `${(flops / bytes).toFixed(1)}, ${flops / bytes > edge ? said.busy : said.waits}`;
  const of = (/** @type {string} */ name, /** @type {Work} */ one, /** @type {Work} */ other) => `${name}: ${said.plain} ${where(one)}; ${said.check} ${where(other)}. `;
  const head = `${said.roof}. ${said.across}; ${said.corner}: ${Math.round(edge)}. `;
  return head + of(said.matrices, plain.weights, check.weights) + of(said.attention, plain.caches, check.caches);
}
