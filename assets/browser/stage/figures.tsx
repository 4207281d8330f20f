// The small charts: acceptance and speedup so far, both at each draft length, and acceptance by position in the draft. The run
// before is a pale line in each of the first three. A line goes up to the playhead; a thin one goes on to what is decoded.

import { render, type ComponentType } from "preact";
import { find } from "../shared/dom.js";
import { localize, percent, times } from "../shared/numbers.js";
import { estimated } from "../trace/outcome.js";
import { LENGTHS } from "../trace/replay.js";
import { Axes, Drawing, Line, Plane, roundNumbers, type Margin, type Span, type Style, type Tick } from "./plane.js";
import { markOf, trusted, type Asked, type Mark } from "./result.js";
import { say } from "./words.js";
import type { FiguresAfter, Point, StagePayload } from "../dist/payloads.js";

type FigureName = "acceptance" | "speedup" | "lengths" | "positions";
type Reach = { rounds: number, speedup: number, lengths: number }; // how far the axes go; `lengths`: the speedups there
type Values = Array<number | null>; // from x = 1 on
type Planes = { shares: Plane, speeds: Plane };

interface Wanted {
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
const SHARES: Tick[] = [[0, "0"], [50, "50"], [100, percent(1)]];
const LEAST = { rounds: 4, speedup: 1.5, lengths: 1.5 }; // how far the axes go at least
const LABELLED_BARS = 8; // more bars than this are too narrow for labels
const WIDE_BARS = 5; // up to so many have room for larger labels
const BAR = 0.75; // of the distance between two bars
const DOT = 0.37; // of the letters' height

export class Figures {
  data: StagePayload | null = null;
  rounds: FiguresAfter[] = [];
  shown: string | null = null;
  reach: Reach = LEAST;

  constructor(public stage: HTMLElement) {}

  #part(name: FigureName, part: string = "") {
    return find(this.stage, `[data-figure=${name}] ${part}`);
  }

  load(data: StagePayload) {
    this.data = data;
    this.rounds = data.rounds.map((round) => round.after);
    this.reach = reachOf(data);
    this.shown = null;
    // Another system's run: no plain run is recorded beside it, and no other draft length can be replayed.
    this.#part("speedup").hidden = data.imported && data.plain === null;
    this.#part("lengths").hidden = data.imported && data.replay.why_not !== null;
  }

  show(done: number, style: Style, asked: Asked) {
    const { data, rounds, reach } = this;
    if (!data) return;
    const after = rounds[done - 1];
    const counts = (whole?: number) => (after && whole ? ` = ${after.accepted} / ${whole}` : ""); // 100 % of one token says less than 90 % of fifty
    for (const [name, value] of Object.entries(valuesOf(data, after, asked))) this.#part(name as FigureName, ".value").textContent = value;
    this.#part("acceptance", ".counts").textContent = counts(after?.drafted);
    this.#part("positions", ".counts").textContent = counts(after?.judged);
    this.#part("speedup", ".doubt").textContent = trusted(data) ? "" : say("busy_when_measured");
    const note = this.#part("lengths", ".note");
    render(noteOn(data), note);
    note.title = data.replay.why_not ?? say("speedup_times", { times: data.replay.times });
    const { clientWidth, clientHeight } = this.#part("acceptance", ".plot"); // it is never hidden
    const state = `${done} ${style.key} ${asked.length} ${asked.run !== null} ${clientWidth} ${clientHeight}`;
    if (this.shown === state || !clientWidth) return;
    this.shown = state;
    for (const name of NAMES) {
      const [plot, Figure] = [this.#part(name, ".plot"), FIGURES[name]];
      if (plot.clientWidth) render(<Figure {...{ plot, rounds, done, style, data, asked, reach }} />, plot);
    }
  }
}

/** The figure beside the name of each chart. */
export function valuesOf(data: StagePayload, after: FiguresAfter | undefined, asked: Asked): Record<FigureName, string> {
  const pending = after?.speedup === null && data.running; // the target alone is still writing these tokens
  const speedup = pending ? "…" : after && !trusted(data) ? say("not_trusted") : times(after?.speedup);
  const mark = markOf(data, asked);
  const figures = mark && [percent(mark.acceptance), ...(mark.speedup === null ? [] : [speedOf(mark)])].join(", ");
  const lengths = figures && mark?.kind === "so_far" ? say("so_far", { figures }) : (figures ?? "–");
  return { acceptance: percent(after?.acceptance), speedup, lengths, positions: percent(after?.judgement) };
}

function speedOf(mark: Mark) {
  return mark.kind === "estimated" ? `${estimated(mark)}×` : times(mark.speedup);
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
  // No round writes more than its draft and one token, so what is faster than that was disturbed: an arrow shows it.
  const possible = (speedups: Values, drafted: number) => speedups.map((speedup) => speedup && Math.min(speedup, drafted + 1));
  const lines = [possible(rounds.map((round) => round.after.speedup), length), possible(before?.speedup ?? [], before?.named.draft_length ?? 0)];
  const highest = (speedups: Values) => Math.max(LEAST.speedup, ...speedups.map((speedup) => speedup ?? 0));
  return {
    rounds: Math.max(LEAST.rounds, rounds.length, before?.speedup.length ?? 0),
    speedup: highest([...lines.flat(), ...estimated]),
    lengths: highest([...lines.map((line) => line.at(-1) ?? null), ...estimated]),
  };
}

// ---- the four charts

function AcceptanceFigure({ plot, rounds, done, style, data: { before }, asked, reach }: Wanted) {
  const plane = new Plane(plot, margin(style), roundSpan(reach.rounds), [0, 105]);
  const values = rounds.map((round) => inPercent(round.acceptance));
  const line = { plane, style, look: "accepted" };
  return (
    <Drawing plane={plane}>
      <Axes plane={plane} xTicks={roundTicks(reach.rounds)} yTicks={SHARES} letters={style.letters} grid />
      {before && <LineOfBefore {...{ plane, style }} values={before.acceptance.map(inPercent)} look="accepted pale" />}
      {before && <LineAhead {...{ ...line, values, done }} />}
      <LineSoFar {...line} values={values.slice(0, done)} words={(value) => percent(value / 100)} />
      {asked.run && <Level {...line} value={inPercent(asked.run.acceptance)} />}
    </Drawing>
  );
}

function SpeedupFigure({ plot, rounds, done, style, data, asked, reach }: Wanted) {
  const { before, plain, running } = data;
  const plane = new Plane(plot, margin(style), roundSpan(reach.rounds), speedupSpan(reach.speedup));
  const values = plain === null ? [] : rounds.map(({ speedup }) => speedup);
  return (
    <Drawing plane={plane}>
      <Axes plane={plane} xTicks={roundTicks(reach.rounds)} yTicks={speedupTicks(reach.speedup)} letters={style.letters} />
      <Level {...{ plane }} value={1} look="break-even" />
      {plain === null && !running && <text x={plane.x(reach.rounds / 2 + 0.5)} y={style.letters * 1.5} class="middle">{say("alone_not_recorded")}</text>}
      {before && <LineOfBefore {...{ plane, style }} values={before.speedup} look={`corrected pale${before.trusted ? "" : " doubted"}`} />}
      {before && <LineAhead {...{ plane, values, done, style }} look="corrected" />}
      <LineSoFar {...{ plane, style }} values={values.slice(0, done)} look={trusted(data) ? "corrected" : "corrected doubted"} words={times} />
      {asked.run && <Level plane={plane} value={asked.run.speedup} look="corrected" />}
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
      <Axes plane={plane} xTicks={shown.map((position) => [position, String(position)])} yTicks={SHARES} letters={style.letters} />
      {counts.map(([accepted, judged], i) => {
        if (!judged) return null;
        const [position, top] = [i + 1, plane.y((100 * accepted) / judged)];
        const [from, to] = [plane.x(position - BAR / 2), plane.x(position + BAR / 2)];
        return (
          <>
            <rect x={from} y={top} width={to - from} height={plane.y(0) - top} class="share accepted"><title>{say("position_figure", { position, accepted, judged })}</title></rect>
            {labelled && <text x={plane.x(position)} y={top - style.letters * 0.25} class={small}>{`${accepted}/${judged}`}</text>}
          </>
        );
      })}
    </Drawing>
  );
}

/**
 * Acceptance (left axis) and speedup (right axis) at every draft length, replayed from the run on screen. Both curves go
 * through what was measured, at the run's own length. A dot follows the slider.
 */
function LengthsFigure({ plot, style, data, asked, reach }: Wanted) {
  const { letters } = style;
  const { before, replay, draft_length: own } = data;
  const sides = { ...margin(style), r: letters * 2.6 };
  const span: Span = [0.5, LENGTHS.length + 0.5];
  const planes = { shares: new Plane(plot, sides, span, [0, 105]), speeds: new Plane(plot, sides, span, speedupSpan(reach.lengths)) };
  const { shares, speeds } = planes;
  const right = shares.width - sides.r;
  const ticks = LENGTHS.filter((length) => length === 1 || length % 4 === 0).map((length) => [length, String(length)] as Tick);
  const here = markOf(data, { length: own, run: null, released: false }); // as it is marked, so that the curves go through it
  const replays = replay.why_not === null ? replay.lengths : {};
  const points: Mark[] = replay.why_not !== null ? [] : LENGTHS.map((length) => (here && length === own ? here : { ...replays[length], length, kind: "estimated" }));
  const between = Object.entries(replays).flatMap(([length, { interval }]) => (interval ? [{ x: speeds.x(Number(length)), interval }] : []));
  const edge = (end: 0 | 1) => between.map(({ x, interval }) => [x, speeds.y(interval[end])]);
  const then = before && { // as a dot on its own curves: where its time is not trusted, that is its estimate
    length: before.named.draft_length, acceptance: before.acceptance.at(-1) ?? null,
    speedup: (before.trusted ? before.speedup.at(-1) : before.lengths[before.named.draft_length - 1]?.[1]) ?? null,
  };
  const mark = markOf(data, asked);
  const looks = [asked.run || mark?.kind === "so_far" ? "accepted hollow" : "accepted", mark?.kind === "measured" ? "corrected" : "corrected hollow"];
  return (
    <Drawing plane={shares}>
      <Axes plane={shares} xTicks={ticks} yTicks={SHARES} letters={letters} />
      {speedupTicks(reach.lengths).map(([value, words]) => <text x={right + letters * 0.3} y={speeds.y(value) + letters * 0.35} class="right">{words}</text>)}
      <Level plane={speeds} value={1} look="break-even" />
      {before && <Both {...{ planes }} points={before.lengths.map(([acceptance, speedup]) => ({ acceptance, speedup }))} looks={["accepted pale", "corrected pale"]} />}
      {then && <Dots {...{ planes, letters }} at={then} looks={["accepted pale", before?.trusted ? "corrected pale" : "corrected pale hollow"]} />}
      {between.length > 0 && <polygon points={[...edge(0), ...edge(1).reverse()].join(" ")} class="between" /> /* where it is wide, a peak says nothing */}
      <Both {...{ planes, points }} looks={["accepted", "corrected estimated"]} />
      {mark && <Dots {...{ planes, looks, letters }} at={mark} />}
      {points.map((point) => <Tip plane={shares} x={point.length} words={say("point", { length: point.length, share: percent(point.acceptance), speed: speedOf(point) })} />)}
    </Drawing>
  );
}

/** The curves of the acceptance and of the speedup, each with its look. */
function Both({ planes: { shares, speeds }, points, looks: [share, speed] }: { planes: Planes; points: Point[]; looks: string[] }) {
  return <><Curve plane={shares} values={points.map(({ acceptance }) => inPercent(acceptance))} look={share} /><Curve plane={speeds} values={points.map(({ speedup }) => speedup)} look={speed} /></>;
}

function Dots({ planes, at: { acceptance, speedup, length: x }, looks, letters }: { planes: Planes; at: Point & { length: number }; looks: string[]; letters: number }) {
  const share = inPercent(acceptance);
  return (
    <>
      {share !== null && <Dot {...{ x, letters }} plane={planes.shares} value={share} look={looks[0]} />}
      {speedup !== null && <Dot {...{ x, letters }} plane={planes.speeds} value={speedup} look={looks[1]} />}
    </>
  );
}

// ---- their parts

function inPercent(share: number | null | undefined) {
  return share == null ? null : share * 100;
}

function margin({ letters }: Style): Margin {
  return { l: letters * 3.7, r: letters * 0.7, t: letters * 0.5, b: letters * 1.8 };
}

function roundSpan(rounds: number): Span {
  return [0.4, rounds + 0.6];
}

function roundTicks(rounds: number): Tick[] {
  return [[1, say("first_round")], ...[Math.ceil(rounds / 2), rounds].map((round) => [round, String(round)] as Tick)];
}

function speedupSpan(highest: number): Span {
  return [0, highest * 1.12];
}

export function speedupTicks(highest: number): Tick[] {
  return roundNumbers(speedupSpan(highest), 4).map((value) => [value, `${localize(String(value))}×`]);
}

/** Where it ends above the axis, with an arrow at its end. */
function LineOfBefore({ plane, values, look, style }: { plane: Plane; values: Values; look: string; style: Style }) {
  const last = values.findLastIndex((value) => value !== null);
  const value = values[last] ?? 0;
  return <><Curve {...{ plane, values, look }} />{value > plane.ySpan[1] && <Dot {...{ plane, x: last + 1, value, look }} letters={style.letters} />}</>;
}

/** A line across: an even speed, or what a replay at another draft length comes to. */
function Level({ plane, value, look }: { plane: Plane; value: number | null; look: string }) {
  if (value === null) return null;
  const y = plane.y(value);
  return <Line from={[plane.margin.l, y]} to={[plane.width - plane.margin.r, y]} class={look === "break-even" ? look : `curve ${look} estimated`} />;
}

function Curve({ plane, values, look }: { plane: Plane; values: Values; look: string }) {
  const places = values.flatMap((value, i) => (value === null ? [] : [[plane.x(i + 1), plane.y(value)]]));
  return places.length ? <polyline points={places.join(" ")} class={`curve ${look}`} /> : null;
}

/** A line up to now with a dot at its end; each round's value as a tip. */
function LineSoFar({ plane, values, look, style, words }: { plane: Plane; values: Values; look: string; style: Style; words: (value: number) => string }) {
  const known = values.flatMap((value, i) => (value === null ? [] : [{ x: i + 1, value }]));
  const last = known.at(-1);
  return (
    <>
      <Curve {...{ plane, values, look }} />
      {last && <Dot {...{ plane, look, ...last }} letters={style.letters} />}
      {known.map(({ x, value }) => <Tip {...{ plane, x }} words={say("round_figure", { round: x, figure: words(value) })} />)}
    </>
  );
}

/** What is decoded and not yet played: a thin line on from the round that is played, with a ring at its end. `done`: rounds that are played */
function LineAhead({ plane, values, done, look, style }: { plane: Plane; values: Values; done: number; look: string; style: Style }) {
  const ahead = values.map((value, i) => (i < done - 1 ? null : value));
  const last = ahead.findLastIndex((value) => value !== null);
  if (last < done) return null;
  const end = { plane, x: last + 1, value: ahead[last] ?? 0, look: `${look} hollow ahead`, letters: style.letters * 0.7 };
  return <><Curve plane={plane} values={ahead} look={`${look} ahead`} /><Dot {...end} /></>;
}

/** A dot; where the value is above the axis, an arrow at its end. */
function Dot({ plane, x, value, look, letters }: { plane: Plane; x: number; value: number; look: string; letters: number }) {
  const [cx, cy, r] = [plane.x(x), plane.y(value), letters * DOT];
  if (value <= plane.ySpan[1]) return <circle {...{ cx, cy, r }} class={`dot ${look}`} />;
  return <polygon points={`${cx - r},${cy + 2 * r} ${cx + r},${cy + 2 * r} ${cx},${cy}`} class={`dot beyond ${look}`} />;
}

/** A column over one round that nobody sees, with its words. */
function Tip({ plane, x, words }: { plane: Plane; x: number; words: string }) {
  const [from, to] = [plane.x(x - 0.5), plane.x(x + 0.5)];
  const { t, b } = plane.margin;
  return <rect x={from} y={t} width={to - from} height={plane.height - t - b} class="column"><title>{words}</title></rect>;
}
