// The menu “Save…”: the drawings of the page as they are shown, what is in sight as a slide, and all of it as a film. The
// browser makes each file itself.

import { find } from "../shared/dom.js";
import { download } from "../shared/download.js";
import { fileName } from "../shared/file_name.js";
import { svg } from "../shared/svg.js";
import { fileOf } from "./files.js";
import { Filming } from "./filming.js";

/** @import { Film } from "./film.js" */

/** @typedef {{ name: string, picture: string }} Slide */

/** @typedef {{ slide: () => Slide | null, film: () => Film | null, name: string, read?: () => void }} Slides what is played here; null: nothing yet */

/** What a style sheet gives a drawing, and a file must hold itself. */
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "text-anchor", "font-family", "font-size"];

export class Saving {
  /**
   * @param {HTMLElement} node
   * @param {Slides} slides
   */
  constructor(node, slides) {
    this.node = node;
    this.slides = slides;
    /** @type {HTMLDetailsElement} */
    this.menu = find(node, ".save");
    this.menu.addEventListener("toggle", () => this.#offer());
    this.menu.addEventListener("click", (event) => void this.#save(event.target));
    this.menu.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    this.menu.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !this.menu.contains(relatedTarget)) this.menu.open = false;
    });
    this.filming = new Filming(this.menu, slides.name);
  }

  /** Only the drawings that can be seen. */
  #offer() {
    /** @type {NodeListOf<HTMLElement>} */
    const rows = this.menu.querySelectorAll("[data-plot]");
    for (const row of rows) row.hidden = !this.#drawing(row)?.clientWidth;
  }

  /**
   * @param {HTMLElement} row
   * @returns {SVGSVGElement | null}
   */
  #drawing(row) {
    return this.node.querySelector(`${row.dataset.plot} > svg`);
  }

  /** @param {EventTarget | null} target */
  async #save(target) {
    if (!(target instanceof HTMLButtonElement)) return;
    const { value } = target;
    this.close(); // first: a dialog gives the focus back to where it was
    if (value === "film") return this.#film();
    if (value !== "png" && value !== "svg") return this.slides.read?.();
    const row = /** @type {HTMLElement} */ (target.closest("li"));
    const made = row.dataset.plot ? this.#plot(row) : this.slides.slide();
    if (made) download(await fileOf(made.picture, value), `${fileName(made.name)}.${value}`);
  }

  /**
   * @param {HTMLElement} row
   * @returns {Slide | null}
   */
  #plot(row) {
    const drawing = this.#drawing(row);
    if (!drawing) return null;
    const name = row.textContent?.replace(/PNG|SVG/g, "") ?? "";
    return { name, picture: new XMLSerializer().serializeToString(standingAlone(drawing, getComputedStyle(this.node).backgroundColor)) };
  }

  #film() {
    const film = this.slides.film();
    if (film) void this.filming.record(film);
  }

  stop() {
    this.filming.stop();
  }

  close() {
    this.menu.open = false;
    this.menu.querySelector("summary")?.focus();
  }
}

/**
 * A copy that needs no style sheet.
 * @param {SVGSVGElement} drawing
 * @param {string} background
 */
function standingAlone(drawing, background) {
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
  const copies = copy.querySelectorAll("*");
  drawing.querySelectorAll("*").forEach((shown, i) => {
    const style = getComputedStyle(shown);
    for (const name of DRAWN) copies[i].setAttribute(name, style.getPropertyValue(name));
  });
  const { width, height } = drawing.viewBox.baseVal;
  copy.prepend(svg("rect", { width, height, fill: background }));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width)); // a style sheet may have made it smaller
  copy.setAttribute("height", String(height));
  return copy;
}
