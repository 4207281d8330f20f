// The link to the run on screen: copied, shown where nothing may be copied, and opened from a page that frames the stage.

import { copied } from "../shared/clipboard.js";
import { find } from "../shared/dom.js";
import { say } from "./words.js";
import type { StagePayload } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";

export type View = StagePayload["view"];

export class Share {
  button = find(this.stage, ".copy-link");
  field: HTMLInputElement = find(this.stage, ".copy-field");
  opener: HTMLAnchorElement = find(this.stage, ".open-link");
  link: Record<string, string> = {};
  mark = "?"; // what a link's parameters stand behind: a page without a server has them behind a #
  view: View = undefined;

  constructor(public stage: HTMLElement, public playhead: Playhead) {
    this.button.addEventListener("click", () => this.#copy());
    this.field.addEventListener("blur", () => (this.field.hidden = true));
  }

  /** `link`: the run's settings */
  load(link: Record<string, string>, view: View) {
    this.link = link;
    this.view = view;
    for (const way of [this.button, this.opener]) way.hidden = !Object.keys(link).length; // nothing here can run it again
  }

  /** The link back follows the playhead. */
  show() {
    if (this.view === "stage") this.opener.href = this.#address(undefined);
  }

  async #copy() {
    if (await copied(this.#address(this.view), this.field)) this.#thank();
  }

  /** Until the visitor does something else on the stage. */
  #thank() {
    this.button.textContent = say("link_copied");
    const again = () => (this.button.textContent = say("copy_link"));
    for (const act of ["pointerdown", "keydown"]) this.stage.addEventListener(act, again, { once: true });
  }

  #address(view: View) {
    return `${location.href.split(/[?#]/)[0]}${this.mark}${queryOf(this.link, this.playhead.step, view)}`;
  }
}

/**
 * A link's parameters: who opens it sees what its sender sees. `link`: the run's settings. `step`: of the playhead; before
 * the first one the link begins at the first
 */
export function queryOf(link: Record<string, string>, step: number, view: View) {
  const query = new URLSearchParams(link);
  query.set("step", String(Math.max(step, 0)));
  if (view) query.set("view", view);
  return query;
}
