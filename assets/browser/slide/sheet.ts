// A slide as the text of an SVG file, 1280×720. It needs no page and no style sheet: a function of what is drawn. Text only ever
// becomes text. Each token has the room of its characters in a font of one width, on whatever machine the file is opened.

import { MARKS, className, shorten } from "../shared/chips.js";
import type { ChipStatus } from "../dist/payloads.js";

const NAMES = ["ink", "ground", "mute", "line", "soft", "accepted", "accepted-ground", "rejected", "rejected-ground", "corrected", "corrected-ground"] as const;

export type Colours = Record<typeof NAMES[number], string>;
export type Look = ChipStatus | "proposed" | "checked" | "plain"; // a status, or what a token looks like before it has one
export type SlideChip = { look: Look, text: string, round?: number }; // those of another round stand a little apart
export type PlacedChip = { chip: SlideChip, x: number, y: number, width: number };

export const SIZE = { width: 1280, height: 720 };
export const MARGIN = 44;
export const INSIDE = SIZE.width - 2 * MARGIN;
const MONO = "ui-monospace, 'Source Code Pro', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const SANS = "'Source Sans 3', 'Source Sans Pro', system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
const CELL = 0.6; // of a letter's height: the width of one in a font of one width
const LETTER = 0.56; // of one in another font, on average, and a little more
const KEY = 18; // the letters of the key
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const NOT_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;

const CHARACTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const APART = { chips: 4, rounds: 12 };

/** The colours that the style sheet gives a stage now, light or dark. */
export function coloursOf(stage: HTMLElement) {
  const style = getComputedStyle(stage);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Colours;
}

/** The stage's own key of its marks, in its words: those that occur. */
export function keyOf(stage: HTMLElement): SlideChip[] {
  const chips: NodeListOf<HTMLElement> = stage.querySelectorAll(".legend .chip:not([hidden] *)");
  return [...chips].map((chip) => ({ look: chip.classList[1] as Look, text: chip.textContent ?? "" }));
}

export function escaped(text: string) {
  return text.replace(NOT_IN_XML, "\ufffd").replace(/[&<>"]/g, (character) => ENTITIES[character]);
}

/** An element; what is inside is markup already. */
export function tag(name: string, attributes: Record<string, string | number>, inside: string = "") {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  return `<${name}${written.join("")}>${inside}</${name}>`;
}

/** A line of text, cut where there is no more room. */
export function line(text: string, { x = MARGIN, y, size, fill, room = INSIDE, bold = false, anchor = "start" }: { x?: number, y: number, size: number, fill: string, room?: number, bold?: boolean, anchor?: "start" | "end" }) {
  const shown = shorten(text, Math.floor(room / (LETTER * size)));
  return tag("text", { x, y, "font-size": size, "font-family": SANS, "font-weight": bold ? 700 : 400, "text-anchor": anchor, fill }, escaped(shown));
}

/** A long text as lines, broken between words. `most`: lines */
export function wrapped(text: string, size: number, most: number) {
  const room = Math.floor(INSIDE / (LETTER * size));
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (longer.length <= room || lines.length === most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** How many places a text takes in a font of one width: a wide character takes two, an accent none. */
export function cellsOf(text: string) {
  return [...CHARACTERS.segment(text)].reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0);
}

const marks: Record<Look, string> = { ...MARKS, plain: "", proposed: "?", checked: "?" };

/** `size`: of its letters */
export function chipWidth({ look, text }: SlideChip, size: number) {
  return size * (CELL * cellsOf(text) + (marks[look] ? 1.5 : 0.8));
}

function lookOf(look: Look, colours: Colours): { ink: string, box: Record<string, string | number> } {
  const { ink, mute, soft, accepted, rejected, corrected } = colours;
  if (look === "plain") return { ink, box: { fill: soft } };
  if (look === "proposed") return { ink: accepted, box: { fill: "none", stroke: accepted, "stroke-dasharray": "5 3", "stroke-width": 1.5 } };
  if (look === "checked") return { ink: accepted, box: { fill: soft, stroke: accepted, "stroke-width": 2.5 } };
  if (look === "accepted") return { ink: accepted, box: { fill: colours["accepted-ground"] } };
  if (look === "rejected") return { ink: rejected, box: { fill: colours["rejected-ground"] } };
  if (look === "discarded" || look === "not taken") return { ink: mute, box: { fill: "url(#hatch)" } };
  return { ink: corrected, box: { fill: colours["corrected-ground"] } };
}

/** `size`: of its letters */
export function drawnChip({ chip, x, y, width }: PlacedChip, size: number, colours: Colours) {
  const { look, text } = chip;
  const { ink, box } = lookOf(look, colours);
  const mark = marks[look];
  const start = x + size * (mark ? 1.1 : 0.4);
  const room = width - size * (mark ? 1.5 : 0.8);
  const emitted = look === "correction" || look === "bonus" || look === "own";
  const written = {
    x: start, y: y + size * 1.05, "font-size": size, "font-family": MONO, "font-weight": emitted ? 600 : 400, fill: ink,
    textLength: Math.round(room), lengthAdjust: "spacingAndGlyphs", ...(look === "rejected" && { "text-decoration": "line-through" }),
  };
  return tag("g", { class: className(look as ChipStatus) }, [
    tag("rect", { x, y, width, height: size * 1.5, rx: size / 4, ...box }),
    mark && tag("text", { x: x + size * 0.65, y: y + size, "font-size": size * 0.75, "text-anchor": "middle", fill: ink }, mark),
    tag("text", written, escaped(text)),
  ].join(""));
}

/** Chips in lines, as a text: a line ends where the text has a line break, or where there is no more room. step: from line to line */
export function inLines(chips: SlideChip[], { size, top, step, left = MARGIN, room = INSIDE }: { size: number, top: number, step: number, left?: number, room?: number }): PlacedChip[] {
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

/** What is in sight of lines that are more than there is room for: the last ones, moved up. `most`: lines */
export function lastLines(placed: PlacedChip[], { top, step }: { top: number, step: number }, most: number) {
  const hidden = Math.max(0, ((placed.at(-1)?.y ?? top) - top) / step + 1 - most) * step;
  return placed.filter(({ y }) => y - hidden >= top).map((each) => ({ ...each, y: each.y - hidden }));
}

/** What the marks mean, in the words of the stage's own key. */
export function drawnKey(marks: SlideChip[], y: number, colours: Colours) {
  return inLines(marks, { size: KEY, top: y, step: 1.8 * KEY }).map((placed) => drawnChip(placed, KEY, colours)).join("");
}

/** The whole file. `title`: what the slide shows, in words */
export function sheet(parts: string[], colours: Colours, title: string) {
  const hatch = { id: "hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  return tag("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, ...SIZE, role: "img" }, [
    tag("title", {}, escaped(title)),
    tag("defs", {}, tag("pattern", hatch, tag("rect", { width: 3, height: 8, fill: colours.line }))),
    tag("rect", { ...SIZE, fill: colours.ground }),
    ...parts,
  ].join(""));
}
