// The picture: draft model → target model → keep the start, reject the rest. It follows the playhead, and is drawn only
// where `data.diagram` is set (a lesson). It also marks the part of the stage the lesson is about, and goes to its place.

import { isOwn } from "../shared/chips.js";
import { element } from "../shared/dom.js";
import { shorten, visible } from "../shared/text.js";

const SVG = "http://www.w3.org/2000/svg";
const PICTURE_WORDS = {
  technical: {
    draft: ["draft model", (n) => `guesses ${n} ${n === 1 ? "token" : "tokens"}, one by one`],
    target: ["target model", () => "checks them all in one pass"],
    text: ["text so far", () => "keep the start, reject the rest"],
    pass: "one pass",
    unjudged: "never judged",
  },
  plain: {
    draft: ["intern", (n) => `suggests ${n} ${n === 1 ? "word" : "words"}, one by one`],
    target: ["editor", () => "looks them all over at once"],
    text: ["the page", () => "keep the start, drop the rest"],
    pass: "one look",
    unjudged: "never read",
  },
};
const MARKS = { accepted: "✓", rejected: "✗", discarded: "⋯", correction: "↻", bonus: "+" };
const ACTIVE = { propose: "draft", check: "target", judge: "text" };
const WIDE = { width: 784, column: 236, gap: 36, short: 20 };
const NARROW = { width: 348, column: 106, gap: 13, short: 8 };
const ROW = 23;
const HEAD = 46;
const MOST_ROWS = 8; // tokens drawn; a longer draft says how many more there are

export class Diagram {
  constructor(stage, playhead) {
    this.stage = stage;
    this.playhead = playhead;
    this.box = element("div", "diagram");
    this.box.hidden = true;
    stage.querySelector(".transport").after(this.box);
  }

  load(data) {
    this.data = data;
    const lesson = data.diagram;
    this.stage.classList.toggle("lesson", Boolean(lesson));
    this.box.hidden = !lesson;
    if (!lesson) return void delete this.stage.dataset.focus;
    this.words = PICTURE_WORDS[lesson.words] ?? PICTURE_WORDS.technical;
    this.stage.dataset.focus = lesson.focus;
    this.drawn = null;
  }

  /** Once the playhead knows the run: to the lesson's place, when that is a new one. */
  settle() {
    const lesson = this.data.diagram;
    if (!lesson || this.place === lesson.place) return;
    this.place = lesson.place;
    this.playhead.seek(lesson.step);
  }

  show() {
    if (!this.data?.diagram) return;
    const { round, phase } = this.playhead;
    const size = this.stage.clientWidth < 560 ? NARROW : WIDE;
    if (this.drawn !== `${round} ${size.width}`) this.#draw(this.data.rounds[Math.max(round, 0)], size);
    this.drawn = `${round} ${size.width}`;
    this.svg.dataset.phase = phase ?? "propose";
    this.svg.setAttribute("aria-label", this.#inWords(this.data.rounds[Math.max(round, 0)], phase));
  }

  #draw(round, size) {
    const rows = Math.min(this.data.draft_length, MOST_ROWS) + 1;
    const height = HEAD + rows * ROW + 6;
    this.svg = svg("svg", { viewBox: `0 0 ${size.width} ${height}`, role: "img" });
    const drafted = round.chips.filter((chip) => MARKS[chip.status] && !isOwn(chip));
    ["draft", "target", "text"].forEach((name, i) => this.svg.append(...this.#column(name, i, size, drafted.length)));
    if (drafted.length) this.svg.append(passFrame(size, Math.min(drafted.length, MOST_ROWS), this.words.pass));
    drafted.slice(0, MOST_ROWS).forEach((chip, row) => this.svg.append(token(chip, row, size)));
    const own = round.chips.find(isOwn);
    const kept = drafted.filter((chip) => chip.status === "accepted").length; // a correction takes the next one's row
    if (own) this.svg.append(token(own, Math.min(kept, MOST_ROWS), size));
    if (drafted.length > MOST_ROWS) this.svg.append(label(`and ${drafted.length - MOST_ROWS} more`, 8, height - 12, "small"));
    this.box.replaceChildren(this.svg);
  }

  #column(name, index, size, drafted) {
    const x = 1 + index * (size.column + size.gap);
    const [title, under] = this.words[name];
    const parts = [
      svg("rect", { x, y: 1, width: size.column, height: HEAD - 10, rx: 8, class: `box ${name}` }),
      label(title, x + size.column / 2, size === WIDE ? 16 : 23, `title ${name}`),
    ];
    if (size === WIDE) parts.push(label(under(drafted), x + size.column / 2, 30, "small"));
    if (index) parts.push(arrow(x - size.gap + 3, x - 3));
    return parts;
  }

  /** The same as a sentence, for whoever cannot see it. */
  #inWords(round, phase) {
    const { draft, target, text } = this.words;
    const of = (status) => round.chips.filter((chip) => chip.status === status).length;
    const own = round.chips.find(isOwn);
    const fate = ["accepted", "rejected", "discarded"].map((status) => `${of(status)} ${status}`).join(", ");
    const judged = phase === "judge" ? `: ${fate}${own ? `, then one ${own.status}` : ""}` : "";
    const now = { propose: draft, check: target, judge: text }[phase ?? "propose"][0];
    return `${draft[0]}, then ${target[0]}, then ${text[0]}. Now: ${now}${judged}.`;
  }
}

function svg(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function label(text, x, y, className) {
  const made = svg("text", { x, y, class: className });
  made.textContent = text;
  return made;
}

function arrow(from, to) {
  const y = (HEAD - 8) / 2;
  return svg("path", { d: `M${from} ${y}H${to - 1}m-5 -4l5 4l-5 4`, class: "arrow" });
}

function passFrame(size, rows, text) {
  const x = 1 + size.column + size.gap;
  const group = svg("g", { class: "pass" });
  group.append(svg("rect", { x: x - 3, y: HEAD - 3, width: size.column + 6, height: rows * ROW + 4, rx: 9 }));
  if (size === WIDE) group.append(label(text, x + size.column - 6, HEAD + 13, "small end"));
  return group;
}

/** A token: the style sheet moves it from column to column as the phase changes. */
function token(chip, row, size) {
  const group = svg("g", { class: `guess ${chip.status}${isOwn(chip) ? " own" : ""}` });
  group.style.setProperty("--jump", `${size.column + size.gap}px`);
  group.style.setProperty("--i", row);
  const y = HEAD + row * ROW;
  const width = size === WIDE ? 156 : size.column - 4;
  const text = shorten(visible(chip.text ?? "?"), size.short);
  const mark = label(MARKS[chip.status], 12, y + 15, "mark");
  group.append(svg("rect", { x: 3, y: y + 1, width, height: ROW - 4, rx: 6 }), label("?", 12, y + 15, "ask"), mark, label(text, 24, y + 15, "word"));
  if (chip.status === "rejected") group.append(svg("line", { x1: 22, x2: 26 + text.length * 7.6, y1: y + 11, y2: y + 11, class: "strike" }));
  return group;
}
