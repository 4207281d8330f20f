// A chart: a Plotly figure from the server, drawn when it can be seen, in the theme's colours and at the page's width.

import { applyScheme, fileName, find, onPaper } from "../shared/dom.js";
import { mount, type Loaded } from "../shared/mounting.js";
import { localize } from "../shared/numbers.js";
import type { ChartPayload } from "../dist/payloads.js";

export type Look = { ink: string, mute: string, line: string, veil: string, background: string, font: string, room: number };
export type Part = Record<string, unknown>; // a part of a Plotly layout

const NEARLY_SEEN = "300px"; // drawn this long before it scrolls into sight, where the browser knows scrollMargin
const STAGE = ".st-key-run"; // where the Watch page has its stage
const ASKED = "[role=dialog]"; // a visitor who opened one looks at it

class Chart {
  node = find(this.root, ".chart");
  plot = find(this.root, ".plot");
  missing = find(this.root, ".missing");
  coming = find(this.root, ".coming");
  saving: HTMLDetailsElement = find(this.root, ".save");
  data: ChartPayload | null = null;
  Plotly: PlotlyModule | null = null;
  fetching = false;
  seen = false;
  drawn = "";
  sight;
  sizes;
  stopPrinting;

  constructor(public root: ParentNode & Node) {
    this.saving.addEventListener("click", (event) => this.#save(event));
    const options = { rootMargin: NEARLY_SEEN, scrollMargin: NEARLY_SEEN };
    this.sight = new IntersectionObserver((entries) => {
      this.seen = entries.at(-1)?.isIntersecting ?? false;
      this.show();
    }, options);
    this.sight.observe(this.node);
    this.sizes = new ResizeObserver(() => this.show());
    this.sizes.observe(this.node);
    this.stopPrinting = onPaper(this.node, () => this.show());
  }

  load({ data }: Loaded<ChartPayload>) {
    this.data = data;
    this.plot.setAttribute("aria-label", data.alt);
    this.node.style.height = `${data.figure.layout.height}px`;
    applyScheme(this.node);
    this.show();
  }

  show() {
    const width = this.node.clientWidth;
    const wantsIt = this.seen || this.node.classList.contains("paper");
    if (!this.data || !wantsIt || !width) return;
    if (!this.Plotly) return void this.#fetchPlotly();
    const look = this.#look();
    const wanted = JSON.stringify([this.data.figure, look, width]);
    if (wanted === this.drawn) return;
    this.drawn = wanted;
    const { data, layout } = themed(this.data.figure, look); // a copy: Plotly writes into what it is given
    this.Plotly.react(this.plot, data, layoutOf(layout, look, width), PLOT_CONFIG);
    for (const drawing of this.plot.querySelectorAll(".main-svg")) { // Plotly draws for one size in pixels: with a view box, a style sheet can show it smaller
      drawing.setAttribute("viewBox", ["0 0", ...["width", "height"].map((side) => drawing.getAttribute(side))].join(" "));
    }
    this.coming.hidden = true;
    this.saving.hidden = false;
  }

  /** Save the figure as it is shown, on the theme's background. The browser makes the file itself. */
  #save({ target }: Event) {
    if (!(target instanceof HTMLButtonElement) || !this.data || !this.Plotly) return;
    const look = this.#look();
    const { data, layout } = themed(this.data.figure, look);
    const paper = { paper_bgcolor: look.background, plot_bgcolor: look.background };
    const figure = { data, layout: { ...layoutOf(layout, look, this.node.clientWidth), ...paper }, config: PLOT_CONFIG };
    void this.Plotly.downloadImage(figure, { format: target.value, scale: 2, filename: fileName(this.data.alt) });
    this.saving.open = false;
    this.saving.querySelector("summary")?.focus();
  }

  /** The theme's colours and font, as the style sheet has them. */
  #look(): Look {
    const style = getComputedStyle(this.node);
    return {
      ink: style.color,
      mute: style.getPropertyValue("--mute").trim(),
      line: style.getPropertyValue("--line").trim(),
      veil: style.getPropertyValue("--veil").trim(),
      background: style.backgroundColor,
      font: style.fontFamily,
      room: matchMedia("(pointer: coarse)").matches ? 48 : 28, // of the button that saves, see chart.css
    };
  }

  async #fetchPlotly() {
    if (this.fetching) return;
    this.fetching = true;
    try {
      this.Plotly = await loadPlotly(document.querySelector(STAGE) && !document.querySelector(ASKED) ? TOKENS_FIRST : 0);
      adoptPlotlyStyles(this.root);
    } catch {
      // said below
    }
    this.fetching = false;
    this.missing.hidden = this.Plotly !== null;
    this.coming.hidden = this.Plotly === null;
    if (this.Plotly) this.show();
  }

  stop() {
    this.sight.disconnect();
    this.sizes.disconnect();
    this.stopPrinting();
    this.Plotly?.purge(this.plot);
  }
}

// ---- plotly.js: loaded once a page, from this server

interface PlotlyModule {
  react: (plot: HTMLElement, traces: object[], layout: object, config: object) => void;
  purge: (plot: HTMLElement) => void;
  downloadImage: (figure: { data: object[], layout: object, config: object }, file: object) => Promise<string>;
}

type PlotlyWindow = Window & { Plotly?: PlotlyModule, specvizPlotly?: Promise<PlotlyModule> };

const PLOTLY_ADDRESS = "app/static/plotly.min.js";
const PLOT_CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false, scrollZoom: false };

const TOKENS_FIRST = 700; // ms: loading plotly.js blocks the page for up to a second, and the tokens should move first

/** plotly.js, fetched once a page: the wait of the first who asks counts. Rejects where the file is missing. `wait`: ms */
function loadPlotly(wait: number): Promise<PlotlyModule> {
  const page = window as PlotlyWindow;
  const fetched = () => new Promise<PlotlyModule>((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(PLOTLY_ADDRESS, document.baseURI).href;
    script.onload = () => (page.Plotly ? resolve(page.Plotly) : reject(new Error("no Plotly")));
    script.onerror = () => {
      page.specvizPlotly = undefined; // the next mount tries again
      reject(new Error("plotly.js is missing"));
    };
    document.head.append(script);
  });
  page.specvizPlotly ??= new Promise((later) => setTimeout(later, wait)).then(fetched);
  return page.specvizPlotly;
}

/** Plotly writes its rules into the document's head, where a shadow root does not see them. */
function adoptPlotlyStyles(root: Node) {
  const plotlyStyle = document.getElementById("plotly.js-style-global");
  if (!(plotlyStyle instanceof HTMLStyleElement) || !plotlyStyle.sheet) return;
  if (!(root instanceof ShadowRoot) || root.querySelector(".plotly-rules")) return;
  const rules = [...plotlyStyle.sheet.cssRules].map((rule) => rule.cssText);
  root.append(Object.assign(document.createElement("style"), { className: "plotly-rules", textContent: rules.join("\n") }));
}

// ---- what every chart looks like, before its own layout is added

/** A copy of a figure, with the theme's colours where it names them: "var(--ink)". */
export function themed<T>(figure: T, look: Look): T {
  const colours = { ink: look.ink, line: look.line, background: look.background };
  const named = /"var\(--(ink|line|background)\)"/g;
  return JSON.parse(JSON.stringify(figure).replace(named, (_, name: keyof typeof colours) => JSON.stringify(colours[name])));
}

/** `more` on top of `base`: objects inside are merged, anything else is replaced. */
export function merged(base: Part, more: Part): Part {
  const isPart = (value: unknown): value is Part => typeof value === "object" && value !== null && !Array.isArray(value);
  const both = { ...base };
  for (const [name, value] of Object.entries(more)) {
    const below = both[name];
    both[name] = isPart(below) && isPart(value) ? merged(below, value) : value;
  }
  return both;
}

/** A chart's layout: its own on top of the one that all charts share. */
export function layoutOf(own: Part, { ink, mute, line, veil, background, font, room }: Look, width: number) {
  const axis = {
    automargin: true,
    fixedrange: true, // a finger that scrolls the page must not zoom the chart
    zeroline: false,
    ticks: "",
    ticklabelstandoff: 4,
    autotickangles: [0, -40, -90], // where names do not fit
    title: { font: { size: 14 }, standoff: 12 },
  };
  const shared = {
    width,
    autosize: false,
    margin: { l: 8, r: room, t: 8, b: 8 }, // a legend is as wide as the axis: it ends before the button that saves
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: font, size: 12, color: mute },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { color: ink } },
    xaxis: { ...axis, showgrid: false },
    yaxis: { ...axis, gridcolor: line },
    dragmode: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: background, bordercolor: mute, font: { family: font, color: ink, size: 13 } },
    template: { layout: { annotationdefaults: { bgcolor: veil } } }, // a label over a line stays readable
    separators: localize(".,"), // of decimals and of thousands
    uirevision: "same", // what the visitor hid in the legend stays hidden when the numbers change
  };
  return merged(shared, own);
}

export default mount(".chart", (root) => new Chart(root));
