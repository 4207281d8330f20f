// plotly.js: loaded once a page, from this server.

/** What is used of plotly.js. */
export interface PlotlyModule {
  react: (plot: HTMLElement, traces: object[], layout: object, config: object) => void;
  purge: (plot: HTMLElement) => void;
  downloadImage: (figure: { data: object[], layout: object, config: object }, file: object) => Promise<string>;
}

export type PlotlyWindow = Window & { Plotly?: PlotlyModule, specvizPlotly?: Promise<PlotlyModule> };

const PLOTLY_ADDRESS = "app/static/plotly.min.js";
export const PLOT_CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false, scrollZoom: false };

export const TOKENS_FIRST = 700; // ms: loading plotly.js blocks the page for up to a second, and the tokens should move first

/** plotly.js, fetched once a page: the wait of the first who asks counts. Rejects where the file is missing. `wait`: ms */
export function loadPlotly(wait: number): Promise<PlotlyModule> {
  const page = window as PlotlyWindow;
  page.specvizPlotly ??= new Promise((later) => setTimeout(later, wait)).then(() => fetchPlotly(page));
  return page.specvizPlotly;
}

function fetchPlotly(page: PlotlyWindow): Promise<PlotlyModule> {
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

/** Plotly writes its rules into the document's head, where a shadow root does not see them. */
export function adoptPlotlyStyles(root: Node) {
  const plotlyStyle = document.getElementById("plotly.js-style-global");
  if (!(plotlyStyle instanceof HTMLStyleElement) || !plotlyStyle.sheet) return;
  if (!(root instanceof ShadowRoot) || root.querySelector(".plotly-rules")) return;
  const rules = [...plotlyStyle.sheet.cssRules].map((rule) => rule.cssText);
  root.append(Object.assign(document.createElement("style"), { className: "plotly-rules", textContent: rules.join("\n") }));
}
