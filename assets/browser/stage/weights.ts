// The picture of a pass: the weights are read once, however many tokens it reads; and beside it the measured times of
// passes, with the parts that they were spent on.

import { milliseconds, times } from "../shared/numbers.js";
import { box, label, svg } from "../shared/svg.js";
import { voiceOf, type Voice } from "./words.js";
import type { DiagramPayload, PassPayload, PassesPayload } from "../dist/payloads.js";
import type { Drawing } from "./diagram.js";

export type Bar = [string, number, string]; // what was timed, its time in plain passes, and its kind

const PARTS: Array<[string, "products" | "attention" | "own_work" | "the_rest"]> = [["passes", "products"], ["left", "attention"], ["lost", "own_work"], ["later", "the_rest"]]; // how each part is drawn, and its name
const CELL = 17;
export const FETCHED = 206; // pixels from the weights to the tokens that they are used for
export const BAR = { height: 15, row: 36 };
const SCHEMA = 128; // height of the two drawn passes
const LEGEND = 17; // height of a line

export function weightsHeight({ width, column }: Drawing["size"]) {
  return width > 2.5 * column && width > 500 ? SCHEMA + 4 * LEGEND - 6 : SCHEMA + 4 * BAR.row + 4 * LEGEND + 34;
}

export function drawWeights(passes: PassesPayload, { top, size, words }: Drawing): SVGElement[] {
  const said = voiceOf(words);
  const wide = size.width > 500;
  const [x, y] = wide ? [400, top] : [4, top + SCHEMA + 4 * LEGEND + 12];
  return [
    ...drawPass(1, 4, top, said),
    ...drawPass(passes.tokens, 4, top + 56, said),
    ...drawLegend(said, 4, top + SCHEMA - 16),
    ...drawParts(passes, said, x, y, size.width - x - 8),
  ];
}

/** A pass: the weights, one fetch, and the tokens that they are used for. */
function drawPass(tokens: number, x: number, y: number, said: Voice) {
  const middle = y + 20;
  const cells = Array.from({ length: tokens }, (_, i) => box(x + FETCHED + i * (CELL + 4), middle - CELL / 2, CELL, CELL, "odds passes"));
  return [...drawFetch(said("weights"), said("read_once"), x, middle), ...cells, label(countOf(tokens, said), x + FETCHED, y + 48, "small start")];
}

/** The weights, and the one arrow out of them. */
export function drawFetch(weights: string, once: string, x: number, middle: number) {
  return [
    box(x, middle - 16, 104, 32, "book"),
    label(weights, x + 52, middle + 5, "centre"),
    svg("path", { d: `M${x + 108} ${middle}H${x + 196}m-7 -5l7 5l-7 5`, class: "fetch" }),
    label(once, x + 152, middle - 8, "small centre"),
  ];
}

/** Measured times as bars on one scale. */
export function drawBars(rows: Bar[], scale: string, x: number, y: number, width: number) {
  const full = width - 52;
  const longest = Math.max(...rows.map(([, ratio]) => ratio));
  const bars = rows.flatMap(([name, ratio, kind], i) => [
    label(name, x, y + 10 + i * BAR.row, "small start"),
    box(x, y + 14 + i * BAR.row, (full * ratio) / longest, BAR.height, `odds ${kind}`),
    label(times(ratio), x + (full * ratio) / longest + 5, y + 26 + i * BAR.row, "figure"),
  ]);
  return [...bars, label(scale, x, y + 12 + rows.length * BAR.row, "small start")];
}

/** The parts of a pass, by their colour. */
function drawLegend(said: Voice, x: number, y: number) {
  return PARTS.flatMap(([kind, name], i) => [box(x, y + i * LEGEND, 12, 10, `odds ${kind}`), label(said(name), x + 18, y + 9 + i * LEGEND, "small start")]);
}

/** Each pass as a bar of its parts, on one scale of milliseconds. */
function drawParts({ passes }: PassesPayload, said: Voice, x: number, y: number, width: number) {
  const full = width - 110;
  const longest = Math.max(...passes.map(whole));
  const bars = passes.flatMap((pass, i) => {
    let end = x;
    const parts = pass.ms.map((ms, part) => {
      const drawn = box(end, y + 14 + i * BAR.row, (full * ms) / longest, BAR.height, `odds ${PARTS[part][0]}`);
      end += (full * ms) / longest;
      return drawn;
    });
    return [label(nameOf(pass, said), x, y + 10 + i * BAR.row, "small start"), ...parts, label(timeOf(pass), end + 5, y + 26 + i * BAR.row, "figure")];
  });
  return [...bars, label(said("weights_scale"), x, y + 12 + passes.length * BAR.row, "small start")];
}

const whole = ({ ms }: PassPayload) => ms.reduce((sum, part) => sum + part, 0);

const countOf = (tokens: number, said: Voice) => said(tokens === 1 ? "one_token" : "tokens_at_once", { tokens });

function nameOf({ dtype, tokens }: PassPayload, said: Voice) {
  const format = dtype === "float32" || dtype === "bfloat16" ? said(dtype) : dtype;
  return `${countOf(tokens, said)}, ${format}`;
}

export const shareOf = (share: number, said: Voice) => said("of_hundred", { number: Math.round(100 * share) });

const timeOf = (pass: PassPayload) => `${milliseconds(whole(pass))}${pass.tokens === 1 ? "" : `, ${times(pass.ratio)}`}`;

/** The picture as sentences, for a screen reader. */
export function weightsInWords({ tokens, passes }: PassesPayload, words: DiagramPayload["words"]) {
  const said = voiceOf(words);
  const rows = passes.map((pass) => {
    const parts = pass.ms.map((ms, i) => `${said(PARTS[i][1])} ${shareOf(ms / whole(pass), said)}`);
    return `${nameOf(pass, said)}: ${timeOf(pass)}: ${parts.join(", ")}`;
  });
  const read = [1, tokens].map((count) => `${countOf(count, said)}: ${said("weights")}, ${said("read_once")}`);
  return `${[...read, said("weights_scale"), rows.join("; ")].join(". ")}.`;
}
