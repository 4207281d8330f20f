// A step of a run as a slide, and the whole run as the slides of a film. A slide is the text of an SVG file, 1280×720. It needs no page
// and no style sheet: a function of what is drawn. Text only ever becomes text. Each token has the room of its characters in a font of
// one width, on whatever machine the file is opened.

import { MARKS, byTarget, className, isSpecial, shorten, shownText, visible } from "../shared/chips.js";
import { countsAfter, settingsInWords, titleOf } from "./account.js";
import { DWELL } from "./playhead.js";
import { depthsOf, hiddenGuesses, rowsOf } from "./tree.js";
import { say } from "./words.js";
import type { ChipStatus, Phase, RoundPayload, SentRun, StagePayload, TreePayload } from "../dist/payloads.js";

export type Shown = { data: StagePayload, run: SentRun, key: SlideChip[], colours: Colours }; // the run on the stage, and the stage's key of its marks

const LETTERS = 24;
const LINE = 46; // from line to line of tokens
const TOP = 206; // of the tokens
const LINES = 7;
const LINES_ABOVE_TREE = 2;
const TREE = { top: TOP + LINES_ABOVE_TREE * LINE + 6, height: 232, most: 38, apart: 36, least: 3.4 }; // least: the width of a chip, in letters

/** `step`: counts the phases of all rounds. `note`: stands below */
export function runSlide({ data, run, key, colours }: Shown, step: number, note: string = "") {
  const { rounds, phases, more, result } = data;
  const round = Math.floor(Math.max(step, 0) / phases.length);
  const phase = phases[Math.max(step, 0) % phases.length];
  const current = rounds[round];
  const number = current ? say("round_of", { round: round + 1, rounds: more ? "…" : rounds.length }) : "";
  const says = current ? current.sentences[phases.indexOf(phase)] : data.idle;
  const over = !more && step >= rounds.length * phases.length - 1;
  const { ink, mute } = colours;
  return sheet([
    line(`${titleOf(run)} · ${settingsInWords(data, run)}`, { y: 56, size: 22, fill: mute, room: 830 }),
    line(data.badge, { x: SIZE.width - MARGIN, y: 56, size: 18, fill: mute, room: 340, anchor: "end" }),
    line(number, { y: 104, size: 30, fill: ink, bold: true }),
    ...wrapped(says, 28, 2).map((text, i) => line(text, { y: 144 + 36 * i, size: 28, fill: ink })),
    ...tokens(data, round, phase, colours),
    drawnKey(key, 552, colours),
    line(countsAfter(data, phase === "judge" ? round + 1 : round), { y: 626, size: 24, fill: ink, bold: true }),
    line(note || (over && result ? result.says : ""), { y: 662, size: 22, fill: ink }),
    line(`specviz · ${data.measured}`, { y: 700, size: 15, fill: mute }),
  ], colours, [number, says].filter(Boolean).join(". "));
}

/** The text so far, and below it the tree in sight. */
function tokens(data: StagePayload, round: number, phase: Phase, colours: Colours) {
  const current = data.rounds[round];
  const tree = current?.tree;
  const own = current?.draft_tokens?.map(visible).join(" ");
  const lines = tree ? LINES_ABOVE_TREE : own ? LINES - 1 : LINES;
  return [
    ...drawnText(textUpTo(data, round, phase), round, lines, colours),
    ...(tree ? treeBelow(current, tree, phase, colours) : []),
    own ? line(say("slide_own_tokens", { tokens: own }), { y: TOP + LINES * LINE - 16, size: 18, fill: colours.mute }) : "",
  ];
}

function textUpTo({ prompt, rounds }: StagePayload, round: number, last: Phase): SlideChip[] {
  const before = prompt.tokens.map((text) => ({ look: "plain" as Look, text: isSpecial(text) ? "▸" : shownText(text), round: -1 }));
  return [...before, ...rounds.slice(0, round + 1).flatMap(({ chips, tree }, i) => {
    const phase = i < round ? "judge" : last;
    const shown = chips.filter((chip) => (tree ? phase === "judge" && (chip.status === "accepted" || byTarget(chip)) : phase === "judge" || !byTarget(chip))); // of a tree its path
    return shown.map((chip) => ({ ...lookIn(chip, phase), round: i }));
  })];
}

/** Before judgement every guess looks alike. */
function lookIn({ status, text }: RoundPayload["chips"][number], phase: Phase): SlideChip {
  return { look: phase === "judge" ? status : phase === "check" ? "checked" : "proposed", text: shownText(text) };
}

/** The last lines of the text, a line under each round. `round`: in sight */
function drawnText(chips: SlideChip[], round: number, most: number, colours: Colours) {
  const how = { size: LETTERS, top: TOP, step: LINE };
  const placed = inLines(chips, how);
  const shown = lastLines(placed, how, most);
  const drawn = shown.flatMap((each) => {
    const { x, y, width, chip } = each;
    const under = { x, y: y + 1.5 * LETTERS + 3, width: width + 4, height: 2, fill: chip.round === round ? colours.ink : colours.line };
    return [drawnChip(each, LETTERS, colours), (chip.round ?? -1) < 0 ? "" : tag("rect", under)];
  });
  return shown.length < placed.length ? [line(say("written_before"), { y: TOP - 8, size: 15, fill: colours.mute }), ...drawn] : drawn;
}

/** A column for each place in the text, a row for each chain of guesses. */
function treeBelow({ chips }: RoundPayload, tree: TreePayload, phase: Phase, colours: Colours) {
  const rows = rowsOf(tree, false, (node) => phase === "judge" && chips[node].status === "accepted");
  const depths = depthsOf(tree);
  const below = Math.max(...rows.map((row) => row ?? 0)) + 1;
  const height = Math.min(TREE.most, TREE.height / (below + 1));
  const room = INSIDE / (Math.max(...depths) + 1);
  const apart = Math.min(TREE.apart, 0.3 * room);
  const size = Math.min(height / 1.75, (room - apart) / TREE.least);
  const guesses = tree.parents.map((_, node) => {
    const chip = lookIn(chips[node], phase);
    let cut = chip;
    for (let length = chip.text.length; length > 2 && chipWidth(cut, size) > room - apart; length--) cut = { ...chip, text: shorten(chip.text, length) };
    return cut;
  });
  const column = apart + Math.max(...guesses.map((chip) => chipWidth(chip, size)));
  const left = (node: number) => MARGIN + apart + depths[node] * column;
  const middle = (row: number) => TREE.top + row * height + 0.75 * size;
  const drawn = tree.parents.flatMap((parent, node) => {
    const row = rows[node];
    if (row === null) return [];
    const x = left(node);
    const from = parent < 0 ? MARGIN : left(parent) + chipWidth(guesses[parent], size);
    const elbow = { d: `M${from} ${middle(rows[parent] ?? 0)}H${x - apart / 2}V${middle(row)}H${x - 2}`, fill: "none", stroke: colours.mute };
    return [tag("path", elbow), drawnChip({ chip: guesses[node], x, y: TREE.top + row * height, width: chipWidth(guesses[node], size) }, size, colours)];
  });
  const hidden = rows.includes(null) ? hiddenGuesses(tree) : 0;
  return hidden ? [...drawn, line(say("hidden_guesses", { hidden }), { x: MARGIN + apart, y: middle(below) + 6, size: 16, fill: colours.mute })] : drawn;
}

/** The run as long as the stage plays it, from its start; of a very long one as many rounds as a film may have. `speed`: of the stage */
export function runFilm(shown: Shown, speed: number): Film {
  const { rounds, phases } = shown.data;
  const dwell = phases.map((phase) => DWELL[phase] / speed);
  const fit = Math.max(1, Math.floor((MOST - LAST) / dwell.reduce((sum, ms) => sum + ms, 0)));
  const left = rounds.length > fit ? say("film_is_cut", { shown: fit, rounds: rounds.length }) : "";
  const last = Math.max(Math.min(rounds.length, fit) * phases.length - 1, 0);
  const frames = Array.from({ length: last + 1 }, (_, step) => ({ draw: () => runSlide(shown, step), ms: dwell[step % phases.length] }));
  const end = { draw: () => runSlide(shown, last, left), ms: LAST };
  return { frames: [...frames.slice(0, -1), end], left };
}

// ---- what a slide is made of

const NAMES = ["ink", "ground", "mute", "line", "soft", "accepted", "accepted-ground", "rejected", "rejected-ground", "corrected", "corrected-ground"] as const;

export type Colours = Record<typeof NAMES[number], string>;
export type Look = ChipStatus | "proposed" | "checked" | "plain"; // a status, or what a token looks like before it has one
type SlideChip = { look: Look, text: string, round?: number }; // those of another round stand a little apart
type PlacedChip = { chip: SlideChip, x: number, y: number, width: number };

const SIZE = { width: 1280, height: 720 };
export const MARGIN = 44;
const INSIDE = SIZE.width - 2 * MARGIN;
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
function tag(name: string, attributes: Record<string, string | number>, inside: string = "") {
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
function chipWidth({ look, text }: SlideChip, size: number) {
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
function drawnChip({ chip, x, y, width }: PlacedChip, size: number, colours: Colours) {
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
function drawnKey(marks: SlideChip[], y: number, colours: Colours) {
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

// ---- as a file, and one after the other as a film: the browser's own recorder makes it, as long as it lasts, and nothing is loaded for it

type Frame = { draw: () => string, ms: number }; // a slide, and how long it stays
export type Film = { frames: Frame[], left: string }; // left: what it leaves out, in a sentence; else empty

const SCALE = 2; // pixels of a PNG for each of the drawing's
const KINDS = ["video/webm", "video/mp4"]; // older Safaris record the second only
const SHARP = 6_000_000; // bits a second: letters stay clear
const TICK = 500; // ms between two pictures of the film, also where nothing moves: few, for slow machines
const CAUGHT_UP = 1000; // ms without news from the recorder after which it has nothing more to write
export const MOST = 120_000; // ms of a film
const LAST = 3000; // ms that its end stays

/** The kind of film that this browser records; undefined: none. */
export function filmKind() {
  if (typeof MediaRecorder === "undefined" || !("captureStream" in HTMLCanvasElement.prototype)) return undefined;
  return KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
}

export function lengthOf(frames: Frame[]) {
  return frames.reduce((sum, { ms }) => sum + ms, 0);
}

/** Null where it was stopped. */
export async function recorded(frames: Frame[], kind: string, reached: (ms: number) => void, stopped: AbortSignal): Promise<Blob | null> {
  const canvas = Object.assign(document.createElement("canvas"), SIZE);
  const context = canvas.getContext("2d", { alpha: false });
  const stream = canvas.captureStream();
  const recorder = new MediaRecorder(stream, { mimeType: kind, videoBitsPerSecond: SHARP });
  const file = whole(recorder, kind);
  recorder.start(TICK);
  let at = 0;
  try {
    for (const { draw, ms } of frames) {
      const image = await imageOf(draw());
      for (let left = ms; left > 0 && !stopped.aborted; left -= TICK) {
        if (document.hidden) { // a browser gives a hidden page no pictures
          recorder.pause();
          await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
          recorder.resume();
        }
        context?.drawImage(image, 0, 0);
        await pause(Math.min(left, TICK));
        reached((at += Math.min(left, TICK)));
      }
      if (stopped.aborted) break;
    }
    if (!stopped.aborted) await caughtUp(recorder);
  } finally {
    recorder.stop();
    for (const track of stream.getTracks()) track.stop();
  }
  const made = await file;
  return stopped.aborted ? null : made;
}

function whole(recorder: MediaRecorder, kind: string): Promise<Blob> {
  const parts: Blob[] = [];
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  return new Promise((resolve, reject) => {
    recorder.addEventListener("stop", () => resolve(new Blob(parts, { type: kind })));
    recorder.addEventListener("error", reject);
  });
}

/** A recorder that is stopped throws away the pictures that it has not written yet: on a busy machine, the film's end. */
async function caughtUp(recorder: MediaRecorder) {
  let heard = performance.now();
  recorder.addEventListener("dataavailable", () => (heard = performance.now()));
  while (performance.now() - heard < CAUGHT_UP) await pause(TICK / 5);
}

function pause(ms: number) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** `picture`: an SVG file */
async function imageOf(picture: string) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(picture)}`; // a page's policy allows data, and no blob
  await image.decode();
  return image;
}

export async function fileOf(picture: string, kind: "png" | "svg"): Promise<Blob> {
  if (kind === "svg") return new Blob([picture], { type: "image/svg+xml" });
  const image = await imageOf(picture);
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * image.width;
  canvas.height = SCALE * image.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((file) => (file ? resolve(file) : reject(new Error("no picture"))), "image/png"));
}
