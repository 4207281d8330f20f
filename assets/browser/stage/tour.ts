// The tour of a first visit. One beat at a time says what to look at and what to do, lights up that part of the stage, and
// goes on when the visitor has done it. Its place is reported, so that the page's address holds it.

import { element, find, sentence } from "../shared/dom.js";
import { listenForKeys } from "../shared/keys.js";
import { whatWasDone, type Chosen, type Doing } from "./until.js";
import { say } from "./words.js";
import type { Beat, StagePayload, TourPayload } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";
import type { Replay } from "./replay.js";

const CLOSED = 0; // as a place: no beat is open

export class Tour {
  report: (at: number) => void = () => {};
  data: StagePayload | null = null;
  tour: TourPayload | null = null;
  at = CLOSED; // the beat, from 1; one more than the beats: the end
  chosen: Chosen | null = null;
  released: Doing["released"] = null;
  panel = element("section", "tour");
  text = element("div", "tour-text");
  place = element("span", "tour-place");
  back = button(say("back"), () => this.#jump(this.at - 1));
  skip = button(say("skip"), () => this.#jump(this.at + 1));
  end = button("", () => this.leave());
  stop;

  /** `tidy`: puts the stage in order for a beat */
  constructor(public stage: HTMLElement, public playhead: Playhead, public replay: Replay, public tidy: (keepsToken: boolean) => void) {
    this.#build();
    this.stop = listenForKeys(stage, { Escape: "leave" }, () => this.at && this.leave());
  }

  #build() {
    this.panel.setAttribute("aria-label", say("tour"));
    this.panel.tabIndex = -1;
    this.panel.hidden = true;
    this.text.setAttribute("role", "status");
    const buttons = element("div", "tour-buttons");
    buttons.append(this.place, this.back, this.skip, this.end);
    this.panel.append(this.text, buttons);
    find(this.stage, ".strips").before(this.panel);
  }

  /** The open beat. */
  get beat(): Beat | null {
    return this.tour?.tour.beats[this.at - 1] ?? null;
  }

  /** A payload. The place in it counts only where the tour was opened again; afterwards the stage knows better. */
  load(data: StagePayload) {
    const otherRun = data.run_id !== this.data?.run_id;
    this.data = data;
    if (data.tour && data.tour.started !== this.tour?.started) {
      this.tour = data.tour;
      this.#enter(data.tour.at, null);
      this.panel.focus({ preventScroll: true });
      this.panel.scrollIntoView(); // below it is what it is about
      this.#bringIntoSight();
    } else if (otherRun || (!data.tour && this.beat)) this.#close();
    this.#light();
  }

  /** Whether the visitor has done what the open beat asks for. */
  check() {
    if (!this.data || !this.beat) return;
    const { step, last, round, phase, done } = this.playhead;
    const { chosen, released } = this;
    const did = whatWasDone(this.beat, { step, last, round, phase, done, chosen, released }, this.data.rounds);
    if (did === null) return;
    if (this.beat.until === "length") return this.#pause(did);
    this.#enter(this.at + 1, did);
    this.report(this.at);
  }

  /** The slider stays where the visitor put it until they go on: they look at what it changed. */
  #pause(did: string) {
    this.text.replaceChildren(sentence("p", "tour-did", did), element("p", "tour-asks", say("look_then_next")));
    this.skip.textContent = say("next");
    this.skip.removeAttribute("aria-label");
    this.#bringIntoSight();
  }

  /** A token that the visitor clicked, or pressed Enter on. */
  choose(chosen: Chosen) {
    this.chosen = chosen;
    this.check();
  }

  /** The draft length at which the slider was released. Whether that is the tour's business: while a beat is open nothing runs. */
  takes(length: number): boolean {
    if (!this.beat) return false;
    const run = this.replay.shown;
    this.released = run && { length, run };
    this.check();
    return true;
  }

  leave() {
    this.#close();
    this.report(CLOSED);
    find(this.stage, ".play").focus({ preventScroll: true });
  }

  #jump(at: number) {
    this.#enter(at, null);
    this.report(at);
    this.panel.focus({ preventScroll: true });
  }

  /** `did`: what the visitor did to get here; null where they went here directly */
  #enter(at: number, did: string | null) {
    const before = this.beat;
    this.at = at;
    this.chosen = this.released = null;
    this.#stand(did === null);
    this.tidy(did !== null && before?.until === "opened");
    this.#draw(did);
    this.#light();
  }

  #stand(directly: boolean) {
    const { beat, playhead } = this;
    if (beat && (directly || beat.moves)) playhead.seek(beat.round * playhead.phases.length + playhead.phases.indexOf(beat.phase));
    else if (playhead.playing) playhead.pause();
  }

  #close() {
    if (!this.at) return;
    this.at = CLOSED;
    this.panel.hidden = true;
    this.stage.classList.remove("touring");
    this.text.replaceChildren();
    this.#light();
    this.tidy(true);
  }

  #draw(did: string | null) {
    const { tour, beat } = this;
    if (!tour) return;
    this.panel.hidden = false;
    this.stage.classList.add("touring");
    this.place.textContent = beat ? say("step_of", { step: this.at, steps: tour.tour.beats.length }) : say("tour_over");
    const lines = [element("p", "tour-says", beat?.says ?? tour.tour.end)];
    if (did) lines.unshift(sentence("p", "tour-did", did));
    if (beat) lines.push(asking(beat));
    else if (tour.tour.next.length) lines.push(whatNext(tour)); // the live page has no other pages
    this.text.replaceChildren(...lines);
    this.back.disabled = this.at === 1;
    this.skip.hidden = !beat;
    this.skip.textContent = say("skip");
    this.skip.setAttribute("aria-label", say("skip_step"));
    this.end.setAttribute("aria-label", say(beat ? "leave_tour" : "close_tour"));
    this.end.textContent = say(beat ? "leave" : "close");
    this.#bringIntoSight();
  }

  /** New words are seen whole: on a phone the visitor has scrolled to what they pressed. */
  #bringIntoSight() {
    this.panel.scrollIntoView({ block: "nearest" });
    if (this.beat?.lights.includes("draft-length")) find(this.stage, ".draft-length").scrollIntoView({ block: "nearest" }); // on a phone it is above
  }

  /** Light up what the open beat is about. A lesson does the same with one part. */
  #light() {
    if (this.beat) this.stage.dataset.focus = this.beat.lights.join(" ");
    else if (!this.data?.diagram) delete this.stage.dataset.focus;
  }
}

function asking({ asks, keys }: Beat) {
  const line = element("p", "tour-asks", `▸ ${asks} `);
  line.append(element("span", "tour-keys", say("tour_keys", { keys })));
  return line;
}

function whatNext({ tour: { next } }: TourPayload) {
  const line = element("p", "tour-asks", `${say("tour_next")} `);
  next.forEach(({ page, name, why }, i) => {
    const link = element("a", "", name);
    link.href = `./${page}`;
    link.target = "_self";
    line.append(link, ` ${why}${i < next.length - 1 ? "; " : "."}`);
  });
  return line;
}

function button(label: string, act: () => void) {
  const made = element("button", "", label);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}
