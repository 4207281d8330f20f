// The picture: draft model → target model → accept the start, correct the first error. It follows the playhead, and is
// drawn only where `data.diagram` is set (a lesson). It also marks the part of the stage the lesson is about, and moves
// the playhead to the lesson's place.

import { byTarget } from "../shared/chips.js";
import { element, find } from "../shared/dom.js";
import { counted } from "../shared/numbers.js";
import { label, svg } from "../shared/svg.js";
import { shorten, visible } from "../shared/text.js";
import { DICE_HEIGHT, diceInWords, drawDice } from "./dice.js";
import { isPlain, plainStatus, speak } from "./plain_words.js";
import { isNarrow } from "./style.js";
import { drawWeights, weightsHeight, weightsInWords } from "./weights.js";

/** @import { Chip, ChipStatus, DiagramPayload, Phase, RoundPayload, StagePayload } from "../shared/payloads.js" */
/** @import { Playhead } from "./playhead.js" */

/** @typedef {{ width: number, column: number, gap: number, short: number }} Size in pixels; `short` in characters */

/** @typedef {{ top: number, size: Size, words: DiagramPayload["words"] }} Drawing where a picture of its own begins */

/** @typedef {"draft" | "target" | "text"} Column */

/** @typedef {Record<Column, string>} Under what is said below each title */

/**
 * @typedef {{
 *   draft: { title: string, under: (drafted: number) => string },
 *   target: { title: string, under: string },
 *   text: { title: string, under: string },
 *   pass: string,
 *   dice: Under & { title: string },
 * }} PictureWords
 */

/** @type {Record<DiagramPayload["words"], PictureWords>} */
const PICTURE_WORDS = {
  technical: {
    draft: { title: "draft model", under: (n) => `guesses ${counted(n, "token")}, one by one` },
    target: { title: "target model", under: "checks them all in one pass" },
    text: { title: "text so far", under: "accept the start, correct the first error" },
    pass: "one pass",
    dice: { draft: "draws from q; ◂ it drew this", target: "p; full green is what p has over q", text: "the part of p above q", title: "leftover" },
  },
  plain: {
    draft: { title: "intern", under: (n) => `suggests ${counted(n, "word")}, one by one` },
    target: { title: "editor", under: "looks at all of them at once" },
    text: { title: "the page", under: "accept the start, drop the rest" },
    pass: "one look",
    dice: { draft: "draws a word; ◂ it drew this", target: "draws it more or less often", text: "what is offered too rarely", title: "replacement" },
  },
};
/** @type {Record<ChipStatus, string>} */
const MARKS = { accepted: "✓", rejected: "✗", discarded: "⋯", correction: "↻", bonus: "+", own: "•" };
/** @type {Column[]} */
const COLUMNS = ["draft", "target", "text"];
/** @type {Record<Phase, Column>} */
const ACTIVE = { propose: "draft", check: "target", judge: "text" };
/** @type {Size} */
const WIDE = { width: 784, column: 236, gap: 36, short: 20 };
/** @type {Size} */
const NARROW = { width: 348, column: 106, gap: 13, short: 8 };
const ROW = 23;
const HEAD = 46;
const MOST_ROWS = 8; // tokens drawn; a longer draft says how many more there are

export class Diagram {
  /**
   * @param {HTMLElement} stage
   * @param {Playhead} playhead
   */
  constructor(stage, playhead) {
    this.stage = stage;
    this.playhead = playhead;
    this.box = element("div", "diagram");
    this.box.hidden = true;
    find(stage, ".transport").after(this.box);
    /** @type {StagePayload | null} */
    this.data = null;
    this.words = PICTURE_WORDS.technical;
    this.svg = svg("svg", {});
    /** @type {string | null} */
    this.drawn = null;
    /** @type {string | null} */
    this.place = null;
  }

  /** @param {StagePayload} data */
  load(data) {
    this.data = data;
    const lesson = data.diagram;
    this.stage.classList.toggle("lesson", Boolean(lesson));
    this.box.hidden = !lesson;
    speak(this.stage, isPlain(data));
    if (!lesson) return void delete this.stage.dataset.focus;
    this.words = PICTURE_WORDS[lesson.words];
    this.stage.dataset.focus = lesson.focus;
    this.drawn = null;
  }

  /** Once the playhead knows the run: to the lesson's place, when that is a new one. */
  settle() {
    const lesson = this.data?.diagram;
    if (!lesson || this.place === lesson.place) return;
    this.place = lesson.place;
    this.playhead.seek(lesson.step);
  }

  show() {
    if (!this.data?.diagram) return;
    const { round: index, phase } = this.playhead;
    const round = this.data.rounds[Math.max(index, 0)];
    const size = isNarrow(this.stage) ? NARROW : WIDE;
    const wanted = `${index} ${size.width}`;
    if (this.drawn !== wanted) this.#drawPicture(round, this.data, size);
    this.drawn = wanted;
    this.svg.dataset.phase = phase ?? "propose";
    this.svg.setAttribute("aria-label", this.#inWords(this.data.diagram, round, phase));
  }

  /**
   * @param {DiagramPayload} lesson
   * @param {RoundPayload} round
   * @param {Phase | null} phase
   */
  #inWords(lesson, round, phase) {
    if (lesson.passes) return weightsInWords(lesson.passes, lesson.words);
    const way = inWords(this.words, round, phase);
    return lesson.picture === "dice" && phase === "judge" ? `${way} ${diceInWords(round, lesson.words)}` : way;
  }

  /**
   * @param {RoundPayload} round
   * @param {StagePayload} data
   * @param {Size} size
   */
  #drawPicture(round, data, size) {
    const lesson = data.diagram;
    if (lesson?.passes) {
      this.#empty(size, weightsHeight(size));
      this.svg.append(...drawWeights(lesson.passes, { top: 4, size, words: lesson.words }));
    } else if (lesson?.picture === "dice") {
      this.#empty(size, HEAD + DICE_HEIGHT);
      COLUMNS.forEach((_, index) => this.svg.append(...this.#column(index, size, this.words.dice, this.words.dice.title)));
      this.svg.append(...drawDice(round, { top: HEAD, size, words: lesson.words }));
    } else this.#draw(round, data.draft_length, size);
    this.box.replaceChildren(this.svg);
  }

  /**
   * @param {Size} size
   * @param {number} height
   */
  #empty(size, height) {
    this.svg = svg("svg", { viewBox: `0 0 ${size.width} ${height}`, role: "img" });
  }

  /**
   * @param {RoundPayload} round
   * @param {number} longest
   * @param {Size} size
   */
  #draw(round, longest, size) {
    const rows = Math.min(longest, MOST_ROWS) + 1;
    const height = HEAD + rows * ROW + 6;
    this.#empty(size, height);
    const drafted = round.chips.filter((chip) => !byTarget(chip));
    /** @type {Under} */
    const under = { draft: this.words.draft.under(drafted.length), target: this.words.target.under, text: this.words.text.under };
    COLUMNS.forEach((_, index) => this.svg.append(...this.#column(index, size, under)));
    if (drafted.length) this.svg.append(passFrame(size, Math.min(drafted.length, MOST_ROWS), this.words.pass));
    drafted.slice(0, MOST_ROWS).forEach((chip, row) => this.svg.append(token(chip, row, size)));
    const own = round.chips.find(byTarget);
    const accepted = drafted.filter((chip) => chip.status === "accepted").length; // a correction takes the next one's row
    if (own) this.svg.append(token(own, Math.min(accepted, MOST_ROWS), size));
    if (drafted.length > MOST_ROWS) this.svg.append(label(`and ${drafted.length - MOST_ROWS} more`, 8, height - 12, "small"));
  }

  /**
   * @param {number} index
   * @param {Size} size
   * @param {Under} under
   * @param {string} [last] another title of the last column
   */
  #column(index, size, under, last) {
    const name = COLUMNS[index];
    const title = (name === "text" && last) || this.words[name].title;
    const x = 1 + index * (size.column + size.gap);
    const parts = [
      svg("rect", { x, y: 1, width: size.column, height: HEAD - 10, rx: 8, class: `box ${name}` }),
      label(title, x + size.column / 2, size === WIDE ? 16 : 23, `title ${name}`),
    ];
    if (size === WIDE) parts.push(label(under[name], x + size.column / 2, 30, "small"));
    if (index) parts.push(arrow(x - size.gap + 3, x - 3));
    return parts;
  }
}

/**
 * The picture as a sentence, for a screen reader.
 * @param {PictureWords} words
 * @param {RoundPayload} round
 * @param {Phase | null} phase
 */
function inWords(words, round, phase) {
  const said = words === PICTURE_WORDS.plain ? plainStatus : (/** @type {ChipStatus} */ status) => status;
  /** @param {ChipStatus} status */
  const number = (status) => `${round.chips.filter((chip) => chip.status === status).length} ${said(status)}`;
  const own = round.chips.find(byTarget);
  const result = `${number("accepted")}, ${number("rejected")}, ${number("discarded")}`;
  const judged = phase === "judge" ? `: ${result}${own ? `, then ${words === PICTURE_WORDS.plain ? "" : "one "}${said(own.status)}` : ""}` : "";
  const way = COLUMNS.map((column) => words[column].title).join(", then ");
  return `${way}. Now: ${words[ACTIVE[phase ?? "propose"]].title}${judged}.`;
}

/**
 * @param {number} from
 * @param {number} to
 */
function arrow(from, to) {
  const y = (HEAD - 8) / 2;
  return svg("path", { d: `M${from} ${y}H${to - 1}m-5 -4l5 4l-5 4`, class: "arrow" });
}

/**
 * @param {Size} size
 * @param {number} rows
 * @param {string} text
 */
function passFrame(size, rows, text) {
  const x = 1 + size.column + size.gap;
  const group = svg("g", { class: "pass" });
  group.append(svg("rect", { x: x - 3, y: HEAD - 3, width: size.column + 6, height: rows * ROW + 4, rx: 9 }));
  if (size === WIDE) group.append(label(text, x + size.column - 6, HEAD + 13, "small end"));
  return group;
}

/**
 * A token: the style sheet moves it from column to column as the phase changes.
 * @param {Chip} chip
 * @param {number} row
 * @param {Size} size
 */
function token(chip, row, size) {
  const group = svg("g", { class: `guess ${chip.status}${byTarget(chip) ? " by-target" : ""}` });
  group.style.setProperty("--jump", `${size.column + size.gap}px`);
  group.style.setProperty("--i", String(row));
  const y = HEAD + row * ROW;
  const width = size === WIDE ? 156 : size.column - 4;
  const text = shorten(visible(chip.text), size.short);
  const mark = label(MARKS[chip.status], 12, y + 15, "mark");
  group.append(svg("rect", { x: 3, y: y + 1, width, height: ROW - 4, rx: 6 }), label("?", 12, y + 15, "ask"), mark, label(text, 24, y + 15, "word"));
  if (chip.status === "rejected") group.append(svg("line", { x1: 22, x2: 26 + text.length * 7.6, y1: y + 11, y2: y + 11, class: "strike" }));
  return group;
}
