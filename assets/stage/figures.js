// The three small charts: acceptance, acceptance by position in the draft, speedup.

import { find } from "../shared/dom.js";
import { percent, times } from "../shared/numbers.js";
import { label, svg } from "../shared/svg.js";
import { Plane, line, roundNumbers } from "./plane.js";

/** @import { FiguresAfter, StagePayload } from "../shared/payloads.js" */
/** @import { Margin, Span, Tick } from "./plane.js" */
/** @import { Style } from "./style.js" */

/** @typedef {"acceptance" | "positions" | "speedup"} FigureName */

/** @typedef {{ plot: HTMLElement, rounds: FiguresAfter[], done: number, style: Style, data: StagePayload }} Wanted */

/** @type {Record<FigureName, (wanted: Wanted) => SVGSVGElement>} */
const FIGURES = { acceptance: acceptanceFigure, positions: positionsFigure, speedup: speedupFigure };
const NAMES = /** @type {FigureName[]} */ (Object.keys(FIGURES));
const LABELLED_BARS = 8; // more bars than this are too narrow for labels
const WIDE_BARS = 5; // up to so many have room for larger labels
const BAR = 0.75; // of the distance between two bars
const DOT = 0.37; // of the letters' height
/** @type {Tick[]} */
const PERCENT = [[0, "0"], [50, "50"], [100, "100 %"]];

export class Figures {
  /** @param {HTMLElement} stage */
  constructor(stage) {
    /** @param {string} part */
    const parts = (part) => NAMES.map((name) => [name, find(stage, `[data-figure=${name}] ${part}`)]);
    /** @type {Record<FigureName, HTMLElement>} */
    this.values = Object.fromEntries(parts(".value"));
    this.counts = {
      acceptance: find(stage, "[data-figure=acceptance] .counts"),
      positions: find(stage, "[data-figure=positions] .counts"),
    };
    /** @type {Record<FigureName, HTMLElement>} */
    this.plots = Object.fromEntries(parts(".plot"));
    /** @type {StagePayload | null} */
    this.data = null;
    /** @type {FiguresAfter[]} */
    this.rounds = [];
    /** @type {string | null} */
    this.shown = null;
  }

  /** @param {StagePayload} data */
  load(data) {
    this.data = data;
    this.rounds = data.rounds.map((round) => round.after);
    this.shown = null;
  }

  /**
   * The figures after some rounds.
   * @param {number} done
   * @param {Style} style
   */
  show(done, style) {
    const { data, rounds } = this;
    if (!data) return;
    this.#showValues(done, data);
    const state = `${done} ${style.key}`;
    if (this.shown === state || !this.plots.speedup.clientWidth) return;
    this.shown = state;
    for (const name of NAMES) {
      const plot = this.plots[name];
      plot.replaceChildren(FIGURES[name]({ plot, rounds, done, style, data }));
    }
  }

  /**
   * @param {number} done
   * @param {StagePayload} data
   */
  #showValues(done, data) {
    const after = this.rounds[done - 1];
    this.values.acceptance.textContent = percent(after?.acceptance);
    this.counts.acceptance.textContent = fraction(after?.accepted, after?.drafted);
    this.values.positions.textContent = percent(after?.judgement);
    this.counts.positions.textContent = fraction(after?.accepted, after?.judged);
    const pending = after?.speedup === null && data.running; // the target alone is still writing these tokens
    this.values.speedup.textContent = pending ? "…" : times(after?.speedup);
  }
}

/**
 * The counts behind a percentage: 100 % of one token says less than 90 % of fifty.
 * @param {number} [part]
 * @param {number} [whole]
 */
function fraction(part, whole) {
  return whole ? ` = ${part} / ${whole}` : "";
}

/** @param {Wanted} wanted */
function acceptanceFigure({ plot, rounds, done, style }) {
  const values = rounds.map((round) => (round.acceptance === null ? null : round.acceptance * 100));
  const plane = new Plane(plot, margin(style), roundSpan(rounds.length), [0, 105]);
  const root = plane.root();
  root.append(plane.axes(roundTicks(rounds.length), PERCENT, style.letters, true));
  root.append(...lineSoFar(plane, values.slice(0, done), "accepted", style, (value) => `${value.toFixed(0)} %`));
  return root;
}

/** @param {Wanted} wanted */
function positionsFigure({ plot, rounds, done, style, data }) {
  /** @type {Array<[number, number]>} */
  const none = Array(data.draft_length).fill([0, 0]);
  const counts = rounds[done - 1]?.positions ?? none;
  const labelled = counts.length <= LABELLED_BARS;
  const plane = new Plane(plot, margin(style), [0.4, counts.length + 0.6], [0, 118]);
  const shown = counts.map((_, i) => i + 1).filter((position) => labelled || position % 3 === 1);
  const root = plane.root();
  root.append(plane.axes(shown.map((position) => [position, String(position)]), PERCENT, style.letters));
  const small = counts.length > WIDE_BARS ? "middle small" : "middle";
  for (const [i, [accepted, judged]] of counts.entries()) {
    if (!judged) continue;
    root.append(bar(plane, i + 1, accepted, judged));
    const above = plane.y((100 * accepted) / judged) - style.letters * 0.25;
    if (labelled) root.append(label(`${accepted}/${judged}`, plane.x(i + 1), above, `${small} count`)); // 1/1 is not 50/50
  }
  return root;
}

/** @param {Wanted} wanted */
function speedupFigure({ plot, rounds, done, style, data }) {
  const values = rounds.map((round) => round.speedup);
  const top = Math.max(1.5, ...values.filter((value) => value !== null)) * 1.12;
  const plane = new Plane(plot, margin(style), roundSpan(rounds.length), [0, top]);
  const root = plane.root();
  const right = plane.width - plane.margin.r;
  /** @type {Tick[]} */
  const ticks = roundNumbers([0, top], 4).map((value) => [value, `${value}×`]);
  root.append(plane.axes(roundTicks(rounds.length), ticks, style.letters));
  root.append(line(plane.x(plane.xSpan[0]), plane.y(1), right, plane.y(1), "break-even"));
  root.append(label("break-even 1×", right, plane.y(1) + style.letters * 1.1, "end break-even"));
  if (data.plain === null && !data.running) {
    root.append(label("the target alone was not recorded", plane.x(mean(plane.xSpan)), style.letters * 1.5, "middle"));
  }
  const known = data.plain === null ? [] : values.slice(0, done);
  root.append(...lineSoFar(plane, known, "corrected", style, (value) => `${value.toFixed(2)}×`));
  return root;
}

/**
 * @param {Style} style
 * @returns {Margin}
 */
function margin({ letters }) {
  return { l: letters * 3.3, r: letters * 0.7, t: letters * 0.5, b: letters * 1.8 };
}

/**
 * @param {number} count of rounds
 * @returns {Span}
 */
function roundSpan(count) {
  return [0.4, lastRound(count) + 0.6];
}

/**
 * @param {number} count of rounds
 * @returns {Tick[]}
 */
function roundTicks(count) {
  const end = lastRound(count);
  return [[1, "round 1"], ...[Math.ceil(end / 2), end].map((round) => /** @type {Tick} */ ([round, String(round)]))];
}

/** @param {number} count */
function lastRound(count) {
  return Math.max(count, 4);
}

/**
 * A line up to now with a dot at its end; each round's value as a tip.
 * @param {Plane} plane
 * @param {Array<number | null>} values
 * @param {string} className
 * @param {Style} style
 * @param {(value: number) => string} words
 */
function lineSoFar(plane, values, className, style, words) {
  const known = values.flatMap((value, i) => (value === null ? [] : [{ round: i + 1, value }]));
  if (!known.length) return [];
  const points = known.map(({ round, value }) => `${plane.x(round)},${plane.y(value)}`);
  const last = known[known.length - 1];
  const dot = svg("circle", { cx: plane.x(last.round), cy: plane.y(last.value), r: style.letters * DOT, class: `dot ${className}` });
  const tips = known.map(({ round, value }) => tip(plane, round, `round ${round}: ${words(value)}`));
  return [svg("polyline", { points: points.join(" "), class: `curve ${className}` }), dot, ...tips];
}

/**
 * A column over one round that nobody sees, with its words.
 * @param {Plane} plane
 * @param {number} round
 * @param {string} words
 */
function tip(plane, round, words) {
  const [from, to] = [plane.x(round - 0.5), plane.x(round + 0.5)];
  const { t, b } = plane.margin;
  return titled(svg("rect", { x: from, y: t, width: to - from, height: plane.height - t - b, class: "column" }), words);
}

/**
 * @param {Plane} plane
 * @param {number} position
 * @param {number} accepted
 * @param {number} judged
 */
function bar(plane, position, accepted, judged) {
  const [from, to] = [plane.x(position - BAR / 2), plane.x(position + BAR / 2)];
  const [top, bottom] = [plane.y((100 * accepted) / judged), plane.y(0)];
  const made = svg("rect", { x: from, y: top, width: to - from, height: bottom - top, class: "share accepted" });
  return titled(made, `position ${position}: ${accepted} of ${judged} judged`);
}

/**
 * @param {SVGElement} made
 * @param {string} words
 */
function titled(made, words) {
  const title = svg("title", {});
  title.textContent = words;
  made.append(title);
  return made;
}

/** @param {Span} span */
function mean([from, to]) {
  return (from + to) / 2;
}
