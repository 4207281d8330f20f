// The picture of what a pass fetches: the weights once, however many tokens it reads; and the measured times beside it.

import { times } from "../shared/numbers.js";
import { box, label, svg } from "../shared/svg.js";

/** @import { DiagramPayload, PassesPayload } from "../shared/payloads.js" */
/** @import { Drawing } from "./diagram.js" */

/** @typedef {Record<"weights" | "once" | "one" | "many" | "apart" | "scale", string> & { in: (format: string) => string }} Words */

/** @typedef {[string, number, string]} Bar what was timed, its time in plain passes, and its kind */

/** @type {Record<string, string>} */
const PLAIN = { float32: "slow arithmetic", bfloat16: "fast arithmetic" };
/** @type {Record<DiagramPayload["words"], Words>} */
const WORDS = {
  technical: {
    weights: "all weights",
    once: "fetched once",
    one: "one token",
    many: "tokens at once",
    apart: "tokens, one by one",
    scale: "measured time of a pass; one token = 1×",
    in: (format) => `, ${format}`,
  },
  plain: {
    weights: "the heavy book",
    once: "fetched once",
    one: "one word",
    many: "words in one look",
    apart: "words, one by one",
    scale: "measured time of a look; one word = 1×",
    in: (format) => `, ${PLAIN[format] ?? format}`,
  },
};
const CELL = 17;
export const FETCHED = 206; // pixels from the weights to the tokens that they are used for
export const BAR = { height: 15, row: 36 };
const SCHEMA = 128; // height of the two drawn passes

/** @param {Drawing["size"]} size */
export function weightsHeight({ width, column }) {
  return width > 2.5 * column && width > 500 ? 4 * BAR.row + 26 : SCHEMA + 4 * BAR.row + 30;
}

/**
 * @param {PassesPayload} passes
 * @param {Drawing} drawing
 * @returns {SVGElement[]}
 */
export function drawWeights(passes, { top, size, words }) {
  const said = WORDS[words];
  const wide = size.width > 500;
  const left = wide ? 400 : 4;
  const down = wide ? top : top + SCHEMA + 8;
  return [
    ...drawPass(1, said.one, 4, top, said),
    ...drawPass(passes.tokens, `${passes.tokens} ${said.many}`, 4, top + SCHEMA / 2, said),
    ...drawBars(timesRows(passes.tokens, passes.measured, said), said.scale, left, down, size.width - left - 8),
  ];
}

/**
 * A pass: the weights, one fetch, and the tokens that they are used for.
 * @param {number} tokens
 * @param {string} name
 * @param {number} x
 * @param {number} y
 * @param {Words} said
 */
function drawPass(tokens, name, x, y, said) {
  const middle = y + 20;
  const cells = Array.from({ length: tokens }, (_, i) => box(x + FETCHED + i * (CELL + 4), middle - CELL / 2, CELL, CELL, "odds passes"));
  return [...drawFetch(said.weights, said.once, x, middle), ...cells, label(name, x + FETCHED, y + 48, "small start")];
}

/**
 * The weights, and the one arrow out of them.
 * @param {string} weights
 * @param {string} once
 * @param {number} x
 * @param {number} middle
 */
export function drawFetch(weights, once, x, middle) {
  return [
    box(x, middle - 16, 104, 32, "book"),
    label(weights, x + 52, middle + 5, "centre"),
    svg("path", { d: `M${x + 108} ${middle}H${x + 196}m-7 -5l7 5l-7 5`, class: "fetch" }),
    label(once, x + 152, middle - 8, "small centre"),
  ];
}

/**
 * Measured times as bars on one scale.
 * @param {Bar[]} rows
 * @param {string} scale
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
export function drawBars(rows, scale, x, y, width) {
  const full = width - 52;
  const longest = Math.max(...rows.map(([, ratio]) => ratio));
  const bars = rows.flatMap(([name, ratio, kind], i) => [
    label(name, x, y + 10 + i * BAR.row, "small start"),
    box(x, y + 14 + i * BAR.row, (full * ratio) / longest, BAR.height, `odds ${kind}`),
    label(times(ratio), x + (full * ratio) / longest + 5, y + 26 + i * BAR.row, "figure"),
  ]);
  return [...bars, label(scale, x, y + 12 + rows.length * BAR.row, "small start")];
}

/**
 * @param {number} tokens
 * @param {PassesPayload["measured"]} measured
 * @param {Words} said
 * @returns {Bar[]}
 */
function timesRows(tokens, measured, said) {
  const many = measured.map(([format, ratio]) => /** @type {Bar} */ ([`${tokens} ${said.many}${said.in(format)}`, ratio, "passes"]));
  return [[said.one, 1, "passes"], ...many, [`${tokens} ${said.apart}`, tokens, "lost"]];
}

/**
 * The picture as sentences, for a screen reader.
 * @param {PassesPayload} passes
 * @param {DiagramPayload["words"]} words
 */
export function weightsInWords({ tokens, measured }, words) {
  const said = WORDS[words];
  const rows = timesRows(tokens, measured, said).map(([name, ratio]) => `${name}: ${times(ratio)}`);
  return `${said.one}: ${said.weights} ${said.once}, used once. ${tokens} ${said.many}: ${said.weights} ${said.once}, used ${tokens} times. ${said.scale}: ${rows.join("; ")}.`;
}
