// The shared clock of all lanes: race time in milliseconds, slowed down. Draws nothing.

import { prefersReducedMotion } from "../shared/dom.js";

const STEP_SHARE = 0.02; // of the race, that an arrow key moves

export class RaceClock {
  /** `moved()` after every change; `rested()` when the visitor's place is worth keeping. */
  constructor(moved, rested) {
    this.moved = moved;
    this.rested = rested;
    this.at = 0;
    this.end = 0;
    this.slower = 1;
    this.playing = false;
    this.frame = 0;
  }

  /** A new race plays by itself, unless a place was given or the visitor wants stillness: then the end is shown. */
  load({ end, slower, place }) {
    this.end = end;
    this.slower = slower;
    this.at = place == null ? 0 : Math.max(0, Math.min(place, end));
    if (place == null && prefersReducedMotion()) this.at = end;
    this.#run(place == null && !prefersReducedMotion());
  }

  get finished() {
    return this.at >= this.end;
  }

  toggle() {
    if (this.playing) return this.#rest();
    if (this.finished) this.at = 0;
    this.#run(true);
  }

  restart() {
    this.at = 0;
    this.#run(true);
  }

  seek(at) {
    this.at = Math.max(0, Math.min(at, this.end));
    this.#run(false);
  }

  nudge(direction) {
    this.seek(this.at + direction * STEP_SHARE * this.end);
    this.rested();
  }

  stop() {
    cancelAnimationFrame(this.frame);
  }

  #rest() {
    this.#run(false);
    this.rested();
  }

  #run(playing) {
    this.stop();
    this.playing = playing;
    this.last = null;
    if (playing) this.frame = requestAnimationFrame((now) => this.#tick(now));
    this.moved();
  }

  #tick(now) {
    // a hidden tab gets no frames: what it missed is not made up for at once
    const passed = this.last === null ? 0 : Math.min(now - this.last, 250);
    this.last = now;
    this.at = Math.min(this.at + passed / this.slower, this.end);
    if (this.finished) return this.#rest();
    this.frame = requestAnimationFrame((next) => this.#tick(next));
    this.moved();
  }
}
