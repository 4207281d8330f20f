// plotly.js: loaded once a page, from this server.

import { element } from "./dom.js";

/**
 * What is used of plotly.js.
 * @typedef {object} PlotlyModule
 * @property {(plot: HTMLElement, traces: object[], layout: object, config: object) => void} react
 * @property {(plot: HTMLElement) => void} purge
 * @property {(figure: { data: object[], layout: object, config: object }, file: object) => Promise<string>} downloadImage
 */

/** @typedef {Window & { Plotly?: PlotlyModule, specvizPlotly?: Promise<PlotlyModule> }} PlotlyWindow */

const PLOTLY_ADDRESS = "app/static/plotly.min.js";
export const PLOT_CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false, scrollZoom: false };

export const TOKENS_FIRST = 700; // ms: loading plotly.js blocks the page for up to a second, and the tokens should move first

/**
 * plotly.js, fetched once a page: the wait of the first who asks counts. Rejects where the file is missing.
 * @param {number} wait ms
 * @returns {Promise<PlotlyModule>}
 */
export function loadPlotly(wait) {
  const page = /** @type {PlotlyWindow} */ (window);
  page.specvizPlotly ??= new Promise((later) => setTimeout(later, wait)).then(() => fetchPlotly(page));
  return page.specvizPlotly;
}

/**
 * @param {PlotlyWindow} page
 * @returns {Promise<PlotlyModule>}
 */
function fetchPlotly(page) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(PLOTLY_ADDRESS, document.baseURI).href;
    script.onload = () => (page.Plotly ? resolve(page.Plotly) : reject(new Error("no Plotly")));
    script.onerror = () => {
      page.specvizPlotly = undefined; // the next mount tries again
      reject(new Error("plotly.js is missing"));
    };
    document.head.append(script);
  });
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
