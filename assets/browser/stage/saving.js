// Save a drawing of the stage as it is shown: SVG, or PNG at twice its size. The browser makes the file itself.

import { find } from "../shared/dom.js";
import { download } from "../shared/download.js";
import { fileName } from "../shared/file_name.js";
import { svg } from "../shared/svg.js";

const SCALE = 2; // of a PNG: pixels for each of the page's
/** What a style sheet gives a drawing, and a file must hold itself. */
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "text-anchor", "font-family", "font-size"];

export class Saving {
  /** @param {HTMLElement} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {HTMLDetailsElement} */
    this.menu = find(stage, ".save");
    this.menu.addEventListener("toggle", () => this.#offer());
    this.menu.addEventListener("click", (event) => void this.#save(event.target));
    this.menu.addEventListener("keydown", (event) => event.key === "Escape" && this.#close());
    this.menu.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !this.menu.contains(relatedTarget)) this.menu.open = false;
    });
  }

  /** Only the drawings that can be seen. */
  #offer() {
    for (const row of this.menu.querySelectorAll("li")) row.hidden = !this.#drawing(row)?.clientWidth;
  }

  /**
   * @param {HTMLElement} row
   * @returns {SVGSVGElement | null}
   */
  #drawing(row) {
    return this.stage.querySelector(`${row.dataset.plot} > svg`);
  }

  /** @param {EventTarget | null} target */
  async #save(target) {
    const row = target instanceof HTMLButtonElement && target.closest("li");
    const drawing = row && this.#drawing(row);
    if (!row || !drawing) return;
    const picture = standingAlone(drawing, getComputedStyle(this.stage).backgroundColor);
    const file = target.value === "png" ? await painted(picture) : new Blob([written(picture)], { type: "image/svg+xml" });
    download(file, `${fileName(row.textContent?.replace(/PNG|SVG/g, "") ?? "")}.${target.value}`);
    this.#close();
  }

  #close() {
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

/** @param {SVGSVGElement} picture */
function written(picture) {
  return new XMLSerializer().serializeToString(picture);
}

/**
 * @param {SVGSVGElement} picture
 * @returns {Promise<Blob>}
 */
async function painted(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(written(picture))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * image.width;
  canvas.height = SCALE * image.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((file) => (file ? resolve(file) : reject(new Error("no picture"))), "image/png"));
}
