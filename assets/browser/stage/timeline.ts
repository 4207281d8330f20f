// The timeline: one-token steps of the target alone above draft and verify blocks, in measured milliseconds. The cursor
// and the veil over what is still to come are two elements that only slide.

import { createElement, render } from "preact";
import { find } from "../shared/dom.js";
import { milliseconds, times } from "../shared/numbers.js";
import { TimelineFigure, plainStep, timelineMargin } from "./timeline_figure.js";
import { isPlain, say } from "./words.js";
import type { RoundPayload, StagePayload } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";
import type { Style } from "./style.js";
import type { Margin, Span } from "./plane.js";

const STEP_PIXELS = 62; // a one-token target step is drawn about this wide while zoomed in

export class Timeline {
  lanes;
  keys;
  plot;
  area;
  cursor;
  note;
  veil;
  zoomButton;
  whole: boolean | null = null; // what the visitor chose; null: a part while it plays, all of it at the end
  margin: Margin = { l: 0, r: 0, t: 0, b: 0 };
  window: Span = [0, 1];
  drawn = "";
  data: StagePayload | null = null;
  end = 1; // ms
  stepLength = 1; // ms

  constructor(stage: HTMLElement, public playhead: Playhead) {
    this.lanes = find(stage, ".lanes");
    this.keys = find(stage, ".keys");
    this.plot = find(stage, ".timeline .plot");
    this.area = find(stage, ".lane-area");
    this.cursor = find(stage, ".cursor");
    this.note = find(stage, ".lane-note");
    this.veil = find(stage, ".veil");
    this.zoomButton = find(stage, ".zoom");
    this.zoomButton.addEventListener("click", () => this.#toggleZoom());
    this.area.addEventListener("click", (event) => this.#seek(event));
    this.area.addEventListener("pointermove", (event) => this.#describe(event));
  }

  load(data: StagePayload) {
    this.data = data;
    this.end = Math.max(data.rounds.at(-1)?.ms[3] ?? 0, data.plain?.at(-1) ?? 0, 1);
    this.stepLength = stepLength(data);
    this.drawn = "";
    this.note.textContent = data.plain === null && !data.running ? say("not_recorded") : "";
    for (const part of [this.lanes, this.keys, this.zoomButton]) part.hidden = !data.timed;
    if (!data.timed) render(null, this.plot);
  }

  show(style: Style) {
    const { data } = this;
    if (!data?.timed) return;
    const { round, substep } = this.playhead;
    const current = data.rounds[round];
    const now = current ? current.ms[1 + substep] : 0;
    this.margin = timelineMargin(style);
    this.#chooseWindow(now, current?.ms[0] ?? 0, data.more);
    this.#draw(data, style);
    this.#slide(now);
  }

  get #width() {
    return this.plot.clientWidth - this.margin.l - this.margin.r;
  }

  /** The time on screen: all of it, or pages of it that turn as the playhead leaves them. */
  #chooseWindow(now: number, roundStart: number, more: boolean) {
    const span = (Math.max(this.#width, 60) / STEP_PIXELS) * this.stepLength;
    const fits = span >= this.end;
    this.zoomButton.hidden = fits; // its place stays: the row below would move
    this.zoomButton.textContent = say(this.#showsWhole ? "zoom_in" : "whole_run");
    const [from, to] = this.window;
    if (this.#showsWhole || fits) {
      this.window = [0, Math.max(this.end * 1.01, more ? span : 0)];
    } else if (now > from + span * 0.97 || roundStart < from || to - from !== span) {
      const start = now <= span * 0.9 ? 0 : Math.max(0, roundStart - span * 0.12);
      this.window = [start, start + span];
    }
  }

  #draw(data: StagePayload, style: Style) {
    const { done } = this.playhead;
    const size = `${this.plot.clientWidth} ${isPlain(data)}`;
    const wanted = `${this.window} ${done} ${data.rounds.length} ${data.plain?.length} ${style.key} ${size}`;
    if (wanted === this.drawn || !this.plot.clientWidth) return;
    this.drawn = wanted;
    const { window, margin, plot } = this;
    render(createElement(TimelineFigure, { data, window, margin, style, plot, judged: done }), plot);
  }

  #slide(now: number) {
    const [from, to] = this.window;
    const x = Math.max(0, Math.min(1, (now - from) / (to - from))) * this.#width;
    this.area.style.left = `${this.margin.l}px`;
    this.area.style.right = `${this.margin.r}px`;
    this.area.style.bottom = `${this.margin.b}px`;
    this.cursor.style.transform = this.veil.style.transform = `translateX(${x}px)`;
  }

  get #showsWhole() {
    return this.whole ?? this.playhead.over;
  }

  #toggleZoom() {
    const whole = !this.#showsWhole;
    this.whole = whole === this.playhead.over ? null : whole;
    this.window = [0, 0];
    this.playhead.moved();
  }

  /** The round at the pointer; -1 where there is none. */
  #roundAt(event: MouseEvent) {
    const box = this.area.getBoundingClientRect();
    const [from, to] = this.window;
    const time = from + ((event.clientX - box.left) / box.width) * (to - from);
    return this.data?.rounds.findIndex((round) => time >= round.ms[0] && time < round.ms[3]) ?? -1;
  }

  #seek(event: MouseEvent) {
    const round = this.#roundAt(event);
    if (round < 0) return;
    this.playhead.seekJudged(round);
    this.playhead.rested();
  }

  #describe(event: MouseEvent) {
    const index = this.#roundAt(event);
    if (!this.data || index < 0) return void (this.area.title = "");
    const [start, drafted, verified, end] = this.data.rounds[index].ms;
    const wide = widthInWords(this.data.rounds[index], this.data);
    const [draft, check, rest] = [drafted - start, verified - drafted, end - verified].map(milliseconds);
    this.area.title = say(wide ? "round_times_tree" : "round_times", { round: index + 1, draft, check, wide, rest, measured: this.data.measured });
  }
}

/** What the check of a tree costs, beside a pass over one token; empty for any other round. */
export function widthInWords(round: RoundPayload | undefined, { plain }: StagePayload) {
  const one = round?.tree ? plainStep(plain) : null;
  if (!round?.tree || !one) return "";
  const [, drafted, verified] = round.ms;
  return say("tree_width", { tokens: round.tree.parents.length + 1, times: times((verified - drafted) / one) });
}

/** Milliseconds of a typical one-token target step, or of a verification where the plain run is missing. */
function stepLength({ plain, rounds }: StagePayload) {
  if (plain?.length) return plain[plain.length - 1] / plain.length;
  const verified = rounds.map((round) => round.ms[2] - round.ms[1]);
  return verified.length ? verified.reduce((sum, ms) => sum + ms, 0) / verified.length : 1;
}
