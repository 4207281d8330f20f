// The picture of a pass over many texts: the weights once, for the tokens of every text; the places that are empty
// because their text has ended; and the measured times of such passes beside it.

import { percent, times } from "../shared/numbers.js";
import { box, label } from "../shared/svg.js";
import { BAR, FETCHED, drawBars, drawFetch } from "./weights.js";

/** @import { BatchPayload, DiagramPayload } from "../shared/payloads.js" */
/** @import { Drawing, Size } from "./diagram.js" */
/** @import { Bar } from "./weights.js" */

/**
 * @typedef {Record<"weights" | "once" | "single" | "write" | "ended" | "empty" | "scale", string> & { one: (tokens: number) => string, many: (tokens: number, texts: number) => string }} Words
 */

/** @type {Record<DiagramPayload["words"], Words>} */
const WORDS = {
  technical: {
    weights: "all weights",
    once: "fetched once",
    single: "one token of each text",
    one: (tokens) => `one text, ${tokens} tokens at once`,
    many: (tokens, texts) => `${texts} texts, ${tokens} tokens of each`,
    write: "still write",
    ended: "have ended",
    empty: "of the places are empty, on average",
    scale: "measured time of a pass; one token of each text = 1×",
  },
  plain: {
    weights: "the heavy book",
    once: "fetched once",
    single: "one word of each text",
    one: (words) => `one text, ${words} words in one look`,
    many: (words, texts) => `${texts} texts, ${words} words of each`,
    write: "still go on",
    ended: "are done",
    empty: "places are empty, on average",
    scale: "measured time of a look; one word of each text = 1×",
  },
};
const CELL = { width: 22, height: 8, gap: 3 };

/** @param {number} texts */
const rowsHeight = (texts) => texts * (CELL.height + CELL.gap);

/**
 * @param {BatchPayload} batch
 * @param {Size} size
 */
export function textsHeight({ texts }, { width }) {
  const places = rowsHeight(texts) + 40;
  return width > 500 ? places : places + 3 * BAR.row + 34;
}

/**
 * @param {BatchPayload} batch
 * @param {Drawing} drawing
 * @returns {SVGElement[]}
 */
export function drawTexts(batch, { top, size, words }) {
  const said = WORDS[words];
  const wide = size.width > 500;
  const height = rowsHeight(batch.texts);
  const below = top + height + 12;
  const [x, y] = wide ? [500, top + 24] : [4, below + 34];
  return [
    ...drawFetch(said.weights, said.once, 4, top + height / 2),
    ...drawPlaces(batch, 4 + FETCHED, top, wide, said),
    label(said.many(batch.tokens, batch.texts), wide ? 4 + FETCHED : 4, below, "small start"),
    label(empty(batch, words), wide ? 4 + FETCHED : 4, below + 15, "small start"),
    ...drawBars(barsOf(batch, said), said.scale, x, y, size.width - x - 8),
  ];
}

/**
 * A row of places for each text. Of texts that have ended the places are empty: as many rows as that is on average.
 * @param {BatchPayload} batch
 * @param {number} x
 * @param {number} y
 * @param {boolean} wide
 * @param {Words} said
 */
function drawPlaces({ texts, tokens, empty: share }, x, y, wide, said) {
  const writing = texts - Math.round(share * texts);
  const width = wide ? 1.5 * CELL.width : CELL.width;
  const right = x + tokens * (width + CELL.gap) + 6;
  const cells = Array.from({ length: texts * tokens }, (_, i) => {
    const row = Math.floor(i / tokens);
    return box(x + (i % tokens) * (width + CELL.gap), y + rowsHeight(row), width, CELL.height, row < writing ? "odds passes" : "odds later");
  });
  if (!wide) return cells;
  const names = [`${writing} ${said.write}`, `${texts - writing} ${said.ended}`];
  return [...cells, label(names[0], right, y + rowsHeight(writing / 2) + 4, "small start"), label(names[1], right, y + rowsHeight((writing + texts) / 2) + 4, "small start")];
}

/**
 * @param {BatchPayload} batch
 * @param {DiagramPayload["words"]} words
 */
function empty({ empty: share }, words) {
  const figure = words === "plain" ? `${Math.round(100 * share)} of 100` : percent(share);
  return `${figure} ${WORDS[words].empty}`;
}

/**
 * @param {BatchPayload} batch
 * @param {Words} said
 * @returns {Bar[]}
 */
function barsOf({ texts, tokens, alone, together }, said) {
  return [
    [said.single, 1, "passes"],
    [said.one(tokens), alone, "passes"],
    [said.many(tokens, texts), together, "passes"],
  ];
}

/**
 * The picture as sentences, for a screen reader.
 * @param {BatchPayload} batch
 * @param {DiagramPayload["words"]} words
 */
export function textsInWords(batch, words) {
  const said = WORDS[words];
  const rows = barsOf(batch, said).map(([name, ratio]) => `${name}: ${times(ratio)}`);
  return `${said.many(batch.tokens, batch.texts)}: ${said.weights} ${said.once}. ${empty(batch, words)}. ${said.scale}: ${rows.join("; ")}.`;
}
