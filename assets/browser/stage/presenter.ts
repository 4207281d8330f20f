// What a presenter needs in the projector view: full screen, and keys that step wherever the focus is.

import { find } from "../shared/dom.js";
import { isEditable } from "../shared/keys.js";
import { say } from "./words.js";
import type { Move, Playhead } from "./playhead.js";

/** a clicker sends these */
const CLICKER: Record<string, Move> = { PageUp: "back", PageDown: "forward" };
/** inside the stage its parts have a use for them */
const ARROWS: Record<string, Move> = { ArrowLeft: "back", ArrowRight: "forward" };
const TAKES_ARROWS = ".tokens .chip, [type=range]";

export class Presenter {
  button = find(this.stage, ".full-screen");
  stop;

  constructor(public stage: HTMLElement, public playhead: Playhead) {
    this.button.hidden = !document.fullscreenEnabled;
    this.button.addEventListener("click", toggleFullScreen);
    stage.addEventListener("click", (event) => this.#leaveKeysToPlayhead(event));
    const onKey = (event: KeyboardEvent) => this.#key(event);
    const named = () => this.#nameButton();
    document.addEventListener("keydown", onKey, { capture: true }); // before a slider takes PageUp for itself
    document.addEventListener("fullscreenchange", named);
    this.stop = () => {
      document.removeEventListener("keydown", onKey, { capture: true });
      document.removeEventListener("fullscreenchange", named);
    };
  }

  get #presenting() {
    return this.stage.dataset.view === "projector";
  }

  #key(event: KeyboardEvent) {
    if (!this.#presenting || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.composedPath()[0];
    const move = CLICKER[event.key] ?? (target instanceof Node && this.stage.contains(target) ? undefined : ARROWS[event.key]);
    if (move) this.playhead.move(move);
    else if (event.key.toLowerCase() === "f" && !isEditable(target)) toggleFullScreen();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** A token or a slider that was clicked, not reached by keyboard, does not take the arrow keys. */
  #leaveKeysToPlayhead(event: MouseEvent) {
    const [target] = event.composedPath();
    if (!this.#presenting || event.detail === 0 || !(target instanceof Element)) return;
    const clicked = target.closest(TAKES_ARROWS);
    if (clicked instanceof HTMLElement) clicked.blur();
  }

  #nameButton() {
    this.button.textContent = say(document.fullscreenElement ? "leave_full_screen" : "full_screen");
  }
}

async function toggleFullScreen() {
  if (document.fullscreenElement) return document.exitFullscreen();
  try {
    await document.documentElement.requestFullscreen();
  } catch {
    // the browser or the page around refuses: everything stays as it is
  }
}
