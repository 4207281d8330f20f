// The timeline: one-token steps of the target alone above draft and verify blocks, in measured milliseconds.
// Plotly draws the blocks; the cursor and the veil over what is still to come are two elements that only slide.

import { milliseconds } from "../shared/numbers.js";
import { PHASES, SUBSTEPS } from "./playhead.js";
import { PLOT_CONFIG, axis, baseLayout } from "./plotly.js";

const LANES = { alone: [1.14, 1.86], speculative: [0.14, 0.86] };
const STEP_PIXELS = 62; // a one-token target step is drawn about this wide while zoomed in
const MARGIN = { l: 96, r: 10, t: 2, b: 20 };
const NARROW_MARGIN = { ...MARGIN, l: 50 };

export class Timeline {
  constructor(stage, queue, playhead) {
    this.queue = queue;
    this.playhead = playhead;
    this.plot = stage.querySelector(".timeline .plot");
    this.area = stage.querySelector(".lane-area");
    this.cursor = stage.querySelector(".cursor");
    this.note = stage.querySelector(".lane-note");
    this.veil = stage.querySelector(".veil");
    this.caption = stage.querySelector(".caption");
    this.zoomButton = stage.querySelector(".zoom");
    this.whole = false;
    this.window = [0, 1];
    this.drawn = "";
    this.zoomButton.addEventListener("click", () => this.#toggleZoom());
    this.area.addEventListener("click", (event) => this.#seek(event));
    this.area.addEventListener("pointermove", (event) => this.#describe(event));
  }

  load(data) {
    this.data = data;
    this.rounds = data.rounds;
    this.end = Math.max(this.rounds.at(-1)?.ms[3] ?? 0, data.plain?.at(-1) ?? 0, 1);
    this.pitch = stepLength(data);
    this.drawn = "";
    const missing = data.running ? "runs after the speculative run" : "not recorded";
    this.note.textContent = data.plain === null ? missing : "";
  }

  show(style, Plotly) {
    const { round, phase } = this.playhead;
    const current = this.rounds[round];
    this.#showCaption(current, phase);
    const now = current ? current.ms[1 + PHASES.indexOf(phase)] : 0;
    this.margin = style.narrow ? NARROW_MARGIN : MARGIN;
    this.#frame(now, current?.ms[0] ?? 0);
    this.#draw(style, Plotly);
    this.#slide(now);
  }

  /** The stretch of time on screen: all of it, or pages of it that turn as the playhead leaves them; at the end, all of it. */
  #frame(now, roundStart) {
    const width = this.plot.clientWidth - this.margin.l - this.margin.r;
    const span = (Math.max(width, 60) / STEP_PIXELS) * this.pitch;
    const fits = span >= this.end;
    const over = !this.data.more && !this.playhead.playing && this.playhead.step >= this.playhead.last;
    this.zoomButton.hidden = fits || over;
    if (this.whole || fits || over) {
      this.window = [0, Math.max(this.end * 1.01, this.data.more ? span : 0)];
    } else if (now > this.window[0] + span * 0.97 || roundStart < this.window[0] || this.window[1] - this.window[0] !== span) {
      const start = now <= span * 0.9 ? 0 : Math.max(0, roundStart - span * 0.12);
      this.window = [start, start + span];
    }
  }

  #draw(style, Plotly) {
    const wanted = `${this.window} ${this.rounds.length} ${this.data.plain?.length} ${style.key} ${this.plot.clientWidth}`;
    if (!Plotly || wanted === this.drawn || !this.plot.clientWidth) return;
    this.drawn = wanted;
    this.queue.put("timeline", () => {
      const { traces, layout } = timelineFigure(this.data, this.window, this.margin, style, this.plot);
      Plotly.react(this.plot, traces, layout, { ...PLOT_CONFIG, staticPlot: true });
    });
  }

  #slide(now) {
    const width = this.plot.clientWidth - this.margin.l - this.margin.r;
    const share = (now - this.window[0]) / (this.window[1] - this.window[0]);
    const x = Math.max(0, Math.min(1, share)) * width;
    this.area.style.left = `${this.margin.l}px`;
    this.area.style.right = `${this.margin.r}px`;
    this.cursor.style.transform = this.veil.style.transform = `translateX(${x}px)`;
  }

  #showCaption(current, phase) {
    if (!current) return void (this.caption.textContent = "");
    const done = phase === "judge" ? this.playhead.round + 1 : this.playhead.round;
    const emitted = done ? this.rounds[done - 1].after.emitted : 0;
    const alone = current.alone?.[PHASES.indexOf(phase)];
    const made = `${emitted} ${emitted === 1 ? "token" : "tokens"} in ${done} target ${done === 1 ? "pass" : "passes"}`;
    const total = this.data.more ? Infinity : this.rounds.at(-1).after.emitted;
    const others = alone == null ? "" : alone >= total ? `; the target alone has finished all ${total}` : `; the target alone has made ${alone}`;
    this.caption.textContent = made + others;
  }

  #toggleZoom() {
    this.whole = !this.whole;
    this.zoomButton.textContent = this.whole ? "zoom in" : "whole run";
    this.window = [0, 0];
    this.playhead.moved();
  }

  #roundAt(event) {
    const box = this.area.getBoundingClientRect();
    const time = this.window[0] + ((event.clientX - box.left) / box.width) * (this.window[1] - this.window[0]);
    return this.rounds.findIndex((round) => time >= round.ms[0] && time < round.ms[3]);
  }

  #seek(event) {
    const round = this.#roundAt(event);
    if (round < 0) return;
    this.playhead.seek(round * SUBSTEPS + 2);
    this.playhead.rested();
  }

  #describe(event) {
    const index = this.#roundAt(event);
    if (index < 0) return void (this.area.title = "");
    const [start, drafted, verified, end] = this.rounds[index].ms;
    const parts = [`draft ${milliseconds(drafted - start)}`, `verify ${milliseconds(verified - drafted)}`, `rest ${milliseconds(end - verified)}`];
    this.area.title = `Round ${index + 1}: ${parts.join(", ")} (${this.data.measured}; reading the prompt not included)`;
  }
}

/** Milliseconds of a typical one-token target step, or of a verification where the plain run is missing. */
function stepLength(data) {
  if (data.plain?.length) return data.plain.at(-1) / data.plain.length;
  const verified = data.rounds.map((round) => round.ms[2] - round.ms[1]);
  return verified.length ? verified.reduce((sum, ms) => sum + ms, 0) / verified.length : 1;
}

/** Closed boxes as one Plotly line with gaps: a single path however many there are. */
function boxes(intervals, [low, high], inset) {
  const x = [];
  const y = [];
  for (const [start, end] of intervals) {
    const right = Math.max(end - inset, start + inset / 4);
    x.push(start, right, right, start, start, null);
    y.push(low, low, high, high, low, null);
  }
  return { x, y, type: "scatter", mode: "lines", fill: "toself", hoverinfo: "skip" };
}

/** Each drafted token's share of its round's draft phase. */
function draftBlocks(rounds) {
  const kept = [];
  const wasted = [];
  for (const round of rounds) {
    const drafted = round.chips.filter((chip) => chip.status in { accepted: 1, rejected: 1, discarded: 1 });
    const length = (round.ms[1] - round.ms[0]) / drafted.length;
    for (const [i, chip] of drafted.entries()) {
      const block = [round.ms[0] + i * length, round.ms[0] + (i + 1) * length];
      (chip.status === "accepted" ? kept : wasted).push(block);
    }
  }
  return { kept, wasted };
}

/** Words on the blocks that are wide enough, for those on screen. */
function labels(intervals, words, y, colour, [from, to], room) {
  const typical = intervals.reduce((sum, [start, end]) => sum + end - start, 0) / intervals.length;
  const fitting = intervals
    .map(([start, end], i) => ({ start, end, word: words(i) }))
    .filter(({ start, end }) => start >= from && end <= to && Math.min(end - start, typical) > room);
  const x = fitting.map(({ start, end }) => (start + end) / 2);
  const text = fitting.map(({ word }) => word);
  return { x, y: x.map(() => y), text, type: "scatter", mode: "text", textfont: { color: colour, size: 12 }, hoverinfo: "skip" };
}

function timelineFigure(data, window, margin, style, plot) {
  const [from, to] = window;
  const pixelsPerMs = (plot.clientWidth - margin.l - margin.r) / (to - from);
  const gap = 1.5 / pixelsPerMs;
  const seen = ([start, end]) => end >= from && start <= to;
  const alone = (data.plain ?? []).map((end, i) => [i ? data.plain[i - 1] : 0, end]);
  const rounds = data.rounds.filter((round) => seen([round.ms[0], round.ms[3]]));
  const { kept, wasted } = draftBlocks(rounds);
  const verify = rounds.map((round) => [round.ms[1], round.ms[2]]);
  const hatch = { shape: "/", size: 5, solidity: 0.35, fgcolor: style.accepted, bgcolor: style.background };
  const thin = (colour) => ({ color: colour, width: 1, simplify: false });
  const traces = [
    { ...boxes(alone.filter(seen), LANES.alone, gap), fillcolor: style.soft, line: thin(style.mute) },
    { ...boxes(kept, LANES.speculative, gap), fillcolor: style.accepted, line: thin(style.accepted) },
    { ...boxes(wasted, LANES.speculative, gap), fillpattern: hatch, line: thin(style.accepted) },
    { ...boxes(verify, LANES.speculative, gap), fillcolor: style.ink, line: thin(style.ink) },
    labels(alone, (i) => String(i + 1), 1.5, style.mute, window, 26 / pixelsPerMs),
    labels(verify, () => "verify", 0.5, style.background, window, 46 / pixelsPerMs),
  ];
  const names = style.narrow ? ["draft +<br>verify", "target<br>alone"] : ["speculative", "target alone"];
  const layout = {
    ...baseLayout(style, plot),
    margin,
    xaxis: axis(style, { range: [from, to], ticksuffix: " ms", nticks: style.narrow ? 4 : 9, showline: false }),
    yaxis: axis(style, { range: [0, 2], tickvals: [0.5, 1.5], ticktext: names, showline: false, ticklabelstandoff: 8 }),
  };
  return { traces, layout };
}
