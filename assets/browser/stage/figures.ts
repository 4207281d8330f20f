// The small charts: acceptance and speedup so far, both at each draft length, and acceptance by position in the draft.
// The run before is a pale line in each of the first three.

import { element, find } from "../shared/dom.js";
import { percent, times } from "../shared/numbers.js";
import { label, svg } from "../shared/svg.js";
import { PERCENT, estimated, figuresOf, inPercent, level, lineAhead, lineOfBefore, lineSoFar, margin, markOf, speedupSpan, speedupTicks, titled, trusted, type Asked, type Reach } from "./curves.js";
import { lengthsFigure } from "./lengths_figure.js";
import { Plane, line, type Span, type Tick } from "./plane.js";
import { say } from "./words.js";
import type { FiguresAfter, StagePayload } from "../shared/payloads.js";
import type { Style } from "./style.js";

export type FigureName = "acceptance" | "speedup" | "lengths" | "positions";

export interface Wanted {
  plot: HTMLElement;
  rounds: FiguresAfter[];
  done: number; // rounds that are judged
  style: Style;
  data: StagePayload;
  asked: Asked;
  reach: Reach;
}

const FIGURES: Record<FigureName, (wanted: Wanted) => SVGSVGElement> = { acceptance: acceptanceFigure, speedup: speedupFigure, lengths: lengthsFigure, positions: positionsFigure };
const NAMES = Object.keys(FIGURES) as FigureName[];
const LEAST = { rounds: 4, speedup: 1.5, lengths: 1.5 }; // how far the axes go at least
const LABELLED_BARS = 8; // more bars than this are too narrow for labels
const WIDE_BARS = 5; // up to so many have room for larger labels
const BAR = 0.75; // of the distance between two bars

export class Figures {
  values: Record<FigureName, HTMLElement>;
  counts;
  doubt;
  note;
  plots: Record<FigureName, HTMLElement>;
  figures: Record<FigureName, HTMLElement>;
  data: StagePayload | null = null;
  rounds: FiguresAfter[] = [];
  shown: string | null = null;
  reach: Reach = LEAST;

  constructor(stage: HTMLElement) {
    const parts = (part: string) => NAMES.map((name) => [name, find(stage, `[data-figure=${name}] ${part}`)]);
    this.values = Object.fromEntries(parts(".value"));
    this.counts = {
      acceptance: find(stage, "[data-figure=acceptance] .counts"),
      positions: find(stage, "[data-figure=positions] .counts"),
    };
    this.doubt = find(stage, "[data-figure=speedup] .doubt");
    this.note = find(stage, "[data-figure=lengths] .note");
    this.plots = Object.fromEntries(parts(".plot"));
    this.figures = Object.fromEntries(parts(""));
  }

  load(data: StagePayload) {
    this.data = data;
    this.rounds = data.rounds.map((round) => round.after);
    this.reach = reachOf(data);
    this.shown = null;
    // Another system's run: no plain run is recorded beside it, and no other draft length can be replayed.
    this.figures.speedup.hidden = data.imported && data.plain === null;
    this.figures.lengths.hidden = data.imported && data.replay.why_not !== null;
  }

  /** The figures after some rounds. */
  show(done: number, style: Style, asked: Asked) {
    const { data, rounds, reach } = this;
    if (!data) return;
    this.#showValues(done, data, asked);
    const { clientWidth, clientHeight } = this.plots.acceptance; // it is never hidden
    const state = `${done} ${style.key} ${asked.length} ${asked.run !== null} ${clientWidth} ${clientHeight}`;
    if (this.shown === state || !clientWidth) return;
    this.shown = state;
    for (const name of NAMES) {
      const plot = this.plots[name];
      const far = name === "lengths" ? { ...reach, speedup: reach.lengths } : reach;
      if (plot.clientWidth) plot.replaceChildren(FIGURES[name]({ plot, rounds, done, style, data, asked, reach: far }));
    }
  }

  #showValues(done: number, data: StagePayload, asked: Asked) {
    const after = this.rounds[done - 1];
    this.values.acceptance.textContent = percent(after?.acceptance);
    this.counts.acceptance.textContent = fraction(after?.accepted, after?.drafted);
    this.values.positions.textContent = percent(after?.judgement);
    this.counts.positions.textContent = fraction(after?.accepted, after?.judged);
    const doubted = !trusted(data);
    this.doubt.textContent = doubted ? say("busy_when_measured") : "";
    const pending = after?.speedup === null && data.running; // the target alone is still writing these tokens
    this.values.speedup.textContent = pending ? "…" : after && doubted ? say("not_trusted") : times(after?.speedup);
    this.values.lengths.textContent = markInWords(data, asked);
    this.note.replaceChildren(...noteOn(data));
    this.note.title = data.replay.why_not ?? say("speedup_times", { times: data.replay.times });
  }
}

function markInWords(data: StagePayload, asked: Asked) {
  const mark = markOf(data, asked);
  if (!mark) return "–";
  const speedup = mark.speedup === null ? "" : `, ${mark.kind === "estimated" ? `${estimated(mark)}×` : times(mark.speedup)}`;
  const figures = percent(mark.acceptance) + speedup;
  return mark.kind === "so_far" ? say("so_far", { figures }) : figures;
}

/** Which curve is which, and where the speedup is from; or why there are no curves. */
function noteOn(data: StagePayload) {
  const { replay } = data;
  if (replay.why_not !== null) return [replay.why_not];
  const accepted = [element("span", "left", say("key_of_accepted")), ", "];
  const known = Object.values(replay.lengths).some((run) => run.speedup !== null);
  if (!known) return [...accepted, say("no_speedup")];
  if (!trusted(data)) return [...accepted, element("span", "right", say("key_of_speedup_busy"))];
  return [...accepted, element("span", "right", say("key_of_speedup")), ", ", element("span", "right", say("key_of_measured"))];
}

/** How far the axes go: to the end of what is drawn, the run and the one before. */
function reachOf({ rounds, replay, before, draft_length: length }: StagePayload): Reach {
  const curves = replay.why_not === null ? Object.values(replay.lengths).map((run) => run.speedup) : [];
  const estimated = [...curves, ...(before?.lengths.map(([, speedup]) => speedup) ?? [])];
  const lines = [possible(rounds.map((round) => round.after.speedup), length), possible(before?.speedup ?? [], before?.draft_length ?? 0)];
  const highest = (speedups: Array<number | null>) => Math.max(LEAST.speedup, ...speedups.map((speedup) => speedup ?? 0));
  return {
    rounds: Math.max(LEAST.rounds, rounds.length, before?.speedup.length ?? 0),
    speedup: highest([...lines.flat(), ...estimated]),
    lengths: highest([...lines.map((line) => line.at(-1) ?? null), ...estimated]),
  };
}

/** No round writes more than its draft and one token, so what is faster than that was disturbed: an arrow shows it. `length`: of the draft */
function possible(speedups: Array<number | null>, length: number) {
  return speedups.map((speedup) => speedup && Math.min(speedup, length + 1));
}

/** The counts behind a percentage: 100 % of one token says less than 90 % of fifty. */
function fraction(part?: number, whole?: number) {
  return whole ? ` = ${part} / ${whole}` : "";
}

function acceptanceFigure({ plot, rounds, done, style, data, asked, reach }: Wanted) {
  const plane = new Plane(plot, margin(style), roundSpan(reach.rounds), [0, 105]);
  const root = plane.root();
  root.append(plane.axes(roundTicks(reach.rounds), PERCENT, style.letters, true));
  const said = (value: number) => `${value.toFixed(0)} %`;
  const shares = rounds.map((round) => inPercent(round.acceptance));
  root.append(...lineOfBefore(plane, data.before, "acceptance", style));
  if (data.before) root.append(...lineAhead(plane, shares, done, "accepted", style)); // a change is seen at once
  root.append(...lineSoFar(plane, shares.slice(0, done), "accepted", style, said));
  if (asked.run) root.append(...level(plane, inPercent(figuresOf(asked.run).acceptance), "accepted"));
  return root;
}

function positionsFigure({ plot, rounds, done, style, data }: Wanted) {
  const none: Array<[number, number]> = Array(data.draft_length).fill([0, 0]);
  const counts = rounds[done - 1]?.positions ?? none;
  const labelled = counts.length <= LABELLED_BARS;
  const plane = new Plane(plot, margin(style), [0.4, counts.length + 0.6], [0, 118]);
  const shown = counts.map((_, i) => i + 1).filter((position) => labelled || position % 3 === 1);
  const root = plane.root();
  root.append(plane.axes(shown.map((position) => [position, String(position)]), PERCENT, style.letters));
  const small = counts.length > WIDE_BARS ? "middle small" : "middle";
  for (const [i, [accepted, judged]] of counts.entries()) {
    if (!judged) continue;
    root.append(bar(plane, i + 1, accepted, judged));
    const above = plane.y((100 * accepted) / judged) - style.letters * 0.25;
    if (labelled) root.append(label(`${accepted}/${judged}`, plane.x(i + 1), above, `${small} count`)); // 1/1 is not 50/50
  }
  return root;
}

function speedupFigure({ plot, rounds, done, style, data, asked, reach }: Wanted) {
  const plane = new Plane(plot, margin(style), roundSpan(reach.rounds), speedupSpan(reach));
  const root = plane.root();
  root.append(plane.axes(roundTicks(reach.rounds), speedupTicks(reach), style.letters));
  root.append(line(plane.margin.l, plane.y(1), plane.width - plane.margin.r, plane.y(1), "break-even"));
  if (data.plain === null && !data.running) {
    root.append(label(say("alone_not_recorded"), plane.x(mean(plane.xSpan)), style.letters * 1.5, "middle"));
  }
  const known = data.plain === null ? [] : rounds.map(({ speedup }) => speedup);
  root.append(...lineOfBefore(plane, data.before, "speedup", style));
  if (data.before) root.append(...lineAhead(plane, known, done, "corrected", style));
  root.append(...lineSoFar(plane, known.slice(0, done), trusted(data) ? "corrected" : "corrected doubted", style, times));
  if (asked.run) root.append(...level(plane, asked.run.speedup, "corrected"));
  return root;
}

function roundSpan(rounds: number): Span {
  return [0.4, rounds + 0.6];
}

function roundTicks(rounds: number): Tick[] {
  return [[1, say("first_round")], ...[Math.ceil(rounds / 2), rounds].map((round) => [round, String(round)] as Tick)];
}

function bar(plane: Plane, position: number, accepted: number, judged: number) {
  const [from, to] = [plane.x(position - BAR / 2), plane.x(position + BAR / 2)];
  const [top, bottom] = [plane.y((100 * accepted) / judged), plane.y(0)];
  const made = svg("rect", { x: from, y: top, width: to - from, height: bottom - top, class: "share accepted" });
  return titled(made, say("position_figure", { position, accepted, judged }));
}

function mean([from, to]: Span) {
  return (from + to) / 2;
}
