// The picture of the roof: what a machine can do at most for each byte that it fetches, on logarithmic axes, and where on
// it the two kinds of work of a plain pass and of a check are.

import { label, svg } from "../shared/svg.js";
import { corner } from "./model.js";
import { LABELS } from "./words.js";

/** @import { PublishedMachine } from "../shared/payloads.js" */
/** @import { Pass, Work } from "./model.js" */
/** @import { Voice } from "./words.js" */

/** @typedef {{ width: number, height: number }} Size */
/** @typedef {{ x: number, y: number }} Point */
/** @typedef {"matrices" | "attention"} Kind */

const ACROSS = { from: 0.5, to: 10_000 }; // operations a byte
const UP = { from: 1, to: 4_000 }; // 10^12 operations a second
const MARGIN = { left: 42, right: 10, top: 24, bottom: 38 };
const TICKS = [1, 10, 100, 1000, 10_000];
const MARK = 6.5; // half the width of a mark
const NAME = 76; // pixels that a name needs

/**
 * @param {Size} size
 */
export function scales({ width, height }) {
  const inside = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
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
 * @param {Size} size
 * @param {Voice} voice
 * @returns {SVGElement[]}
 */
export function drawRoof(machine, plain, check, size, voice) {
  const said = LABELS[voice];
  const { x, y } = scales(size);
  const bottom = size.height - MARGIN.bottom;
  const edge = corner(machine);
  const top = y(machine.teraflops);
  const grounds = [
    svg("path", { d: `M${x(ACROSS.from)} ${y(reached(machine, ACROSS.from))}L${x(edge)} ${top}V${bottom}H${x(ACROSS.from)}Z`, class: "ground waiting" }),
    svg("path", { d: `M${x(edge)} ${top}H${x(ACROSS.to)}V${bottom}H${x(edge)}Z`, class: "ground arithmetic" }),
  ];
  const path = `M${x(ACROSS.from)} ${y(reached(machine, ACROSS.from))}L${x(edge)} ${top}H${x(ACROSS.to)}`;
  return [
    ...grounds,
    ...axes(size, said),
    svg("path", { d: path, class: "roof-line" }),
    label(said.waits, (x(ACROSS.from) + x(edge)) / 2, bottom - 8, "region"),
    ...inLines(said.busy, (x(edge) + x(ACROSS.to)) / 2, bottom - 8, x(ACROSS.to) - x(edge)),
    ...way("attention", said.attention, machine, plain.caches, check.caches, size),
    ...way("matrices", said.matrices, machine, plain.weights, check.weights, size),
  ];
}

/**
 * A label on two lines where it does not fit on one.
 * @param {string} text
 * @param {number} x
 * @param {number} y of the last line
 * @param {number} room
 */
function inLines(text, x, y, room) {
  const at = text.indexOf(" ");
  if (6.5 * text.length < room) return [label(text, x, y, "region")];
  return [label(text.slice(0, at), x, y - 13, "region"), label(text.slice(at + 1), x, y, "region")];
}

/**
 * @param {Size} size
 * @param {typeof LABELS["technical"]} said
 */
function axes(size, said) {
  const { x, y } = scales(size);
  const bottom = size.height - MARGIN.bottom;
  const right = size.width - MARGIN.right;
  const lines = TICKS.filter((tick) => tick <= UP.to).flatMap((tick) => [
    svg("path", { d: `M${MARGIN.left} ${y(tick)}H${right}`, class: "grid-line" }),
    label(String(tick), MARGIN.left - 6, y(tick) + 4, "tick up"),
  ]);
  const ticks = TICKS.map((tick) => label(tick === 10_000 ? "10,000" : String(tick), Math.min(x(tick), right - 18), bottom + 15, "tick"));
  return [
    ...lines,
    ...ticks,
    label(said.up, 2, 13, "unit start"),
    label(said.across, (MARGIN.left + right) / 2, bottom + 32, "unit"),
  ];
}

/**
 * One kind of work: from the plain pass, along the roof, to the check.
 * @param {Kind} kind
 * @param {string} name
 * @param {PublishedMachine} machine
 * @param {Work} plain
 * @param {Work} check
 * @param {Size} size
 */
function way(kind, name, machine, plain, check, size) {
  const [from, to] = [pointOf(plain, machine, size), pointOf(check, machine, size)];
  const { x, y } = scales(size);
  const bend = { x: x(corner(machine)), y: y(machine.teraflops) };
  const over = from.x < bend.x && to.x > bend.x ? `L${bend.x} ${bend.y}` : "";
  const { at, anchor } = placeOf(kind, from, to, bend.x);
  return [
    svg("path", { d: `M${from.x} ${from.y}${over}L${to.x} ${to.y}`, class: `way ${kind}` }),
    mark(kind, from, "plain"),
    mark(kind, to, "check"),
    label(name, at.x, at.y, `name ${kind} ${anchor}`),
  ];
}

/**
 * Where a name stands: that of attention right of its marks; that of the matrices left of them, above them where the roof
 * is flat, and right of them where there is no room.
 * @param {Kind} kind
 * @param {Point} from
 * @param {Point} to
 * @param {number} bend
 */
function placeOf(kind, from, to, bend) {
  const middle = (from.x + to.x) / 2;
  const high = Math.min(from.y, to.y);
  if (kind === "attention") return { at: { x: to.x + 12, y: to.y + 18 }, anchor: "start" };
  if (to.x > bend) return { at: { x: middle, y: high - 12 }, anchor: "" };
  if (middle < MARGIN.left + NAME) return { at: { x: to.x + 10, y: to.y + 18 }, anchor: "start" };
  return { at: { x: middle - 10, y: high + 4 }, anchor: "end" };
}

/**
 * @param {Work} work
 * @param {PublishedMachine} machine
 * @param {Size} size
 * @returns {Point}
 */
function pointOf({ flops, bytes }, machine, size) {
  const { x, y } = scales(size);
  return { x: x(flops / bytes), y: y(reached(machine, flops / bytes)) };
}

/**
 * Matrices are round, attention is square; a plain pass is open, a check is filled.
 * @param {Kind} kind
 * @param {Point} at
 * @param {"plain" | "check"} which
 */
export function mark(kind, { x, y }, which) {
  if (kind === "matrices") return svg("circle", { cx: x, cy: y, r: MARK, class: `mark ${kind} ${which}` });
  return svg("rect", { x: x - MARK + 1, y: y - MARK + 1, width: 2 * MARK - 2, height: 2 * MARK - 2, class: `mark ${kind} ${which}` });
}

/**
 * The picture as sentences, for a screen reader.
 * @param {PublishedMachine} machine
 * @param {Pass} plain
 * @param {Pass} check
 * @param {Voice} voice
 */
export function roofInWords(machine, plain, check, voice) {
  const said = LABELS[voice];
  const edge = corner(machine);
  const of = (/** @type {string} */ name, /** @type {Work} */ one, /** @type {Work} */ other) =>
    `${name}: ${where(one, edge, voice)} in the ${said.plain.toLowerCase()}, ${where(other, edge, voice)} in the ${said.check.toLowerCase()}`;
  return (
    `${said.roof}. The corner is at ${Math.round(edge)} ${said.across}. ` +
    `${of(said.matrices, plain.weights, check.weights)}; ${of(said.attention, plain.caches, check.caches)}.`
  );
}

/**
 * @param {Work} work
 * @param {number} edge
 * @param {Voice} voice
 */
function where({ flops, bytes }, edge, voice) {
  const intensity = flops / bytes;
  const figure = intensity < 10 ? intensity.toFixed(1) : String(Math.round(intensity));
  return `${figure}, ${intensity > edge ? LABELS[voice].busy : LABELS[voice].waits}`;
}
