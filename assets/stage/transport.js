// Buttons, scrubber, speed, keys and the link: what a visitor does to the playhead.

import { find } from "../shared/dom.js";
import { listenForKeys } from "../shared/keys.js";

/** @import { Move, Playhead } from "./playhead.js" */

/** @type {Record<string, Move>} */
const KEYS = {
  " ": "toggle",
  ArrowLeft: "back",
  ArrowRight: "forward",
  "shift+ArrowLeft": "roundBack",
  "shift+ArrowRight": "roundForward",
  Home: "first",
  End: "last",
};
const COPIED_SHOWN = 2500; // ms

export class Transport {
  /**
   * @param {HTMLElement} stage
   * @param {Playhead} playhead
   */
  constructor(stage, playhead) {
    this.playhead = playhead;
    /** @type {HTMLInputElement} */
    this.scrubber = find(stage, ".scrubber");
    this.play = find(stage, ".play");
    this.copyButton = find(stage, ".copy-link");
    /** @type {HTMLInputElement} */
    this.copyField = find(stage, ".copy-field");
    /** @type {Record<string, string>} */
    this.link = {};
    /** @type {boolean | undefined} */
    this.shownPlaying = undefined;
    this.stop = listenForKeys(stage, KEYS, (move) => playhead.move(move));
    this.#listen(stage);
  }

  /** @param {HTMLElement} stage */
  #listen(stage) {
    /** @type {HTMLSelectElement} */
    const speed = find(stage, ".speed");
    find(stage, ".buttons").addEventListener("click", (event) => this.#press(event));
    speed.addEventListener("change", () => this.playhead.setSpeed(Number(speed.value)));
    this.scrubber.addEventListener("input", () => this.playhead.seek(Number(this.scrubber.value)));
    this.scrubber.addEventListener("change", () => this.playhead.rested());
    this.copyButton.addEventListener("click", () => this.#copy());
    this.copyField.addEventListener("blur", () => (this.copyField.hidden = true));
  }

  show() {
    const { step, last, playing, round, phase } = this.playhead;
    this.scrubber.max = String(Math.max(last, 0));
    this.scrubber.value = String(Math.max(step, 0));
    this.scrubber.disabled = last < 0;
    this.scrubber.style.setProperty("--filled", `${last > 0 ? (100 * Math.max(step, 0)) / last : 0}%`);
    this.scrubber.setAttribute("aria-valuetext", step < 0 ? "not started" : `round ${round + 1}, ${phase}`);
    if (this.shownPlaying === playing) return;
    this.shownPlaying = playing;
    this.play.classList.toggle("playing", playing);
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  /** @param {Event} event */
  #press({ target }) {
    const button = target instanceof Element ? target.closest("button") : null;
    if (button) this.playhead.move(/** @type {Move} */ (button.dataset.move));
  }

  async #copy() {
    const address = this.#address();
    try {
      await navigator.clipboard.writeText(address);
      this.copyField.hidden = true;
      this.copyButton.textContent = "Link copied";
      setTimeout(() => (this.copyButton.textContent = "Copy link"), COPIED_SHOWN);
    } catch {
      this.copyField.hidden = false; // no clipboard here (plain http, or refused): the visitor copies it by hand
      this.copyField.value = address;
      this.copyField.focus();
      this.copyField.select();
    }
  }

  #address() {
    const query = new URLSearchParams(this.link);
    query.set("step", String(Math.max(this.playhead.step, 0)));
    return `${location.origin}${location.pathname}?${query}`;
  }
}
