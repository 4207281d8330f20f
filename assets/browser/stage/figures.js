// The small charts: acceptance and speedup so far, both at each draft length, and acceptance by position in the draft.
// The run before is a pale line in each of the first three.

import { element, find } from "../shared/dom.js";
import { percent, times } from "../shared/numbers.js";
import { label, svg } from "../shared/svg.js";
import { PERCENT, estimated, figuresOf, inPercent, level, lineAhead, lineOfBefore, lineSoFar, margin, markOf, speedupSpan, speedupTicks, titled, trusted } from "./curves.js";
import { lengthsFigure } from "./lengths_figure.js";
import { Plane, line } from "./plane.js";
import { say } from "./words.js";

/** @import { FiguresAfter, StagePayload } from "../shared/payloads.js" */
/** @import { Asked, Reach } from "./curves.js" */
/** @import { Span, Tick } from "./plane.js" */
/** @import { Style } from "./style.js" */

/** @typedef {"acceptance" | "speedup" | "lengths" | "positions"} FigureName */

/**
 * @typedef {object} Wanted
 * @property {HTMLElement} plot
 * @property {FiguresAfter[]} rounds
 * @property {number} done rounds that are judged
 * @property {Style} style
 * @property {StagePayload} data
 * @property {Asked} asked
 * @property {Reach} reach
 */

/** @type {Record<FigureName, (wanted: Wanted) => SVGSVGElement>} */
const FIGURES = { acceptance: acceptanceFigure, speedup: speedupFigure, lengths: lengthsFigure, positions: positionsFigure };
const NAMES = /** @type {FigureName[]} */ (Object.keys(FIGURES));
const LEAST = { rounds: 4, speedup: 1.5, lengths: 1.5 }; // how far the axes go at least
const LABELLED_BARS = 8; // more bars than this are too narrow for labels
const WIDE_BARS = 5; // up to so many have room for larger labels
const BAR = 0.75; // of the distance between two bars

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
    this.doubt = find(stage, "[data-figure=speedup] .doubt");
    this.note = find(stage, "[data-figure=lengths] .note");
    /** @type {Record<FigureName, HTMLElement>} */
    this.plots = Object.fromEntries(parts(".plot"));
    /** @type {Record<FigureName, HTMLElement>} */
    this.figures = Object.fromEntries(parts(""));
    /** @type {StagePayload | null} */
    this.data = null;
    /** @type {FiguresAfter[]} */
    this.rounds = [];
    /** @type {string | null} */
    this.shown = null;
    /** @type {Reach} */
    this.reach = LEAST;
  }

  /** @param {StagePayload} data */
  load(data) {
    this.data = data;
    this.rounds = data.rounds.map((round) => round.after);
    this.reach = reachOf(data);
    this.shown = null;
    // Another system's run: no plain run is recorded beside it, and no other draft length can be replayed.
    this.figures.speedup.hidden = data.imported && data.plain === null;
    this.figures.lengths.hidden = data.imported && data.replay.why_not !== null;
  }

  /**
   * The figures after some rounds.
   * @param {number} done
   * @param {Style} style
   * @param {Asked} asked
   */
  show(done, style, asked) {
    const { data, rounds, reach } = this;
    if (!data) return;
    this.#showValues(done, data, asked);
    const { clientWidth, clientHeight } = this.plots.acceptance; // it is never hidden
    const state = `${done} ${style.key} ${asked.length} ${asked.run !== null} ${clientWidth} ${clientHeight}`;
    if (this.shown === state || !clientWidth) return;
    this.shown = state;
    for (const name of NAMES) {
      const plot = this.plots[name];
      const far = name === "lengths" ? { ...reach, speedup: reach.lengths } : reach;
      if (plot.clientWidth) plot.replaceChildren(FIGURES[name]({ plot, rounds, done, style, data, asked, reach: far }));
    }
  }

  /**
   * @param {number} done
   * @param {StagePayload} data
   * @param {Asked} asked
   */
  #showValues(done, data, asked) {
    const after = this.rounds[done - 1];
    this.values.acceptance.textContent = percent(after?.acceptance);
    this.counts.acceptance.textContent = fraction(after?.accepted, after?.drafted);
    this.values.positions.textContent = percent(after?.judgement);
    this.counts.positions.textContent = fraction(after?.accepted, after?.judged);
    const doubted = !trusted(data);
    this.doubt.textContent = doubted ? say("busy_when_measured") : "";
    const pending = after?.speedup === null && data.running; // the target alone is still writing these tokens
    this.values.speedup.textContent = pending ? "…" : after && doubted ? say("not_trusted") : times(after?.speedup);
    this.values.lengths.textContent = markInWords(data, asked);
    this.note.replaceChildren(...noteOn(data));
    this.note.title = data.replay.why_not ?? say("speedup_times", { times: data.replay.times });
  }
}

/**
 * @param {StagePayload} data
 * @param {Asked} asked
 */
function markInWords(data, asked) {
  const mark = markOf(data, asked);
  if (!mark) return "–";
  const speedup = mark.speedup === null ? "" : `, ${mark.kind === "estimated" ? `${estimated(mark)}×` : times(mark.speedup)}`;
  const figures = percent(mark.acceptance) + speedup;
  return mark.kind === "so_far" ? say("so_far", { figures }) : figures;
}

/**
 * Which curve is which, and where the speedup is from; or why there are no curves.
 * @param {StagePayload} data
 */
function noteOn(data) {
  const { replay } = data;
  if (replay.why_not !== null) return [replay.why_not];
  const accepted = [element("span", "left", say("key_of_accepted")), ", "];
  const known = Object.values(replay.lengths).some((run) => run.speedup !== null);
  if (!known) return [...accepted, say("no_speedup")];
  if (!trusted(data)) return [...accepted, element("span", "right", say("key_of_speedup_busy"))];
  return [...accepted, element("span", "right", say("key_of_speedup")), ", ", element("span", "right", say("key_of_measured"))];
}

/**
 * How far the axes go: to the end of what is drawn, the run and the one before.
 * @param {StagePayload} data
 * @returns {Reach}
 */
function reachOf({ rounds, replay, before, draft_length: length }) {
  const curves = replay.why_not === null ? Object.values(replay.lengths).map((run) => run.speedup) : [];
  const estimated = [...curves, ...(before?.lengths.map(([, speedup]) => speedup) ?? [])];
  const lines = [possible(rounds.map((round) => round.after.speedup), length), possible(before?.speedup ?? [], before?.draft_length ?? 0)];
  const highest = (/** @type {Array<number | null>} */ speedups) => Math.max(LEAST.speedup, ...speedups.map((speedup) => speedup ?? 0));
  return {
    rounds: Math.max(LEAST.rounds, rounds.length, before?.speedup.length ?? 0),
    speedup: highest([...lines.flat(), ...estimated]),
    lengths: highest([...lines.map((line) => line.at(-1) ?? null), ...estimated]),
  };
}

/**
 * No round writes more than its draft and one token, so what is faster than that was disturbed: an arrow shows it.
 * @param {Array<number | null>} speedups
 * @param {number} length of the draft
 */
function possible(speedups, length) {
  return speedups.map((speedup) => speedup && Math.min(speedup, length + 1));
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
function acceptanceFigure({ plot, rounds, done, style, data, asked, reach }) {
  const plane = new Plane(plot, margin(style), roundSpan(reach.rounds), [0, 105]);
  const root = plane.root();
  root.append(plane.axes(roundTicks(reach.rounds), PERCENT, style.letters, true));
  const said = /** @param {number} value */ (value) => `${value.toFixed(0)} %`;
  const shares = rounds.map((round) => inPercent(round.acceptance));
  root.append(...lineOfBefore(plane, data.before, "acceptance", style));
  if (data.before) root.append(...lineAhead(plane, shares, done, "accepted", style)); // a change is seen at once
  root.append(...lineSoFar(plane, shares.slice(0, done), "accepted", style, said));
  if (asked.run) root.append(...level(plane, inPercent(figuresOf(asked.run).acceptance), "accepted"));
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
function speedupFigure({ plot, rounds, done, style, data, asked, reach }) {
  const plane = new Plane(plot, margin(style), roundSpan(reach.rounds), speedupSpan(reach));
  const root = plane.root();
  root.append(plane.axes(roundTicks(reach.rounds), speedupTicks(reach), style.letters));
  root.append(line(plane.margin.l, plane.y(1), plane.width - plane.margin.r, plane.y(1), "break-even"));
  if (data.plain === null && !data.running) {
    root.append(label(say("alone_not_recorded"), plane.x(mean(plane.xSpan)), style.letters * 1.5, "middle"));
  }
  const known = data.plain === null ? [] : rounds.map(({ speedup }) => speedup);
  root.append(...lineOfBefore(plane, data.before, "speedup", style));
  if (data.before) root.append(...lineAhead(plane, known, done, "corrected", style));
  root.append(...lineSoFar(plane, known.slice(0, done), trusted(data) ? "corrected" : "corrected doubted", style, times));
  if (asked.run) root.append(...level(plane, asked.run.speedup, "corrected"));
  return root;
}

/**
 * @param {number} rounds
 * @returns {Span}
 */
function roundSpan(rounds) {
  return [0.4, rounds + 0.6];
}

/**
 * @param {number} rounds
 * @returns {Tick[]}
 */
function roundTicks(rounds) {
  return [[1, say("first_round")], ...[Math.ceil(rounds / 2), rounds].map((round) => /** @type {Tick} */ ([round, String(round)]))];
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
  return titled(made, say("position_figure", { position, accepted, judged }));
}

/** @param {Span} span */
function mean([from, to]) {
  return (from + to) / 2;
}
