// The draft length, the page's one control of it, and what the run on screen would have been at another one. While the
// slider is dragged, a strip of its own shows that replay (computed before, in Python); letting go asks for the real run.

import { times } from "../shared/numbers.js";
import { Strip } from "./strip.js";

const BURST = 300; // ms: a key that follows another this soon waits as long for a next one
const KINDS = { correction: "correction", bonus: "bonus" };
const MODELLED = "MODELLED: replayed from this run’s tokens, not decoded";

export class Replay {
  /**
   * `asked(length)` when the visitor has settled on a draft length, `changed()` when what to show has changed; `place()`
   * is how many tokens of the output lie before the round the playhead is in.
   */
  constructor(stage, { asked, changed, place }) {
    Object.assign(this, { stage, asked, changed, place });
    this.slider = stage.querySelector(".draft-length input");
    this.value = stage.querySelector(".draft-length output");
    this.strip = new Strip(stage.querySelector(".replayed"), () => {});
    this.dragging = false;
    this.byKey = false;
    this.settled = -BURST; // when the visitor last did
    this.timer = 0;
    this.sent = null; // the length asked for last, until a run's settings have it
    this.slider.addEventListener("input", () => this.#move());
    this.slider.addEventListener("change", () => this.#settle());
    this.slider.addEventListener("blur", () => (this.dragging = this.timer > 0));
    this.slider.addEventListener("pointerdown", () => (this.byKey = false));
    this.slider.addEventListener("keydown", (event) => this.#key(event));
  }

  /** A run, new or grown. The slider stands where the page's settings do, unless it is being moved. */
  load(data) {
    const news = data.gamma !== this.data?.gamma || data.run_id !== this.data?.run_id;
    this.data = data;
    if (data.gamma === this.sent) this.sent = null; // answered; until then what comes answers something older
    if (news && !this.dragging && this.sent === null) this.slider.value = data.gamma;
    this.#show();
  }

  /** The replay on screen; null while the run itself is. */
  get shown() {
    return this.length === this.data?.draft_length ? null : (this.data?.replay.lengths?.[this.length] ?? null);
  }

  get length() {
    return Number(this.slider.value);
  }

  /** Two parts of the line above the strip: what it is, and what it comes to. */
  get words() {
    const { rounds, accepted, rejected, discarded, per_call: perCall, speedup } = this.shown;
    const counts = `${accepted} accepted · ${rejected} rejected · ${discarded} discarded · ${perCall.toFixed(2)} tokens per target call`;
    const time = speedup == null ? "" : ` · ${times(speedup)} modelled`;
    return [`γ = ${this.length}: ${rounds.length} ${rounds.length === 1 ? "round" : "rounds"}`, counts + time];
  }

  get badge() {
    return this.data.replay.nearly ? `${MODELLED}; near-ties may fall otherwise` : MODELLED;
  }

  /** Where the modelled time is from, or why there is nothing modelled. */
  get note() {
    if (this.shown) return `${this.badge}. Times: ${this.data.replay.times}.`;
    return this.length !== this.data.draft_length || this.dragging ? (this.data.replay.why_not ?? "") : "";
  }

  /** Its own keys are not the playhead's; space is. */
  #key(event) {
    this.byKey = true;
    if (event.key !== " ") event.stopPropagation();
  }

  #move() {
    this.dragging = true;
    this.stop();
    this.#show();
    this.changed();
  }

  #settle() {
    this.stop();
    const now = performance.now();
    const wait = this.byKey && now - this.settled < BURST ? BURST : 0;
    this.settled = now;
    this.dragging = true; // until it is asked for: a run that comes just then leaves the slider where it was put
    this.timer = setTimeout(() => this.#ask(), wait);
  }

  #ask() {
    this.stop();
    this.dragging = false;
    this.changed();
    if (this.length === (this.sent ?? this.data.gamma)) return;
    this.sent = this.length;
    this.asked(this.length);
  }

  #show() {
    this.value.textContent = this.length;
    this.slider.style.setProperty("--filled", `${((this.length - 1) / 15) * 100}%`);
    const shown = this.shown;
    this.stage.classList.toggle("modelled", Boolean(shown));
    this.slider.setAttribute("aria-valuetext", shown ? `${this.length}: ${this.words[1]}` : `${this.length}`);
    if (shown) this.#draw(shown);
    else this.strip.clear();
  }

  #draw({ rounds }) {
    const unfolded = unfold(rounds, this.data.replay.tokens);
    this.strip.load({ prompt: this.data.prompt, rounds: unfolded, translated: false }, true);
    this.strip.top = null;
    const beyond = unfolded.findIndex((round) => round.start > this.place());
    this.strip.showAll(beyond < 0 ? unfolded.length - 1 : beyond - 1);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }
}

/** Rounds as the strip draws them, from [accepted, rejected, kind, texts of the other guesses, how many more unknown]. */
function unfold(rounds, tokens) {
  let at = 0;
  return rounds.map(([accepted, rejected, kind, known, unknown]) => {
    const start = at;
    const kept = tokens.slice(at, at + accepted).map((text) => ({ text, status: "accepted" }));
    const others = [...known, ...Array(unknown).fill(null)];
    const lost = others.map((text, i) => ({ text, status: i < rejected ? "rejected" : "discarded" }));
    at += accepted;
    const own = KINDS[kind] ? [{ text: tokens[at++], status: kind }] : [];
    return { start, chips: [...kept, ...lost, ...own] };
  });
}
