// The three small charts, drawn by plotly.js. One Plotly call a frame at most, so that no frame is long.
// No token's text ever comes here: Plotly reads labels as a kind of HTML.

const PLOTLY_ADDRESS = "app/static/plotly.min.js";
const PLOT_CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false, scrollZoom: false };

/** plotly.js, fetched once a page. Rejects where the file is missing. */
function loadPlotly() {
  window.specvizPlotly ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly);
    const script = document.createElement("script");
    script.src = new URL(PLOTLY_ADDRESS, document.baseURI).href;
    script.onload = () => (window.Plotly ? resolve(window.Plotly) : reject(new Error("no Plotly")));
    script.onerror = () => {
      window.specvizPlotly = undefined; // the next mount tries again
      reject(new Error("plotly.js is missing"));
    };
    document.head.append(script);
  });
  return window.specvizPlotly;
}

/** Plotly writes its rules into the document's head, where a shadow root does not see them. */
function adoptPlotlyStyles(root) {
  const sheet = document.getElementById("plotly.js-style-global")?.sheet;
  if (!sheet || !(root instanceof ShadowRoot) || root.querySelector(".plotly-rules")) return;
  const style = element("style", "plotly-rules", [...sheet.cssRules].map((rule) => rule.cssText).join("\n"));
  root.append(style);
}

/** Runs the latest of each named job, one a frame. */
class FrameQueue {
  constructor() {
    this.jobs = new Map();
    this.frame = 0;
  }

  put(name, job) {
    this.jobs.delete(name);
    this.jobs.set(name, job);
    this.frame ||= requestAnimationFrame(() => this.#run());
  }

  #run() {
    const [name, job] = this.jobs.entries().next().value;
    this.jobs.delete(name);
    this.frame = this.jobs.size ? requestAnimationFrame(() => this.#run()) : 0;
    job();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.jobs.clear();
  }
}

class Figures {
  constructor(stage, queue) {
    this.queue = queue;
    this.values = {};
    this.plots = {};
    for (const figure of stage.querySelectorAll("[data-figure]")) {
      this.values[figure.dataset.figure] = figure.querySelector(".value");
      this.plots[figure.dataset.figure] = figure.querySelector(".plot");
    }
    this.rounds = [];
    this.shown = null;
  }

  load(data) {
    this.data = data;
    this.rounds = data.rounds.map((round) => round.after);
    this.shown = null;
  }

  /** Figures after `done` rounds. */
  show(done, style, Plotly) {
    this.#showValues(done);
    const state = `${done} ${Boolean(Plotly)} ${style.key}`;
    if (!Plotly || this.shown === state || !this.plots.speedup.clientWidth) return;
    this.shown = state;
    const draw = { acceptance: acceptanceFigure, positions: positionsFigure, speedup: speedupFigure };
    for (const [name, figure] of Object.entries(draw)) {
      this.queue.put(name, () => {
        const plot = this.plots[name];
        const { traces, layout } = figure(this.rounds, done, style, this.data);
        Plotly.react(plot, traces, { ...baseLayout(style, plot), ...layout }, PLOT_CONFIG);
      });
    }
  }

  #showValues(done) {
    const after = this.rounds[done - 1];
    this.values.acceptance.textContent = percent(after?.acceptance);
    this.values.positions.textContent = percent(after?.judgement);
    const pending = this.data.plain === null && this.data.running;
    this.values.speedup.textContent = pending && after ? "…" : times(after?.speedup);
  }
}

function baseLayout(style, plot) {
  return {
    width: plot.clientWidth,
    height: plot.clientHeight,
    margin: { l: 34, r: 8, t: 6, b: 20 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: style.font, size: 12, color: style.mute },
    showlegend: false,
    dragmode: false,
    hovermode: "closest",
    hoverdistance: -1,
    hoverlabel: { bgcolor: style.background, bordercolor: style.mute, font: { family: style.font, color: style.ink, size: 13 } },
    bargap: 0.25,
  };
}

function axis(style, more) {
  return { fixedrange: true, zeroline: false, showgrid: false, showline: true, linecolor: style.line, ticks: "", ...more };
}

/** A line up to now with a dot at its end. */
function lineSoFar(values, done, colour, hover) {
  const y = values.slice(0, done);
  const x = y.map((_, i) => i + 1);
  const line = { x, y, type: "scatter", mode: "lines", connectgaps: true, line: { color: colour, width: 2.5 }, hovertemplate: hover };
  const dot = { x: x.slice(-1), y: y.slice(-1), type: "scatter", mode: "markers", cliponaxis: false };
  return [line, { ...dot, marker: { color: colour, size: 9 }, hoverinfo: "skip" }];
}

function roundAxis(style, count) {
  const end = Math.max(count, 4);
  const tickvals = [1, Math.ceil(end / 2), end];
  return axis(style, { range: [0.4, end + 0.6], tickvals, ticktext: ["round 1", ...tickvals.slice(1)] });
}

function acceptanceFigure(rounds, done, style) {
  const values = rounds.map((round) => (round.acceptance == null ? null : round.acceptance * 100));
  return {
    traces: lineSoFar(values, done, style.accepted, "round %{x}: %{y:.0f} %<extra></extra>"),
    layout: {
      xaxis: roundAxis(style, rounds.length),
      yaxis: axis(style, { range: [0, 105], tickvals: [0, 50, 100], ticktext: ["0", "50", "100 %"], showgrid: true, gridcolor: style.line }),
    },
  };
}

function positionsFigure(rounds, done, style, data) {
  const counts = rounds[done - 1]?.positions ?? Array(data.draft_length).fill([0, 0]);
  const shares = counts.map(([accepted, judged]) => (judged ? (100 * accepted) / judged : 0));
  const bars = {
    x: counts.map((_, i) => i + 1),
    y: shares,
    type: "bar",
    marker: { color: style.accepted },
    text: counts.map(([, judged], i) => (judged && counts.length <= 8 ? `${Math.round(shares[i])}` : "")),
    textposition: "outside",
    textfont: { color: style.ink, size: 12 },
    cliponaxis: false,
    textangle: 0,
    customdata: counts,
    hovertemplate: "position %{x}: %{customdata[0]} of %{customdata[1]} judged<extra></extra>",
  };
  return {
    traces: [bars],
    layout: {
      xaxis: axis(style, { range: [0.4, counts.length + 0.6], dtick: counts.length > 8 ? 3 : 1, tick0: 1 }),
      yaxis: axis(style, { range: [0, 118], tickvals: [0, 50, 100], ticktext: ["0", "50", "100 %"] }),
    },
  };
}

function speedupFigure(rounds, done, style, data) {
  const values = rounds.map((round) => round.speedup);
  const top = Math.max(1.5, ...values.filter((value) => value != null)) * 1.12;
  const breakEven = { type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: { color: style.rejected, width: 1.5, dash: "dash" } };
  const label = { xref: "paper", x: 1, xanchor: "right", y: 1, yanchor: "top", showarrow: false, font: { color: style.rejected, size: 12 } };
  const annotations = [{ ...label, text: "break-even 1×" }];
  if (data.plain === null) {
    const text = data.running ? "once the target alone has run" : "the target alone was not recorded";
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
