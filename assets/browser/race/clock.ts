// The shared clock of all lanes: race time in milliseconds, slowed down. Draws nothing.

import { prefersReducedMotion } from "../shared/dom.js";
import type { RacePayload } from "../dist/payloads.js";

const STEP_SHARE = 0.02; // of the race, that an arrow key moves
const LONGEST_FRAME = 250; // ms: a hidden tab gets no frames, and the race does not jump when it returns

export class RaceClock {
  at = 0; // ms
  end = 0; // ms
  slower = 1;
  playing = false;
  frame = 0;
  last: number | null = null; // time of the last frame

  /** `moved`: called after every change. `rested`: called when the visitor has stopped at a place */
  constructor(public moved: () => void, public rested: () => void) {}

  /** A new race plays by itself, unless a place is given. With less motion asked for, its end is shown. */
  load({ end, slower, place }: Pick<RacePayload, "end" | "slower" | "place">) {
    this.end = end;
    this.slower = slower;
    const plays = place === null && !prefersReducedMotion();
    this.at = plays ? 0 : this.#inside(place ?? end);
    this.#run(plays);
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

  /** `at`: in ms */
  seek(at: number) {
    this.at = this.#inside(at);
    this.#run(false);
  }

  nudge(direction: 1 | -1) {
    this.seek(this.at + direction * STEP_SHARE * this.end);
    this.rested();
  }

  stop() {
    cancelAnimationFrame(this.frame);
  }

  #inside(at: number) {
    return Math.max(0, Math.min(at, this.end));
  }

  #rest() {
    this.#run(false);
    this.rested();
  }

  #run(playing: boolean) {
    this.stop();
    this.playing = playing;
    this.last = null;
    if (playing) this.frame = requestAnimationFrame((now) => this.#tick(now));
    this.moved();
  }

  #tick(now: number) {
    const passed = this.last === null ? 0 : Math.min(now - this.last, LONGEST_FRAME);
    this.last = now;
    this.at = Math.min(this.at + passed / this.slower, this.end);
    if (this.finished) return this.#rest();
    this.frame = requestAnimationFrame((next) => this.#tick(next));
    this.moved();
  }
}
