// The small charts: acceptance and speedup so far, both at each draft length, and acceptance by position in the draft.
// The run before is a pale line in each of the first three.

import { render, type ComponentType } from "preact";
import { find } from "../shared/dom.js";
import { percent, times } from "../shared/numbers.js";
import { Level, LineAhead, LineOfBefore, LineSoFar, PERCENT, estimated, figuresOf, inPercent, margin, markOf, speedupSpan, speedupTicks, trusted, type Asked, type Reach } from "./curves.js";
import { LengthsFigure } from "./lengths_figure.js";
import { Axes, Drawing, Line, Plane, type Span, type Tick } from "./plane.js";
import { say } from "./words.js";
import type { FiguresAfter, StagePayload } from "../dist/payloads.js";
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

const FIGURES: Record<FigureName, ComponentType<Wanted>> = { acceptance: AcceptanceFigure, speedup: SpeedupFigure, lengths: LengthsFigure, positions: PositionsFigure };
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
      const Figure = FIGURES[name];
      if (plot.clientWidth) render(<Figure {...{ plot, rounds, done, style, data, asked }} reach={far} />, plot);
    }
  }

  #showValues(done: number, data: StagePayload, asked: Asked) {
    const after = this.rounds[done - 1];
    for (const [name, value] of Object.entries(valuesOf(data, after, asked))) this.values[name as FigureName].textContent = value;
    this.counts.acceptance.textContent = fraction(after?.accepted, after?.drafted);
    this.counts.positions.textContent = fraction(after?.accepted, after?.judged);
    this.doubt.textContent = trusted(data) ? "" : say("busy_when_measured");
    render(noteOn(data), this.note);
    this.note.title = data.replay.why_not ?? say("speedup_times", { times: data.replay.times });
  }
}

/** The figure beside the name of each chart. */
export function valuesOf(data: StagePayload, after: FiguresAfter | undefined, asked: Asked): Record<FigureName, string> {
  const pending = after?.speedup === null && data.running; // the target alone is still writing these tokens
  const speedup = pending ? "…" : after && !trusted(data) ? say("not_trusted") : times(after?.speedup);
  return { acceptance: percent(after?.acceptance), speedup, lengths: markInWords(data, asked), positions: percent(after?.judgement) };
}

function markInWords(data: StagePayload, asked: Asked) {
  const mark = markOf(data, asked);
  if (!mark) return "–";
  const speedup = mark.speedup === null ? "" : `, ${mark.kind === "estimated" ? `${estimated(mark)}×` : times(mark.speedup)}`;
  const figures = percent(mark.acceptance) + speedup;
  return mark.kind === "so_far" ? say("so_far", { figures }) : figures;
}

/** Which curve is which, and where the speedup is from; or why there are no curves. */
export function noteOn(data: StagePayload) {
  const { replay } = data;
  if (replay.why_not !== null) return <>{replay.why_not}</>;
  const accepted = <><span class="left">{say("key_of_accepted")}</span>, </>;
  const known = Object.values(replay.lengths).some((run) => run.speedup !== null);
  if (!known) return <>{accepted}{say("no_speedup")}</>;
  if (!trusted(data)) return <>{accepted}<span class="right">{say("key_of_speedup_busy")}</span></>;
  return <>{accepted}<span class="right">{say("key_of_speedup")}</span>, <span class="right">{say("key_of_measured")}</span></>;
}

/** How far the axes go: to the end of what is drawn, the run and the one before. */
export function reachOf({ rounds, replay, before, draft_length: length }: StagePayload): Reach {
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

function AcceptanceFigure({ plot, rounds, done, style, data: { before }, asked, reach }: Wanted) {
  const plane = new Plane(plot, margin(style), roundSpan(reach.rounds), [0, 105]);
  const values = rounds.map((round) => inPercent(round.acceptance));
  const line = { plane, style, look: "accepted" };
  return (
    <Drawing plane={plane}>
      <Axes plane={plane} xTicks={roundTicks(reach.rounds)} yTicks={PERCENT} letters={style.letters} grid />
      <LineOfBefore {...{ plane, before, style }} figure="acceptance" />
      {before && <LineAhead {...{ ...line, values, done }} />}
      <LineSoFar {...line} values={values.slice(0, done)} words={(value) => `${value.toFixed(0)} %`} />
      {asked.run && <Level {...line} value={inPercent(figuresOf(asked.run).acceptance)} />}
    </Drawing>
  );
}

function PositionsFigure({ plot, rounds, done, style, data }: Wanted) {
  const none: Array<[number, number]> = Array(data.draft_length).fill([0, 0]);
  const counts = rounds[done - 1]?.positions ?? none;
  const labelled = counts.length <= LABELLED_BARS;
  const plane = new Plane(plot, margin(style), [0.4, counts.length + 0.6], [0, 118]);
  const shown = counts.map((_, i) => i + 1).filter((position) => labelled || position % 3 === 1);
  const small = counts.length > WIDE_BARS ? "middle small count" : "middle count";
  return (
    <Drawing plane={plane}>
      <Axes plane={plane} xTicks={shown.map((position) => [position, String(position)])} yTicks={PERCENT} letters={style.letters} />
      {counts.map(([accepted, judged], i) => judged > 0 && (
        <>
          <Bar {...{ plane, accepted, judged }} position={i + 1} />
          {labelled && <text x={plane.x(i + 1)} y={plane.y((100 * accepted) / judged) - style.letters * 0.25} class={small}>{`${accepted}/${judged}`}</text>}
        </>
      ))}
    </Drawing>
  );
}

function SpeedupFigure({ plot, rounds, done, style, data, asked, reach }: Wanted) {
  const { before, plain, running } = data;
  const plane = new Plane(plot, margin(style), roundSpan(reach.rounds), speedupSpan(reach));
  const values = plain === null ? [] : rounds.map(({ speedup }) => speedup);
  const even = plane.y(1);
  return (
    <Drawing plane={plane}>
      <Axes plane={plane} xTicks={roundTicks(reach.rounds)} yTicks={speedupTicks(reach)} letters={style.letters} />
      <Line from={[plane.margin.l, even]} to={[plane.width - plane.margin.r, even]} class="break-even" />
      {plain === null && !running && <text x={plane.x(mean(plane.xSpan))} y={style.letters * 1.5} class="middle">{say("alone_not_recorded")}</text>}
      <LineOfBefore {...{ plane, before, style }} figure="speedup" />
      {before && <LineAhead {...{ plane, values, done, style }} look="corrected" />}
      <LineSoFar {...{ plane, style }} values={values.slice(0, done)} look={trusted(data) ? "corrected" : "corrected doubted"} words={times} />
      {asked.run && <Level plane={plane} value={asked.run.speedup} look="corrected" />}
    </Drawing>
  );
}

function roundSpan(rounds: number): Span {
  return [0.4, rounds + 0.6];
}

function roundTicks(rounds: number): Tick[] {
  return [[1, say("first_round")], ...[Math.ceil(rounds / 2), rounds].map((round) => [round, String(round)] as Tick)];
}

function Bar({ plane, position, accepted, judged }: { plane: Plane; position: number; accepted: number; judged: number }) {
  const [from, to] = [plane.x(position - BAR / 2), plane.x(position + BAR / 2)];
  const [top, bottom] = [plane.y((100 * accepted) / judged), plane.y(0)];
  return <rect x={from} y={top} width={to - from} height={bottom - top} class="share accepted"><title>{say("position_figure", { position, accepted, judged })}</title></rect>;
}

function mean([from, to]: Span) {
  return (from + to) / 2;
}
