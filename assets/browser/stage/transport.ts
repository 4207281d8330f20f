// Buttons, scrubber, speed and keys: what a visitor does to the playhead.

import { find } from "../shared/dom.js";
import { listenForKeys } from "../shared/keys.js";
import { localize } from "../shared/localize.js";
import { say } from "./words.js";
import type { Move, Playhead } from "./playhead.js";

const KEYS: Record<string, Move> = {
  " ": "toggle",
  ArrowLeft: "back",
  ArrowRight: "forward",
  "shift+ArrowLeft": "roundBack",
  "shift+ArrowRight": "roundForward",
  Home: "first",
  End: "last",
};

export class Transport {
  scrubber: HTMLInputElement;
  play;
  shownPlaying: boolean | undefined = undefined;
  stop;

  constructor(stage: HTMLElement, public playhead: Playhead) {
    this.scrubber = find(stage, ".scrubber");
    this.play = find(stage, ".play");
    this.stop = listenForKeys(stage, KEYS, (move) => playhead.move(move));
    this.#listen(stage);
  }

  #listen(stage: HTMLElement) {
    const speed: HTMLSelectElement = find(stage, ".speed");
    find(stage, ".buttons").addEventListener("click", (event) => this.#press(event));
    for (const option of speed.options) option.text = localize(option.text);
    speed.addEventListener("change", () => this.playhead.setSpeed(Number(speed.value)));
    this.scrubber.addEventListener("input", () => this.playhead.seek(Number(this.scrubber.value)));
    this.scrubber.addEventListener("change", () => this.playhead.rested());
  }

  show() {
    const { step, last, playing, round, phase } = this.playhead;
    this.scrubber.max = String(Math.max(last, 0));
    this.scrubber.value = String(Math.max(step, 0));
    this.scrubber.disabled = last < 0;
    this.scrubber.style.setProperty("--filled", `${last > 0 ? (100 * Math.max(step, 0)) / last : 0}%`);
    this.scrubber.setAttribute("aria-valuetext", phase ? say(`at_${phase}`, { round: round + 1 }) : say("not_started"));
    if (this.shownPlaying === playing) return;
    this.shownPlaying = playing;
    this.play.classList.toggle("playing", playing);
    this.play.setAttribute("aria-label", say(playing ? "pause" : "play"));
  }

  #press({ target }: Event) {
    const button = target instanceof Element ? target.closest("button") : null;
    if (button) this.playhead.move(button.dataset.move as Move);
  }
}
