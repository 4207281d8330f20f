// The film that is being recorded: how far it is, the way to stop it, and what there is to say of it.

import { element } from "../shared/dom.js";
import { download } from "../shared/download.js";
import { fileName } from "../shared/file_name.js";
import { filmKind, lengthOf, recorded, type Film } from "./film.js";
import { say } from "./words.js";

export class Filming {
  box = element("div", "filming");
  news = element("p");
  progress = element("progress");
  button = element("button");
  stopping: AbortController | null = null; // of the film that is being recorded

  /** `menu`: that it is asked for in; its box stands beside it. `name`: of the file */
  constructor(public menu: HTMLElement, public name: string) {
    this.news.setAttribute("role", "status");
    this.progress.setAttribute("aria-label", say("how_far"));
    this.button.type = "button";
    this.button.addEventListener("click", () => this.stop());
    this.box.append(this.news, this.progress, this.button);
    this.box.hidden = true;
    menu.after(this.box);
  }

  async record({ frames, left }: Film) {
    const kind = filmKind();
    if (this.stopping) return this.button.focus();
    if (!kind) return this.#tell(say("no_film"));
    this.stopping = new AbortController();
    this.progress.max = lengthOf(frames);
    this.#tell(say("recording", { seconds: Math.ceil(lengthOf(frames) / 1000) }), true);
    this.button.focus();
    try {
      const made = await recorded(frames, kind, (ms) => (this.progress.value = ms), this.stopping.signal);
      if (made) download(made, `${fileName(this.name)}.${kind.slice("video/".length)}`);
      this.#tell(made ? left : "");
    } catch {
      this.#tell(say("no_film"));
    }
    this.stopping = null;
  }

  /** `news`: nothing takes the box away. `recording`: whether its button stops the film; else it closes the box */
  #tell(news: string, recording: boolean = false) {
    const root = this.box.getRootNode() as ShadowRoot | Document;
    const focused = this.box.contains(root.activeElement);
    this.box.hidden = !news;
    this.news.textContent = news;
    this.button.textContent = say(recording ? "stop" : "close");
    this.progress.hidden = !recording;
    this.progress.value = 0;
    if (!news && focused) this.menu.querySelector("summary")?.focus();
  }

  /** A film that is being recorded ends without a file; what was said goes. */
  stop() {
    if (this.stopping) this.stopping.abort();
    else this.#tell("");
  }
}
