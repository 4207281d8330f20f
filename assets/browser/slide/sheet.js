// A slide as the text of an SVG file, 1280×720. It needs no page and no style sheet: a function of what is drawn. Text only ever
// becomes text. Each token has the room of its characters in a font of one width, on whatever machine the file is opened.

import { MARKS, className } from "../shared/chips.js";
import { shorten } from "../shared/text.js";

/** @import { ChipStatus } from "../shared/payloads.js" */

/** @typedef {"ink" | "ground" | "mute" | "line" | "soft" | "accepted" | "accepted-ground" | "rejected" | "rejected-ground" | "corrected" | "corrected-ground"} ColourName */

/** @typedef {Record<ColourName, string>} Colours */

/** @typedef {ChipStatus | "proposed" | "checked" | "plain"} Look a status, or what a token looks like before it has one */

/** @typedef {{ look: Look, text: string, round?: number }} SlideChip those of another round stand a little apart */

/** @typedef {{ chip: SlideChip, x: number, y: number, width: number }} PlacedChip */

export const SIZE = { width: 1280, height: 720 };
export const MARGIN = 44;
export const INSIDE = SIZE.width - 2 * MARGIN;
const MONO = "ui-monospace, 'Source Code Pro', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const SANS = "'Source Sans 3', 'Source Sans Pro', system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
const CELL = 0.6; // of a letter's height: the width of one in a font of one width
const LETTER = 0.56; // of one in another font, on average, and a little more
const KEY = 18; // the letters of the key
/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const NOT_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;

const CHARACTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const APART = { chips: 4, rounds: 12 };

/** @type {ColourName[]} */
const NAMES = ["ink", "ground", "mute", "line", "soft", "accepted", "accepted-ground", "rejected", "rejected-ground", "corrected", "corrected-ground"];

/**
 * The colours that the style sheet gives a stage now, light or dark.
 * @param {HTMLElement} stage
 */
export function coloursOf(stage) {
  const style = getComputedStyle(stage);
  return /** @type {Colours} */ (Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])));
}

/**
 * The stage's own key of its marks, in its words: those that occur.
 * @param {HTMLElement} stage
 * @returns {SlideChip[]}
 */
export function keyOf(stage) {
  /** @type {NodeListOf<HTMLElement>} */
  const chips = stage.querySelectorAll(".legend .chip:not([hidden] *)");
  return [...chips].map((chip) => ({ look: /** @type {Look} */ (chip.classList[1]), text: chip.textContent ?? "" }));
}

/** @param {string} text */
export function escaped(text) {
  return text.replace(NOT_IN_XML, "\ufffd").replace(/[&<>"]/g, (character) => ENTITIES[character]);
}

/**
 * An element; what is inside is markup already.
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {string} [inside]
 */
export function tag(name, attributes, inside = "") {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  return `<${name}${written.join("")}>${inside}</${name}>`;
}

/**
 * A line of text, cut where there is no more room.
 * @param {string} text
 * @param {{ x?: number, y: number, size: number, fill: string, room?: number, bold?: boolean, anchor?: "start" | "end" }} how
 */
export function line(text, { x = MARGIN, y, size, fill, room = INSIDE, bold = false, anchor = "start" }) {
  const shown = shorten(text, Math.floor(room / (LETTER * size)));
  return tag("text", { x, y, "font-size": size, "font-family": SANS, "font-weight": bold ? 700 : 400, "text-anchor": anchor, fill }, escaped(shown));
}

/**
 * A long text as lines, broken between words.
 * @param {string} text
 * @param {number} size
 * @param {number} most lines
 */
export function wrapped(text, size, most) {
  const room = Math.floor(INSIDE / (LETTER * size));
  /** @type {string[]} */
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (longer.length <= room || lines.length === most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/**
 * How many places a text takes in a font of one width: a wide character takes two, an accent none.
 * @param {string} text
 */
export function cellsOf(text) {
  return [...CHARACTERS.segment(text)].reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0);
}

/** @param {Look} look */
function markOf(look) {
  if (look === "plain") return "";
  return look === "proposed" || look === "checked" ? "?" : MARKS[look];
}

/**
 * @param {SlideChip} chip
 * @param {number} size of its letters
 */
export function chipWidth({ look, text }, size) {
  return size * (CELL * cellsOf(text) + (markOf(look) ? 1.5 : 0.8));
}

/**
 * @param {Look} look
 * @param {Colours} colours
 * @returns {{ ink: string, box: Record<string, string | number> }}
 */
function lookOf(look, colours) {
  const { ink, mute, soft, accepted, rejected, corrected } = colours;
  if (look === "plain") return { ink, box: { fill: soft } };
  if (look === "proposed") return { ink: accepted, box: { fill: "none", stroke: accepted, "stroke-dasharray": "5 3", "stroke-width": 1.5 } };
  if (look === "checked") return { ink: accepted, box: { fill: soft, stroke: accepted, "stroke-width": 2.5 } };
  if (look === "accepted") return { ink: accepted, box: { fill: colours["accepted-ground"] } };
  if (look === "rejected") return { ink: rejected, box: { fill: colours["rejected-ground"] } };
  if (look === "discarded" || look === "not taken") return { ink: mute, box: { fill: "url(#hatch)" } };
  return { ink: corrected, box: { fill: colours["corrected-ground"] } };
}

/**
 * @param {PlacedChip} placed
 * @param {number} size of its letters
 * @param {Colours} colours
 */
export function drawnChip({ chip, x, y, width }, size, colours) {
  const { look, text } = chip;
  const { ink, box } = lookOf(look, colours);
  const mark = markOf(look);
  const start = x + size * (mark ? 1.1 : 0.4);
  const room = width - size * (mark ? 1.5 : 0.8);
  const emitted = look === "correction" || look === "bonus" || look === "own";
  const written = {
    x: start, y: y + size * 1.05, "font-size": size, "font-family": MONO, "font-weight": emitted ? 600 : 400, fill: ink,
    textLength: Math.round(room), lengthAdjust: "spacingAndGlyphs", ...(look === "rejected" && { "text-decoration": "line-through" }),
  };
  return tag("g", { class: className(/** @type {ChipStatus} */ (look)) }, [
    tag("rect", { x, y, width, height: size * 1.5, rx: size / 4, ...box }),
    mark && tag("text", { x: x + size * 0.65, y: y + size, "font-size": size * 0.75, "text-anchor": "middle", fill: ink }, mark),
    tag("text", written, escaped(text)),
  ].join(""));
}

/**
 * Chips in lines, as a text: a line ends where the text has a line break, or where there is no more room.
 * @param {SlideChip[]} chips
 * @param {{ size: number, top: number, step: number, left?: number, room?: number }} how step: from line to line
 * @returns {PlacedChip[]}
 */
export function inLines(chips, { size, top, step, left = MARGIN, room = INSIDE }) {
  let [x, y] = [left, top];
  let broken = false; // whether the text goes on in a line of its own
  return chips.map((chip, i) => {
    const width = Math.min(chipWidth(chip, size), room);
    const isBreak = /^↵+$/.test(chip.text);
    if (i && x > left) x += chips[i - 1].round === chip.round ? APART.chips : APART.rounds;
    if (x > left && (x + width > left + room || (broken && !isBreak))) [x, y] = [left, y + step];
    broken = chip.text.includes("↵") && chip.look !== "rejected" && chip.look !== "discarded";
    const placed = { chip, x, y, width };
    x += width;
    return placed;
  });
}

/**
 * What is in sight of lines that are more than there is room for: the last ones, moved up.
 * @param {PlacedChip[]} placed
 * @param {{ top: number, step: number }} how
 * @param {number} most lines
 */
export function lastLines(placed, { top, step }, most) {
  const hidden = Math.max(0, ((placed.at(-1)?.y ?? top) - top) / step + 1 - most) * step;
  return placed.filter(({ y }) => y - hidden >= top).map((each) => ({ ...each, y: each.y - hidden }));
}

/**
 * What the marks mean, in the words of the stage's own key.
 * @param {SlideChip[]} marks
 * @param {number} y
 * @param {Colours} colours
 */
export function drawnKey(marks, y, colours) {
  return inLines(marks, { size: KEY, top: y, step: 1.8 * KEY }).map((placed) => drawnChip(placed, KEY, colours)).join("");
}

/**
 * The whole file.
 * @param {string[]} parts
 * @param {Colours} colours
 * @param {string} title what the slide shows, in words
 */
export function sheet(parts, colours, title) {
  const hatch = { id: "hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  return tag("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, ...SIZE, role: "img" }, [
    tag("title", {}, escaped(title)),
    tag("defs", {}, tag("pattern", hatch, tag("rect", { width: 3, height: 8, fill: colours.line }))),
    tag("rect", { ...SIZE, fill: colours.ground }),
    ...parts,
  ].join(""));
}
