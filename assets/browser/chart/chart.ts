// A chart: a Plotly figure from the server, drawn when it can be seen, in the theme's colours and at the page's width.

import { find, fileName, onPaper, applyScheme } from "../shared/dom.js";
import { mount, type Loaded } from "../shared/mounting.js";
import { PLOT_CONFIG, TOKENS_FIRST, adoptPlotlyStyles, loadPlotly, type PlotlyModule } from "../shared/plotly.js";
import { layoutOf, themed } from "./layout.js";
import type { ChartPayload } from "../dist/payloads.js";

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

  /** Called by Streamlit for every change of data or theme. */
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
    for (const drawing of this.plot.querySelectorAll(".main-svg")) scalable(drawing);
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
  #look() {
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

/** Plotly draws for one size in pixels. With a view box, a style sheet can show the same drawing smaller. */
function scalable(drawing: Element) {
  const [width, height] = ["width", "height"].map((side) => drawing.getAttribute(side));
  drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
}

export default mount(".chart", (root) => new Chart(root));
