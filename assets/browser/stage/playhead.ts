// Where the visitor is in the run, and the timer that moves it. Draws nothing.

import { prefersReducedMotion } from "../shared/dom.js";
import type { Phase, StagePayload } from "../dist/payloads.js";

export type Run = Pick<StagePayload, "run_id" | "more" | "playhead" | "phases"> & { rounds: readonly unknown[] };
export type Move = "toggle" | "first" | "back" | "forward" | "roundBack" | "roundForward" | "last";

/** milliseconds at 1× that each phase stays on screen */
export const DWELL: Record<Phase, number> = { propose: 750, check: 650, judge: 1150 };

export class Playhead {
  phases: Phase[] = [];
  step = -1; // counts the phases of all rounds; -1 before the first round
  last = -1;
  more = false; // rounds may still come
  playing = false;
  speed = 1;
  wanted: number | null = null; // a place to return to as soon as the run reaches it
  runId: string | null = null;
  timer: ReturnType<typeof setTimeout> | undefined = undefined; // of the next step; undefined while none is due

  /** `moved`: called after every change of step or state. `rested`: called when the visitor has stopped at a place */
  constructor(public moved: () => void, public rested: () => void) {}

  /** The index of the current round; -1 before the first. */
  get round() {
    return this.step < 0 ? -1 : Math.floor(this.step / this.phases.length);
  }

  get substep() {
    return Math.max(this.step, 0) % this.phases.length;
  }

  get phase() {
    return this.step < 0 ? null : this.phases[this.substep];
  }

  /** Rounds that are judged. */
  get done() {
    return this.phase === "judge" ? this.round + 1 : Math.max(this.round, 0);
  }

  /** Whether all of the run was played: nothing of it is to come. */
  get over() {
    return !this.more && !this.playing && this.step >= this.last;
  }

  get waiting() {
    return this.playing && this.more && this.step >= this.last;
  }

  load(run: Run) {
    this.phases = run.phases;
    if (run.run_id !== this.runId) this.#begin(run);
    this.last = run.rounds.length * this.phases.length - 1;
    this.more = run.more;
    if (this.wanted !== null) this.step = Math.min(this.wanted, this.last);
    else this.step = Math.min(Math.max(this.step, 0), this.last);
    if (!this.more && this.step >= this.last && this.last >= 0) this.playing = false;
    if (this.timer === undefined || !this.playing) this.#schedule(); // new rounds must not delay the step that is due
    this.moved();
  }

  /** A first run plays unless a place is given. A later run keeps the place of a visitor who stopped before the end. */
  #begin(run: Run) {
    const first = this.runId === null;
    this.runId = run.run_id;
    const following = this.playing || this.step >= this.last;
    if (first && run.playhead !== null) this.wanted = Math.max(0, run.playhead);
    else if (!first && !following) this.wanted ??= this.step;
    else if (prefersReducedMotion() && !this.playing) this.wanted = Infinity;
    else {
      this.stop();
      Object.assign(this, { wanted: null, step: 0, playing: true });
    }
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

  /** `step`: the nearest one inside the run is taken */
  seek(step: number) {
    this.playing = false;
    this.wanted = null;
    this.step = Math.max(Math.min(step, this.last), Math.min(0, this.last));
    this.#schedule();
    this.moved();
  }

  seekJudged(round: number) {
    this.seek((round + 1) * this.phases.length - 1);
  }

  move(name: Move) {
    if (name === "toggle") return this.toggle();
    const moves = {
      first: () => this.seek(0),
      back: () => this.seek(this.step - 1),
      forward: () => this.seek(this.step + 1),
      roundBack: () => this.seek((this.substep === 0 ? this.round - 1 : this.round) * this.phases.length),
      roundForward: () => this.seekJudged(this.phase === "judge" ? this.round + 1 : this.round),
      last: () => {
        this.seek(this.last);
        if (this.more) this.wanted = Infinity; // with it while the run still grows
      },
    };
    moves[name]();
    this.rested();
  }

  setSpeed(speed: number) {
    this.speed = speed;
    this.#schedule();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  #schedule() {
    this.stop();
    if (!this.playing || this.step >= this.last) return;
    this.timer = setTimeout(() => {
      this.step += 1;
      const ended = this.step >= this.last && !this.more;
      if (ended) this.playing = false;
      this.#schedule();
      this.moved();
      if (ended) this.rested();
    }, DWELL[this.phases[this.substep]] / this.speed);
  }
}
