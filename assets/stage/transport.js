// Buttons, scrubber, speed, keys and the link: what a visitor does to the playhead.

import { listenForKeys } from "../shared/keys.js";

const KEYS = {
  " ": "toggle",
  ArrowLeft: "back",
  ArrowRight: "forward",
  "shift+ArrowLeft": "roundBack",
  "shift+ArrowRight": "roundForward",
  Home: "first",
  End: "last",
};

export class Transport {
  constructor(stage, playhead) {
    this.stage = stage;
    this.playhead = playhead;
    this.scrubber = stage.querySelector(".scrubber");
    this.play = stage.querySelector(".play");
    this.link = {};
    stage.querySelector(".buttons").addEventListener("click", (event) => this.#press(event));
    stage.querySelector(".speed").addEventListener("change", (event) => playhead.setSpeed(Number(event.target.value)));
    this.scrubber.addEventListener("input", () => playhead.seek(Number(this.scrubber.value)));
    this.scrubber.addEventListener("change", () => playhead.rested());
    stage.querySelector(".copy-link").addEventListener("click", () => this.#copy());
    stage.querySelector(".copy-field").addEventListener("blur", (event) => (event.target.hidden = true));
    this.stop = listenForKeys(stage, KEYS, (move) => playhead.move(move));
  }

  show() {
    const { step, last, playing, round, phase } = this.playhead;
    this.scrubber.max = Math.max(last, 0);
    this.scrubber.value = Math.max(step, 0);
    this.scrubber.disabled = last < 0;
    this.scrubber.style.setProperty("--filled", `${last > 0 ? (100 * Math.max(step, 0)) / last : 0}%`);
    this.scrubber.setAttribute("aria-valuetext", step < 0 ? "not started" : `round ${round + 1}, ${phase}`);
    if (this.shownPlaying === playing) return;
    this.shownPlaying = playing;
    this.play.classList.toggle("playing", playing);
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  #press(event) {
    const button = event.target.closest("button");
    if (button) this.playhead.move(button.dataset.move);
  }

  async #copy() {
    const address = this.#address();
    const button = this.stage.querySelector(".copy-link");
    const field = this.stage.querySelector(".copy-field");
    try {
      await navigator.clipboard.writeText(address);
      field.hidden = true;
      button.textContent = "Link copied";
      setTimeout(() => (button.textContent = "Copy link"), 2500);
    } catch {
      field.hidden = false; // no clipboard here (plain http, or refused): let them copy it by hand
      field.value = address;
      field.focus();
      field.select();
    }
  }

  #address() {
    const query = new URLSearchParams(this.link);
    query.set("step", Math.max(this.playhead.step, 0));
    return `${location.origin}${location.pathname}?${query}`;
  }
}
