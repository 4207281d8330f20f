// The line above the strip: which round, what happens in it, where the figures are from. Also what a screen reader says.

import { createElement, render } from "preact";
import { element, find } from "../shared/dom.js";
import { Said } from "../shared/said.js";
import { say } from "./words.js";
import type { StagePayload } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";
import type { Replay } from "./replay.js";

export class Headline {
  number = find(this.stage, ".round-number");
  sentence = find(this.stage, ".sentence");
  notice = find(this.stage, ".notice");
  badge = find(this.stage, ".badge");
  spoken = find(this.stage, ".spoken");
  place = "";
  said = ""; // in the language that a browser may have translated

  constructor(public stage: HTMLElement, public playhead: Playhead, public replay: Replay) {}

  /** The sentence of the playhead's place, or of the replay on screen. */
  showSentence(data: StagePayload) {
    const { shown } = this.replay;
    if (shown) return void ([this.number.textContent, this.sentence.textContent] = this.replay.wordsOf(shown));
    const { round, substep, playing, waiting } = this.playhead;
    const current = data.rounds[round];
    this.number.textContent = current ? say("round_of", { round: round + 1, rounds: data.more ? "…" : data.rounds.length }) : "";
    this.sentence.textContent = current ? current.sentences[substep] : data.idle;
    if (waiting && current) this.sentence.append(" ", element("span", "waits", say("waiting")));
    const place = `${this.number.textContent}. ${this.sentence.textContent}`;
    if (playing || place === this.place) return; // a place that was said is not said again where the page is drawn again
    this.place = place;
    this.say(place);
  }

  showSource(data: StagePayload) {
    this.stage.dataset.run = data.run_id; // for tests, and for scripts that drive the page
    this.stage.dataset.rounds = String(data.rounds.length);
    this.stage.toggleAttribute("data-done", !data.running);
    const { shown, note } = this.replay;
    this.badge.textContent = shown ? say("modelled_badge") : data.badge;
    this.badge.title = note || data.measured;
    const notice = shown ? data.notice : note || data.notice;
    this.notice.textContent = this.notice.title = data.rounds.length ? (notice ?? "") : "";
    for (const label of this.stage.querySelectorAll(".measured")) label.setAttribute("title", data.measured);
  }

  /** For screen readers; silent while playing. */
  say(text: string) {
    if (text !== this.said) render(createElement("span", { key: text }, createElement(Said, { text })), this.spoken); // anew: a browser may have translated what is there
    this.said = text;
  }
}
