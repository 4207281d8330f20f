// The draft length slider, the page's one control of it, and what the run on screen would have been at another length.
// While the slider is dragged, a strip of its own shows that replay, see assets/browser/trace/replay.ts. Releasing the slider asks
// for the real run.

import { find } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { LENGTHS } from "../trace/replay.js";
import { Strip } from "./strip.js";
import { say } from "./words.js";
import type { ReplayedLength, ReplayedRound, StagePayload } from "../dist/payloads.js";
import type { ShownChip } from "../shared/chips.js";
import type { Asked } from "./result.js";

export interface Callbacks {
  asked: (length: number) => void; // when the visitor has chosen a draft length
  runs: () => boolean; // whether another length can be run at all: a file that plays one run cannot
  changed: () => void; // when what to show has changed
  place: () => number; // how many tokens of the output lie before the playhead's round
}

const DYNAMIC = "dynamic:"; // how the setting of a tree begins whose depth is the draft length
const PASSING = 800; // ms: keys and presses that follow each other sooner ask for the last length only

export class Replay {
  data: StagePayload | null = null;
  slider: HTMLInputElement = find(this.stage, ".draft-length input");
  control = find(this.stage, ".draft-length") as HTMLElement;
  buttons: HTMLButtonElement[] = [...this.stage.querySelectorAll(".draft-length .by")].map((button) => button as HTMLButtonElement);
  strip = new Strip(find(this.stage, ".replayed"), () => {});
  dragging = false;
  byKey = false;
  timer: ReturnType<typeof setTimeout> | undefined = undefined;
  sent: number | null = null; // the length asked for last, until a run's settings have it

  constructor(public stage: HTMLElement, public tell: Callbacks) {
    this.slider.max = String(LENGTHS.length);
    this.slider.addEventListener("input", () => this.#move());
    this.slider.addEventListener("change", () => this.#settle());
    this.slider.addEventListener("blur", () => (this.dragging = this.timer !== undefined));
    this.slider.addEventListener("pointerdown", () => (this.byKey = false));
    this.slider.addEventListener("keydown", (event) => {
      this.byKey = true;
      if (event.key !== " " && event.key !== "Escape") event.stopPropagation(); // its own keys are not the playhead's; space is, and Escape is the tour's
    });
    for (const button of this.buttons) button.addEventListener("click", () => {
      this.byKey = true; // several presses on − or + are one question, as with keys
      this.slider.value = String(this.length + Number(button.value));
      this.#move();
      this.#settle();
    });
  }

  /** A run, new or grown. The slider follows the page's settings, unless the visitor is moving it. */
  load(data: StagePayload) {
    const isNew = data.gamma !== this.data?.gamma || data.run_id !== this.data?.run_id;
    this.data = data;
    const { tree, gamma, replay } = data;
    this.control.hidden = data.imported && replay.why_not !== null; // nothing here can run it again
    const shaped = tree !== null && !tree.startsWith(DYNAMIC); // has its own depth, which no slider changes
    const fixed = shaped || (!this.tell.runs() && replay.why_not !== null); // nor one of a run that can neither be run again nor replayed
    this.stage.toggleAttribute("data-fixed", fixed);
    find(this.stage, ".draft-length .fixed").textContent = shaped ? say("tree", { tree }) : fixed ? String(gamma) : "";
    find(this.stage, "#tip-fixed").textContent = fixed ? replay.why_not : "";
    if (data.gamma === this.sent) this.sent = null; // answered; until then what arrives answers something older
    if (isNew && !this.dragging && this.sent === null) this.slider.value = String(data.gamma);
    this.#show();
  }

  /** The replay on screen; null while the run itself is. */
  get shown() {
    if (!this.data || this.length === this.data.draft_length) return null;
    const { replay } = this.data;
    return replay.why_not === null ? (replay.lengths[this.length] ?? null) : null;
  }

  get length() {
    return Number(this.slider.value);
  }

  get wanted(): Asked {
    return { length: this.length, run: this.shown, released: this.sent !== null };
  }

  /** Two parts of the line above the strip: what it is, and its result. */
  wordsOf({ rounds, accepted, rejected, discarded, per_call: perCall }: ReplayedLength) {
    const counts = say("replay_counts", { accepted, rejected, discarded, tokens: fixed(perCall, 2) });
    return [say("replay_rounds", { length: this.length, rounds: rounds.length }), counts];
  }

  /** What is modelled and where its time is from, or why there is nothing modelled. */
  get note() {
    const replay = this.data?.replay;
    if (!replay) return "";
    if (replay.why_not === null) return this.shown ? say(replay.exact ? "replay_exact" : "replay_not_exact", { times: replay.times }) : "";
    if (this.control.hidden) return "";
    return this.length !== this.data?.draft_length || this.dragging ? replay.why_not : "";
  }

  #move() {
    this.dragging = true;
    this.stop();
    this.#show();
    this.tell.changed();
  }

  #settle() {
    this.stop();
    this.dragging = true; // until it is asked for: a run that arrives now must not move the slider
    this.timer = setTimeout(() => {
      this.stop();
      this.dragging = false;
      const again = !this.tell.runs() || this.length === (this.sent ?? this.data?.gamma);
      if (!again) this.sent = this.length;
      this.tell.changed();
      if (!again) this.tell.asked(this.length);
    }, this.byKey ? PASSING : 0);
  }

  #show() {
    const [shortest, longest] = [Number(this.slider.min), Number(this.slider.max)];
    find(this.control, "output").textContent = String(this.length);
    const [less, more] = this.buttons;
    [less.disabled, more.disabled] = [this.length <= shortest, this.length >= longest];
    this.slider.style.setProperty("--filled", `${((this.length - shortest) / (longest - shortest)) * 100}%`);
    const shown = this.shown;
    this.stage.classList.toggle("modelled", Boolean(shown));
    this.slider.setAttribute("aria-valuetext", shown ? `${this.length}: ${this.wordsOf(shown)[1]}` : `${this.length}`);
    if (!this.data || !shown || this.data.replay.why_not !== null) return this.strip.clear();
    const { prompt, method, replay } = this.data;
    const rounds = unfold(shown.rounds, replay.tokens);
    this.strip.load({ prompt, rounds, translated: false, method }, true);
    Object.assign(this.strip, { top: null, whole: true });
    const beyond = rounds.findIndex((round) => round.start > this.tell.place());
    this.strip.show(beyond < 0 ? rounds.length - 1 : beyond - 1, "judge", true);
  }

  reset() {
    this.stop();
    this.dragging = false;
    this.sent = null;
    if (!this.data || this.length === this.data.gamma) return;
    this.slider.value = String(this.data.gamma);
    this.#show();
    this.tell.changed();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

/** Replayed rounds as the strip draws them, each with the number of output tokens before it. `tokens`: of the output */
export function unfold(rounds: ReplayedRound[], tokens: string[]) {
  let at = 0;
  return rounds.map(([accepted, rejected, kind, known, unknown]) => {
    const start = at;
    const chips: ShownChip[] = tokens.slice(at, at + accepted).map((text) => ({ text, status: "accepted" }));
    const others = [...known, ...(Array(unknown).fill(null) as null[])];
    for (const [i, text] of others.entries()) chips.push({ text, status: i < rejected ? "rejected" : "discarded" });
    at += accepted;
    if (kind !== "none") chips.push({ text: tokens[at++], status: kind });
    return { start, chips };
  });
}
