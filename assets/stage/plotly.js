// plotly.js: loaded once a page, called at most once a frame, so that no frame is long.

import { element } from "../shared/dom.js";

/** @import { Style } from "./style.js" */

/**
 * What is used of plotly.js.
 * @typedef {object} PlotlyModule
 * @property {(plot: HTMLElement, traces: object[], layout: object, config: object) => void} react
 * @property {(plot: HTMLElement) => void} purge
 */

/** @typedef {Window & { Plotly?: PlotlyModule, specvizPlotly?: Promise<PlotlyModule> }} PlotlyWindow */

const PLOTLY_ADDRESS = "app/static/plotly.min.js";
export const PLOT_CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false, scrollZoom: false };

/**
 * plotly.js, fetched once a page. Rejects where the file is missing.
 * @returns {Promise<PlotlyModule>}
 */
export function loadPlotly() {
  const page = /** @type {PlotlyWindow} */ (window);
  page.specvizPlotly ??= new Promise((resolve, reject) => {
    if (page.Plotly) return resolve(page.Plotly);
    const script = document.createElement("script");
    script.src = new URL(PLOTLY_ADDRESS, document.baseURI).href;
    script.onload = () => (page.Plotly ? resolve(page.Plotly) : reject(new Error("no Plotly")));
    script.onerror = () => {
      page.specvizPlotly = undefined; // the next mount tries again
      reject(new Error("plotly.js is missing"));
    };
    document.head.append(script);
  });
  return page.specvizPlotly;
}

/**
 * Plotly writes its rules into the document's head, where a shadow root does not see them.
 * @param {Node} root
 */
export function adoptPlotlyStyles(root) {
  const plotlyStyle = document.getElementById("plotly.js-style-global");
  if (!(plotlyStyle instanceof HTMLStyleElement) || !plotlyStyle.sheet) return;
  if (!(root instanceof ShadowRoot) || root.querySelector(".plotly-rules")) return;
  const rules = [...plotlyStyle.sheet.cssRules].map((rule) => rule.cssText);
  root.append(element("style", "plotly-rules", rules.join("\n")));
}

/** Runs the latest of each named job, one a frame. */
export class FrameQueue {
  constructor() {
    /** @type {Map<string, () => void>} */
    this.jobs = new Map();
    this.frame = 0;
  }

  /**
   * @param {string} name
   * @param {() => void} job
   */
  put(name, job) {
    this.jobs.delete(name);
    this.jobs.set(name, job);
    this.frame ||= requestAnimationFrame(() => this.#run());
  }

  #run() {
    const [[name, job]] = this.jobs;
    this.jobs.delete(name);
    this.frame = this.jobs.size ? requestAnimationFrame(() => this.#run()) : 0;
    job();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.jobs.clear();
  }
}

/**
 * @param {Style} style
 * @param {HTMLElement} plot
 */
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

/**
 * @param {Style} style
 * @param {object} more
 */
export function axis(style, more) {
  return { fixedrange: true, zeroline: false, showgrid: false, showline: true, linecolor: style.line, ticks: "", ...more };
}
