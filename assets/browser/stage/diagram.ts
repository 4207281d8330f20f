// The picture: draft model → target model → accept the start, correct the first error. It follows the playhead, and is
// drawn only where `data.diagram` is set (a lesson). It also marks the part of the stage the lesson is about, and moves
// the playhead to the lesson's place.

import { createElement, render } from "preact";
import { MARKS, byTarget, className } from "../shared/chips.js";
import { element, find } from "../shared/dom.js";
import { label, svg } from "../shared/svg.js";
import { shorten, visible } from "../shared/text.js";
import { ALONE_HEIGHT, aloneInWords, drawAlone } from "./alone.js";
import { DICE_HEIGHT, diceInWords, drawDice } from "./dice.js";
import { Lossless } from "./lossless.js";
import { PASS_HEIGHT, drawPass, passInWords } from "./pass.js";
import { speak } from "./plain_words.js";
import { drawStops, stopsHeight, stopsInWords } from "./stops.js";
import { isNarrow } from "./style.js";
import { drawTexts, textsHeight, textsInWords } from "./texts.js";
import { depthsOf } from "./tree.js";
import { drawWeights, weightsHeight, weightsInWords } from "./weights.js";
import { isPlain, nameOf, say, voiceOf } from "./words.js";
import type { Chip, DiagramPayload, Phase, RoundPayload, StagePayload } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";

export type Size = { width: number, column: number, gap: number, short: number }; // in pixels; `short` in characters
export type Drawing = { top: number, size: Size, words: DiagramPayload["words"], rule: StagePayload["rule"] }; // where a picture of its own begins
export type Column = "draft" | "target" | "text";
export type Under = Record<Column, string>; // what is said below each title

const COLUMNS: Column[] = ["draft", "target", "text"];
const ACTIVE: Record<Phase, Column> = { propose: "draft", check: "target", judge: "text" };
const WIDE: Size = { width: 784, column: 236, gap: 36, short: 20 };
const LONGEST_LINE = 13; // characters of a title in a narrow box
const NARROW: Size = { width: 348, column: 106, gap: 13, short: 8 };
const ROW = 23;
const HEAD = 46;
const STATE = 30; // from the top of the picture to the arrow of the target's state
const MOST_ROWS = 8; // tokens drawn; a longer draft says how many more there are

export class Diagram {
  box = element("div", "diagram");
  data: StagePayload | null = null;
  said;
  svg = svg("svg", {});
  drawn: string | null = null;
  place: string | null = null;

  constructor(public stage: HTMLElement, public playhead: Playhead) {
    this.box.hidden = true;
    find(stage, ".transport").after(this.box);
    this.said = voiceOf();
  }

  load(data: StagePayload) {
    this.data = data;
    const lesson = data.diagram;
    this.stage.classList.toggle("lesson", Boolean(lesson));
    this.box.hidden = !lesson;
    speak(this.stage, data);
    if (!lesson) return void (delete this.stage.dataset.focus, delete this.stage.dataset.picture);
    this.said = voiceOf(lesson.words);
    this.stage.dataset.focus = lesson.focus;
    this.stage.dataset.picture = lesson.picture;
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
    const { phase } = this.playhead;
    const index = Math.max(this.playhead.round, 0);
    const size = isNarrow(this.stage) ? NARROW : WIDE;
    const { rule, words } = this.data.diagram;
    const wanted = rule ? `lossless ${words}` : `${index} ${size.width}`;
    if (this.drawn !== wanted) this.#drawPicture(index, this.data, this.data.diagram, size);
    this.drawn = wanted;
    this.svg.dataset.phase = phase ?? "propose";
    this.svg.setAttribute("aria-label", this.#inWords(this.data.diagram, this.data.rounds[index], phase));
  }

  #inWords({ picture, words, passes, batch, stops }: DiagramPayload, round: RoundPayload, phase: Phase | null) {
    const at = Math.max(this.playhead.round, 0);
    if (picture === "weights" && passes) return weightsInWords(passes, words);
    if (picture === "texts" && batch) return textsInWords(batch, words);
    if (picture === "stops" && stops) return stopsInWords(stops, round, words);
    if (picture === "alone" && this.data) return aloneInWords(this.data, at, words);
    if (picture === "pass" && this.data) return passInWords(this.data, at, words, phase);
    const way = this.#wayInWords(round, phase);
    if (this.#seesTheState) return `${way} ${this.said("state_goes_back")}`;
    return picture === "dice" && phase === "judge" ? `${way} ${diceInWords(round, words, this.data?.rule)}` : way;
  }

  /** `index`: of the round */
  #drawPicture(index: number, data: StagePayload, { picture, words, passes, batch, stops, rule }: DiagramPayload, size: Size) {
    if (!rule || !this.box.querySelector(".lossless")) {
      render(null, this.box);
      this.box.replaceChildren();
    }
    if (rule) return render(createElement(Lossless, { recorded: rule, words, key: words }), this.box); // what the visitor did to q stays while its lesson and its words stay
    const round = data.rounds[index];
    const drawing = { top: 4, size, words, rule: data.rule };
    if (picture === "weights" && passes) this.#fill(size, weightsHeight(size), drawWeights(passes, drawing));
    else if (picture === "texts" && batch) this.#fill(size, textsHeight(batch, size), drawTexts(batch, drawing));
    else if (picture === "stops" && stops) this.#fill(size, stopsHeight(stops, data, size), drawStops(stops, data, index, drawing));
    else if (picture === "alone") this.#fill(size, ALONE_HEIGHT, drawAlone(data, index, drawing));
    else if (picture === "pass") this.#fill(size, PASS_HEIGHT, drawPass(data, index, drawing));
    else if (picture === "dice") {
      const under = { draft: this.said("dice_draft"), target: this.said("dice_target"), text: this.said("dice_text") };
      const columns = COLUMNS.flatMap((_, i) => this.#column(i, size, under, this.said("dice_title")));
      this.#fill(size, HEAD + DICE_HEIGHT, [...columns, ...drawDice(round, { ...drawing, top: HEAD })]);
    } else this.#draw(round, data, size);
    this.box.replaceChildren(this.svg);
  }

  #fill(size: Size, height: number, parts: SVGElement[]) {
    this.#empty(size, height);
    this.svg.append(...parts);
  }

  #empty(size: Size, height: number) {
    this.svg = svg("svg", { viewBox: `0 0 ${size.width} ${height}`, role: "img" });
  }

  #draw(round: RoundPayload, data: StagePayload, size: Size) {
    const rows = Math.min(rowsNeeded(data), MOST_ROWS) + 1;
    const height = HEAD + rows * ROW + 6;
    this.#empty(size, height);
    const drafted = round.chips.filter((chip) => !byTarget(chip));
    const under: Under = {
      draft: this.said(howDrafted(round, data), { count: drafted.length }),
      target: this.said("under_target"),
      text: this.said(`under_text_${data.rule}`),
    };
    COLUMNS.forEach((_, index) => this.svg.append(...this.#column(index, size, under)));
    if (this.#seesTheState) this.svg.append(...stateArrow(size, this.said("state")));
    if (drafted.length) this.svg.append(passFrame(size, Math.min(drafted.length, MOST_ROWS), this.said("one_pass")));
    const depths = round.tree ? depthsOf(round.tree) : [];
    const shown = drawnGuesses(round, drafted);
    shown.forEach((i, row) => this.svg.append(token(drafted[i], row, size, depths[i])));
    const own = round.chips.find(byTarget);
    const after = shown.findLastIndex((i) => drafted[i].status === "accepted") + 1; // a correction takes the next one's row
    if (own) this.svg.append(token(own, Math.min(after, MOST_ROWS), size));
    if (drafted.length > MOST_ROWS) this.svg.append(label(say("and_more", { more: drafted.length - MOST_ROWS }), 8, height - 12, "small"));
  }

  get #seesTheState() {
    return this.data !== null && this.data.method.sees_state;
  }

  #title(name: Column) {
    const own = name === "draft" && this.data && !isPlain(this.data) && this.data.method.title;
    return own || this.said(`title_of_${name}`);
  }

  /** The picture as a sentence, for a screen reader. */
  #wayInWords({ chips, tree }: RoundPayload, phase: Phase | null) {
    const [draft, target, text] = COLUMNS.map((column) => this.#title(column));
    const figures = { draft, target, text, now: this.#title(ACTIVE[phase ?? "propose"]) };
    if (phase !== "judge") return say("picture_shown", figures);
    const names = ["accepted", "rejected", tree ? "not_taken" : "discarded"] as const;
    const counts = names.map((name) => this.said(`count_${name}`, { count: chips.filter((chip) => nameOf(chip.status) === name).length }));
    const own = chips.find(byTarget)?.status;
    const then = own === "correction" || own === "bonus" || own === "own" ? [this.said(`then_${own}`)] : [];
    return say("picture_judged", { ...figures, result: [...counts, ...then].join(", ") });
  }

  /** `last`: another title of the last column */
  #column(index: number, size: Size, under: Under, last?: string) {
    const name = COLUMNS[index];
    const title = (name === "text" && last) || this.#title(name);
    const x = 1 + index * (size.column + size.gap);
    const parts = [
      svg("rect", { x, y: 1, width: size.column, height: HEAD - 10, rx: 8, class: `box ${name}` }),
      ...titleLines(title, x + size.column / 2, size, `title ${name}`),
    ];
    if (size === WIDE) parts.push(label(under[name], x + size.column / 2, 30, "small"));
    if (index) parts.push(arrow(x - size.gap + 3, x - 3));
    return parts;
  }
}

/** A title in its box, which on a phone has room for two lines. */
function titleLines(title: string, x: number, size: Size, classes: string) {
  if (size === WIDE) return [label(title, x, 16, classes)];
  const spaces = [...title.matchAll(/ /g)].map(({ index }) => index);
  const [middle] = spaces.toSorted((one, other) => Math.abs(one - title.length / 2) - Math.abs(other - title.length / 2));
  if (title.length <= LONGEST_LINE || middle === undefined) return [label(title, x, 23, classes)];
  return [label(title.slice(0, middle), x, 16, classes), label(title.slice(middle + 1), x, 31, classes)];
}

function rowsNeeded({ rounds, draft_length: longest, rule }: StagePayload) {
  return rule === "tree" ? Math.max(...rounds.map((round) => round.tree?.parents.length ?? 0), 1) : longest;
}

/** What is said of how the guesses are made. */
function howDrafted(round: RoundPayload, { method }: StagePayload) {
  if (round.tree) return "drafts_tree";
  return method.at_once ? "drafts_at_once" : "drafts_one_by_one";
}

/** The guesses that have a row: the first ones, and all that are accepted. Those of a tree stand as an outline. */
function drawnGuesses(round: RoundPayload, drafted: Chip[]) {
  const order = round.tree ? round.tree.rows.flat() : [...drafted.keys()];
  const beyond = round.tree ? order.slice(MOST_ROWS).filter((i) => drafted[i].status === "accepted") : [];
  return [...order.slice(0, MOST_ROWS - beyond.length), ...beyond];
}

function arrow(from: number, to: number, y: number = (HEAD - 8) / 2) {
  const tip = from < to ? "m-5 -4l5 4l-5 4" : "m5 -4l-5 4l5 4";
  return svg("path", { d: `M${from} ${y}H${to - Math.sign(to - from)}${tip}`, class: "arrow" });
}

/** From the target back to its head, below the way of the guesses. */
function stateArrow({ column, gap }: Size, name: string) {
  const left = column + 1;
  const back = arrow(left + gap - 3, left + 3, STATE);
  back.classList.add("state");
  return gap < WIDE.gap ? [back] : [back, label(name, left + gap / 2, STATE + 14, "small")];
}

function passFrame(size: Size, rows: number, text: string) {
  const x = 1 + size.column + size.gap;
  const group = svg("g", { class: "pass" });
  group.append(svg("rect", { x: x - 3, y: HEAD - 3, width: size.column + 6, height: rows * ROW + 4, rx: 9 }));
  if (size === WIDE) group.append(label(text, x + size.column - 6, HEAD + 13, "small end"));
  return group;
}

/** A token: the style sheet moves it from column to column as the phase changes. `depth`: in a tree */
function token(chip: Chip, row: number, size: Size, depth: number = 0) {
  const group = svg("g", { class: `guess ${className(chip.status)}${byTarget(chip) ? " by-target" : ""}` });
  group.style.setProperty("--jump", `${size.column + size.gap}px`);
  group.style.setProperty("--i", String(row));
  const y = HEAD + row * ROW;
  const x = depth * (size === WIDE ? 14 : 6);
  const width = (size === WIDE ? 156 : size.column - 4) - (size === WIDE ? 0 : x);
  const text = shorten(visible(chip.text), size.short);
  const mark = label(MARKS[chip.status], x + 12, y + 15, "mark");
  group.append(svg("rect", { x: x + 3, y: y + 1, width, height: ROW - 4, rx: 6 }), label("?", x + 12, y + 15, "ask"), mark, label(text, x + 24, y + 15, "word"));
  if (chip.status === "rejected") group.append(svg("line", { x1: x + 22, x2: x + 26 + text.length * 7.6, y1: y + 11, y2: y + 11, class: "strike" }));
  return group;
}
