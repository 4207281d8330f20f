// plotly.js: loaded once a page, called at most once a frame, so that no frame is long.

import { element } from "../shared/dom.js";

const PLOTLY_ADDRESS = "app/static/plotly.min.js";
export const PLOT_CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false, scrollZoom: false };

/** plotly.js, fetched once a page. Rejects where the file is missing. */
export function loadPlotly() {
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
export function adoptPlotlyStyles(root) {
  const sheet = document.getElementById("plotly.js-style-global")?.sheet;
  if (!sheet || !(root instanceof ShadowRoot) || root.querySelector(".plotly-rules")) return;
  const style = element("style", "plotly-rules", [...sheet.cssRules].map((rule) => rule.cssText).join("\n"));
  root.append(style);
}

/** Runs the latest of each named job, one a frame. */
export class FrameQueue {
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

export function baseLayout(style, plot) {
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

export function axis(style, more) {
  return { fixedrange: true, zeroline: false, showgrid: false, showline: true, linecolor: style.line, ticks: "", ...more };
}
