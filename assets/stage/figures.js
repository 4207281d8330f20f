// The three small charts, drawn by plotly.js. No token's text comes here: Plotly reads labels as a kind of HTML.

import { find } from "../shared/dom.js";
import { percent, times } from "../shared/numbers.js";
import { PLOT_CONFIG } from "../shared/plotly.js";
import { axis, baseLayout } from "./plotting.js";

/** @import { FiguresAfter, StagePayload } from "../shared/payloads.js" */
/** @import { PlotlyModule } from "../shared/plotly.js" */
/** @import { FrameQueue } from "./plotting.js" */
/** @import { Style } from "./style.js" */

/** @typedef {"acceptance" | "positions" | "speedup"} FigureName */

/** @typedef {(rounds: FiguresAfter[], done: number, style: Style, data: StagePayload) => { traces: object[], layout: object }} MakeFigure */

/** @type {Record<FigureName, MakeFigure>} */
const FIGURES = { acceptance: acceptanceFigure, positions: positionsFigure, speedup: speedupFigure };
const NAMES = /** @type {FigureName[]} */ (Object.keys(FIGURES));
const LABELLED_BARS = 8; // more bars than this are too narrow for labels
const WIDE_BARS = 5; // up to so many have room for larger labels

export class Figures {
  /**
   * @param {HTMLElement} stage
   * @param {FrameQueue} queue
   */
  constructor(stage, queue) {
    this.queue = queue;
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
   * @param {PlotlyModule | null} Plotly
   */
  show(done, style, Plotly) {
    const { data } = this;
    if (!data) return;
    this.#showValues(done, data);
    const state = `${done} ${Boolean(Plotly)} ${style.key}`;
    if (!Plotly || this.shown === state || !this.plots.speedup.clientWidth) return;
    this.shown = state;
    for (const name of NAMES) {
      this.queue.put(name, () => {
        const plot = this.plots[name];
        const { traces, layout } = FIGURES[name](this.rounds, done, style, data);
        Plotly.react(plot, traces, { ...baseLayout(style, plot), ...layout }, PLOT_CONFIG);
      });
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

/**
 * A line up to now with a dot at its end.
 * @param {Array<number | null>} values
 * @param {number} done
 * @param {string} colour
 * @param {string} hover
 */
function lineSoFar(values, done, colour, hover) {
  const y = values.slice(0, done);
  const x = y.map((_, i) => i + 1);
  const line = { x, y, type: "scatter", mode: "lines", connectgaps: true, line: { color: colour, width: 2.5 }, hovertemplate: hover };
  const dot = { x: x.slice(-1), y: y.slice(-1), type: "scatter", mode: "markers", cliponaxis: false };
  return [line, { ...dot, marker: { color: colour, size: 9 }, hoverinfo: "skip" }];
}

/**
 * @param {Style} style
 * @param {number} count
 */
function roundAxis(style, count) {
  const end = Math.max(count, 4);
  const tickvals = [1, Math.ceil(end / 2), end];
  return axis(style, { range: [0.4, end + 0.6], tickvals, ticktext: ["round 1", ...tickvals.slice(1)] });
}

/** @type {MakeFigure} */
function acceptanceFigure(rounds, done, style) {
  const values = rounds.map((round) => (round.acceptance === null ? null : round.acceptance * 100));
  return {
    traces: lineSoFar(values, done, style.accepted, "round %{x}: %{y:.0f} %<extra></extra>"),
    layout: {
      xaxis: roundAxis(style, rounds.length),
      yaxis: axis(style, { range: [0, 105], tickvals: [0, 50, 100], ticktext: ["0", "50", "100 %"], showgrid: true, gridcolor: style.line }),
    },
  };
}

/** @type {MakeFigure} */
function positionsFigure(rounds, done, style, data) {
  /** @type {Array<[number, number]>} */
  const none = Array(data.draft_length).fill([0, 0]);
  const counts = rounds[done - 1]?.positions ?? none;
  const shares = counts.map(([accepted, judged]) => (judged ? (100 * accepted) / judged : 0));
  const labelled = counts.length <= LABELLED_BARS;
  const bars = {
    x: counts.map((_, i) => i + 1),
    y: shares,
    type: "bar",
    marker: { color: style.accepted },
    text: counts.map(([accepted, judged]) => (judged && labelled ? `${accepted}/${judged}` : "")), // 1/1 is not 50/50
    textposition: "outside",
    textfont: { color: style.ink, size: counts.length > WIDE_BARS ? 10 : 12 },
    cliponaxis: false,
    textangle: 0,
    customdata: counts,
    hovertemplate: "position %{x}: %{customdata[0]} of %{customdata[1]} judged<extra></extra>",
  };
  return {
    traces: [bars],
    layout: {
      xaxis: axis(style, { range: [0.4, counts.length + 0.6], dtick: labelled ? 1 : 3, tick0: 1 }),
      yaxis: axis(style, { range: [0, 118], tickvals: [0, 50, 100], ticktext: ["0", "50", "100 %"] }),
    },
  };
}

/** @type {MakeFigure} */
function speedupFigure(rounds, done, style, data) {
  const values = rounds.map((round) => round.speedup);
  const top = Math.max(1.5, ...values.filter((value) => value !== null)) * 1.12;
  const breakEven = { type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: { color: style.rejected, width: 1.5, dash: "dash" } };
  const label = { xref: "paper", x: 1, xanchor: "right", y: 1, yanchor: "top", showarrow: false, font: { color: style.rejected, size: 12 } };
  /** @type {object[]} */
  const annotations = [{ ...label, text: "break-even 1×" }];
  if (data.plain === null && !data.running) {
    const text = "the target alone was not recorded";
    annotations.push({ xref: "paper", yref: "paper", x: 0.5, y: 1, yanchor: "top", showarrow: false, text });
  }
  return {
    traces: lineSoFar(values, data.plain === null ? 0 : done, style.corrected, "round %{x}: %{y:.2f}×<extra></extra>"),
    layout: {
      shapes: [breakEven],
      annotations,
      xaxis: roundAxis(style, rounds.length),
      yaxis: axis(style, { range: [0, top], nticks: 4, ticksuffix: "×" }),
    },
  };
}
