// The picture of one pass of the target: the last token and the guesses enter side by side, and out of each comes the
// token that the target expects after it. It is of the round at the playhead, in a greedy run; the style sheet shows
// each part in its phase.

import { MARKS, byTarget, className } from "../shared/chips.js";
import { counted } from "../shared/numbers.js";
import { box, label, svg } from "../shared/svg.js";
import { quoted, shorten, visible } from "../shared/text.js";

/** @import { Chip, ChipStatus, DiagramPayload, JudgedChip, Phase, StagePayload, TargetChip } from "../shared/payloads.js" */
/** @import { Drawing } from "./diagram.js" */

/**
 * One place of the pass. `status` is that of the guess that is read there, null for the text's last token; `expected` is
 * what the target expects after it, null after a wrong guess: there it is not used, and no run records it. `next` is the
 * guess that it is compared with, null after the last one.
 * @typedef {{ read: string, status: ChipStatus | null, expected: TargetChip | JudgedChip | null, next: Chip | null }} Place
 */

/** @typedef {Record<"last" | "guess" | "model" | "asks" | "bonus" | "was" | "unused", string> & { enter: (number: number) => string }} Words */

/** @type {Record<DiagramPayload["words"], Words>} */
const WORDS = {
  technical: {
    last: "last token",
    guess: "guess",
    model: "target model: one pass",
    asks: "after each token: which one comes next?",
    enter: (number) => `${counted(number, "token")} enter the target model side by side, in one pass`,
    bonus: "the bonus",
    was: "was",
    unused: "not used",
  },
  plain: {
    last: "last word",
    guess: "guess",
    model: "editor: one look",
    asks: "after each word: which one comes next?",
    enter: (number) => `The editor looks at ${counted(number, "word")} side by side, in one look`,
    bonus: "one for free",
    was: "was",
    unused: "not used",
  },
};
const ROW = { caption: 13, chip: 22, arrow: 18, model: 40 };
const LETTER = 7.6; // pixels of a character of a token
export const PASS_HEIGHT = 2 * (ROW.caption + ROW.chip + ROW.arrow) + ROW.model + 12;

/**
 * @param {Pick<StagePayload, "rounds" | "prompt">} run
 * @param {number} index of the round
 * @returns {Place[]}
 */
export function placesOf({ rounds, prompt }, index) {
  const { chips } = rounds[index];
  const guesses = chips.filter((chip) => !byTarget(chip));
  const own = chips.find(isOwn) ?? null;
  const before = rounds[index - 1]?.chips.findLast((chip) => byTarget(chip) || chip.status === "accepted");
  /** @type {Array<{ text: string, status: ChipStatus | null }>} */
  const read = [{ text: before?.text ?? prompt.tokens.at(-1) ?? "", status: null }, ...guesses];
  return read.map(({ text, status }, i) => {
    const next = guesses[i] ?? null;
    if (next?.status === "accepted") return { read: text, status, expected: next, next };
    const used = next ? next.status === "rejected" : own?.status === "bonus";
    return { read: text, status, expected: used ? own : null, next };
  });
}

/**
 * @param {Chip} chip
 * @returns {chip is TargetChip}
 */
function isOwn(chip) {
  return byTarget(chip);
}

/**
 * @param {StagePayload} run
 * @param {number} index of the round
 * @param {Drawing} drawing
 * @returns {SVGElement[]}
 */
export function drawPass(run, index, { top, size, words }) {
  const said = WORDS[words];
  const places = placesOf(run, index);
  const model = top + ROW.caption + ROW.chip + ROW.arrow;
  const middle = size.width / 2;
  const wide = size.width > 500;
  const column = (size.width - 8) / places.length;
  return [
    box(4, model, size.width - 8, ROW.model, "box target"),
    label(said.model, middle, model + 17, "title"),
    label(said.asks, middle, model + 32, "small"),
    ...places.flatMap((place, i) => drawPlace(place, i, { middle: 4 + (i + 0.5) * column, width: Math.min(column - (wide ? 16 : 4), 132), top, model, said })),
  ];
}

/**
 * @param {Place} place
 * @param {number} i
 * @param {{ middle: number, width: number, top: number, model: number, said: Words }} at
 */
function drawPlace(place, i, { middle, width, top, model, said }) {
  const { read, status, expected } = place;
  const out = model + ROW.model + ROW.arrow;
  const kind = className(expected?.status ?? "discarded");
  const text = expected && byTarget(expected) ? `${MARKS[expected.status]} ${visible(expected.text)}` : visible(expected?.text ?? "⋯");
  return [
    label(i ? `${said.guess} ${i}` : said.last, middle, top + 9, "small"),
    ...chip(visible(read), middle, top + ROW.caption, width, `read ${className(status ?? "own")}`),
    down(middle, model - ROW.arrow),
    down(middle, model + ROW.model),
    ...chip("?", middle, out, width, "ask"),
    ...chip(text, middle, out, width, `expected ${kind}`),
    label(compared(place, i + 1, said, width > 100), middle, out + ROW.chip + 13, `small compared ${kind}`),
  ];
}

/**
 * @param {Place} place
 * @param {number} number of the guess that stands at the next place
 * @param {Words} said
 * @param {boolean} whole whether there is room for the wrong guess too
 */
function compared({ expected, next }, number, said, whole) {
  if (!expected) return said.unused;
  if (!next) return said.bonus;
  const wrong = whole && next.status === "rejected" ? ` ${said.was} ${visible(next.text)}` : "";
  return `${MARKS[next.status]} ${said.guess} ${number}${wrong}`;
}

/**
 * @param {string} text
 * @param {number} middle
 * @param {number} y
 * @param {number} width
 * @param {string} kind
 */
function chip(text, middle, y, width, kind) {
  const shown = shorten(text, Math.floor((width - 4) / LETTER));
  const parts = [box(middle - width / 2, y, width, ROW.chip, "token"), label(shown, middle, y + 15, "word centre")];
  for (const part of parts) part.setAttribute("class", `${part.getAttribute("class")} ${kind}`);
  return parts;
}

/**
 * An arrow from row to row.
 * @param {number} x
 * @param {number} y
 */
function down(x, y) {
  return svg("path", { d: `M${x} ${y + 2}v${ROW.arrow - 5}m-4 -5l4 5l4 -5`, class: "arrow" });
}

/**
 * The picture as sentences, for a screen reader.
 * @param {Pick<StagePayload, "rounds" | "prompt">} run
 * @param {number} index of the round
 * @param {DiagramPayload["words"]} words
 * @param {Phase | null} phase
 */
export function passInWords(run, index, words, phase) {
  const said = WORDS[words];
  const places = placesOf(run, index);
  const name = (/** @type {number} */ i) => (i ? `${said.guess} ${i}` : said.last);
  const enter = `${said.enter(places.length)}: ${places.map(({ read }, i) => `${name(i)} ${quoted(read)}`).join(", ")}.`;
  if (phase === "propose") return enter;
  if (phase === "check") return `${enter} ${said.asks}`;
  const out = places.map((place, i) => {
    const text = place.expected ? `${quoted(place.expected.text)}: ` : "";
    return `after ${name(i)} ${text}${compared(place, i + 1, said, true)}`;
  });
  return `${enter} ${said.asks} ${out.join("; ")}.`;
}
