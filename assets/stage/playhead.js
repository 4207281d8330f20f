// Where the visitor is in the run, and the clock that moves it. Draws nothing.

import { prefersReducedMotion } from "../shared/dom.js";

export const SUBSTEPS = 3; // propose, check, judge
export const PHASES = ["propose", "check", "judge"];
const DWELL = [750, 650, 1150]; // milliseconds at 1× that propose, check and judge stay on screen

export class Playhead {
  /** `moved()` after every change of step or state; `rested(step)` when the visitor's place is worth keeping. */
  constructor(moved, rested) {
    this.moved = moved;
    this.rested = rested;
    this.step = -1; // counts sub-steps; -1 before the first round
    this.last = -1;
    this.more = false; // rounds may still come
    this.playing = false;
    this.speed = 1;
    this.wanted = null; // a place to return to as soon as the run reaches it
    this.runId = null;
    this.timer = 0; // of the next step; 0 while none is due
  }

  get round() {
    return Math.floor(this.step / SUBSTEPS);
  }

  get phase() {
    return this.step < 0 ? null : PHASES[this.step % SUBSTEPS];
  }

  get waiting() {
    return this.playing && this.more && this.step >= this.last;
  }

  /** Rounds of a run, new or grown. */
  load(data) {
    if (data.run_id !== this.runId) this.#begin(data);
    this.last = data.rounds.length * SUBSTEPS - 1;
    this.more = data.more;
    if (this.wanted !== null) this.step = Math.min(this.wanted, this.last);
    else this.step = Math.min(Math.max(this.step, 0), this.last);
    if (!this.more && this.step >= this.last && this.last >= 0) this.playing = false;
    if (!this.timer || !this.playing) this.#schedule(); // rounds arriving must not hold up the step that is due
    this.moved();
  }

  /** A first run plays unless a place was given; a later one keeps the place of a visitor who had stopped inside. */
  #begin(data) {
    const first = this.runId === null;
    this.runId = data.run_id;
    const following = this.playing || this.step >= this.last;
    if (first && data.playhead != null) this.wanted = Math.max(0, data.playhead);
    else if (!first && !following) this.wanted ??= this.step;
    else if (prefersReducedMotion() && !this.playing) this.wanted = Infinity;
    else this.#restart();
  }

  #restart() {
    this.stop();
    this.wanted = null;
    this.step = 0;
    this.playing = true;
  }

  toggle() {
    if (this.playing) return this.pause();
    if (this.step >= this.last && !this.more) this.step = 0;
    this.wanted = null;
    this.playing = this.last >= 0 || this.more;
    this.#schedule();
    this.moved();
  }

  pause() {
    this.playing = false;
    this.#schedule();
    this.moved();
    this.rested();
  }

  seek(step) {
    this.playing = false;
    this.wanted = null;
    this.step = Math.max(Math.min(step, this.last), Math.min(0, this.last));
    this.#schedule();
    this.moved();
  }

  move(name) {
    const moves = {
      first: () => this.seek(0),
      back: () => this.seek(this.step - 1),
      forward: () => this.seek(this.step + 1),
      roundBack: () => this.seek((this.phase === "propose" ? this.round - 1 : this.round) * SUBSTEPS),
      roundForward: () => this.seek((this.phase === "judge" ? this.round + 2 : this.round + 1) * SUBSTEPS - 1),
      last: () => this.#follow(),
    };
    if (name === "toggle") return this.toggle();
    moves[name]();
    this.rested();
  }

  /** To the end, and with it while the run still grows. */
  #follow() {
    this.seek(this.last);
    if (this.more) this.wanted = Infinity;
  }

  setSpeed(speed) {
    this.speed = speed;
    this.#schedule();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }

  #schedule() {
    this.stop();
    if (!this.playing || this.step >= this.last) return;
    const dwell = DWELL[Math.max(this.step, 0) % SUBSTEPS] / this.speed;
    this.timer = setTimeout(() => this.#advance(), dwell);
  }

  #advance() {
    this.step += 1;
    const ended = this.step >= this.last && !this.more;
    if (ended) this.playing = false;
    this.#schedule();
    this.moved();
    if (ended) this.rested();
  }
}
