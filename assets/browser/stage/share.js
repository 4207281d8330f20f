// The link to the run on screen: copied, shown where nothing may be copied, and opened from a page that frames the stage.

import { copied } from "../shared/clipboard.js";
import { find } from "../shared/dom.js";
import { say } from "./words.js";

/** @import { StagePayload } from "../shared/payloads.js" */
/** @import { Playhead } from "./playhead.js" */

/** @typedef {StagePayload["view"]} View */

export class Share {
  /**
   * @param {HTMLElement} stage
   * @param {Playhead} playhead
   */
  constructor(stage, playhead) {
    this.stage = stage;
    this.playhead = playhead;
    this.button = find(stage, ".copy-link");
    /** @type {HTMLInputElement} */
    this.field = find(stage, ".copy-field");
    /** @type {HTMLAnchorElement} */
    this.opener = find(stage, ".open-link");
    /** @type {Record<string, string>} */
    this.link = {};
    this.mark = "?"; // what a link's parameters stand behind: a page without a server has them behind a #
    /** @type {View} */
    this.view = undefined;
    this.button.addEventListener("click", () => this.#copy());
    this.field.addEventListener("blur", () => (this.field.hidden = true));
  }

  /**
   * @param {Record<string, string>} link the run's settings
   * @param {View} view
   */
  load(link, view) {
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

  /** @param {View} view */
  #address(view) {
    return `${location.href.split(/[?#]/)[0]}${this.mark}${queryOf(this.link, this.playhead.step, view)}`;
  }
}

/**
 * A link's parameters: who opens it sees what its sender sees.
 * @param {Record<string, string>} link the run's settings
 * @param {number} step of the playhead; before the first one the link begins at the first
 * @param {View} view
 */
export function queryOf(link, step, view) {
  const query = new URLSearchParams(link);
  query.set("step", String(Math.max(step, 0)));
  if (view) query.set("view", view);
  return query;
}
