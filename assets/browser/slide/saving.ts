// The menu “Save…”: what is in sight as a slide, and all of it as a film. The browser makes each file itself.

import { find } from "../shared/dom.js";
import { download } from "../shared/download.js";
import { fileName } from "../shared/file_name.js";
import { fileOf } from "./files.js";
import { Filming } from "./filming.js";
import type { Film } from "./film.js";

export type Slide = { name: string, picture: string };
export type Slides = { slide: () => Slide | null, film: () => Film | null, name: string, read?: () => void }; // what is played here; null: nothing yet

export class Saving {
  menu: HTMLDetailsElement;
  filming;
  ending = new AbortController();

  constructor(node: HTMLElement, public slides: Slides) {
    this.menu = find(node, ".save");
    this.menu.addEventListener("click", (event) => void this.#save(event.target));
    this.menu.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    this.menu.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !this.menu.contains(relatedTarget)) this.menu.open = false;
    });
    document.addEventListener("pointerdown", (event) => event.composedPath().includes(this.menu) || (this.menu.open = false), this.ending);
    this.filming = new Filming(this.menu, slides.name);
  }

  async #save(target: EventTarget | null) {
    if (!(target instanceof HTMLButtonElement)) return;
    const { value } = target;
    this.close(); // first: a dialog gives the focus back to where it was
    if (value === "film") return this.#film();
    if (value !== "png" && value !== "svg") return this.slides.read?.();
    const made = this.slides.slide();
    if (made) download(await fileOf(made.picture, value), `${fileName(made.name)}.${value}`);
  }

  #film() {
    const film = this.slides.film();
    if (film) void this.filming.record(film);
  }

  stop() {
    this.filming.stop();
    this.ending.abort();
  }

  close() {
    this.menu.open = false;
    this.menu.querySelector("summary")?.focus();
  }
}
