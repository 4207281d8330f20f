// What the small charts share: curves and dots, the axes' ticks, and the figures of a run in two numbers.

import { fixed, localize } from "../shared/localize.js";
import { Line, roundNumbers, type Margin, type Place, type Plane, type Span, type Tick } from "./plane.js";
import { say } from "./words.js";
import type { ReplayedLength, StagePayload } from "../dist/payloads.js";
import type { Style } from "./style.js";

export type Point = { acceptance: number | null, speedup: number | null, interval?: Span | null }; // interval: 95 % of an estimated speedup
export type Asked = { length: number, run: ReplayedLength | null, released: boolean }; // The slider's draft length, the run replayed there, and whether a real run of it was asked for.
export type Mark = Point & { length: number, kind: "measured" | "estimated" | "so_far" };
export type Reach = { rounds: number, speedup: number, lengths: number }; // how far the axes go; `lengths`: the speedups there

const DOT = 0.37; // of the letters' height
export const PERCENT: Tick[] = [[0, "0"], [50, "50"], [100, "100 %"]];

/** The share of drafted tokens that a replay accepts, and its speedup. */
export function figuresOf({ accepted, rejected, discarded, speedup, interval }: ReplayedLength): Point {
  const drafted = accepted + rejected + discarded;
  return { acceptance: drafted ? accepted / drafted : null, speedup, interval };
}

/** An estimated speedup in numbers: its interval, where that is known. */
export function estimated({ speedup, interval }: Pick<Point, "speedup" | "interval">) {
  if (!interval) return say("about", { figure: localize(String(speedup?.toFixed(2))) });
  const [low, high] = interval.map((end) => fixed(end, 2));
  return low === high ? low : say("from_to", { low, high });
}

/** The figures of the whole run on screen; null while it goes on. */
export function lastOf({ rounds, running }: StagePayload): Point | null {
  const last = rounds.at(-1)?.after;
  return last && !running ? { acceptance: last.acceptance, speedup: last.speedup } : null;
}

/**
 * What is marked over the draft lengths: the replay where the slider is elsewhere, else the run, also while it goes on. A
 * time that is not trusted says nothing: the speedup is then estimated too, or not known.
 */
export function markOf(data: StagePayload, { length, run }: Asked): Mark | null {
  if (run) return { ...figuresOf(run), length, kind: "estimated" };
  const { rounds, running, replay, draft_length: own } = data;
  const last = rounds.at(-1)?.after;
  if (!last) return null;
  const here = { acceptance: last.acceptance, speedup: last.speedup, length: own };
  if (running || trusted(data)) return { ...here, kind: running ? "so_far" : "measured" };
  const quiet = replay.why_not === null ? replay.lengths[own] : null;
  return { ...here, speedup: quiet?.speedup ?? null, interval: data.result?.interval ?? quiet?.interval ?? null, kind: "estimated" };
}

/** Whether the machine was quiet enough for the speedup of the run on screen to say something. */
export function trusted({ result }: StagePayload) {
  return result?.trusted !== false;
}

export function inPercent(share: number | null | undefined) {
  return share == null ? null : share * 100;
}

export function speedupSpan({ speedup }: Pick<Reach, "speedup">): Span {
  return [0, speedup * 1.12];
}

export function speedupTicks(reach: Pick<Reach, "speedup">): Tick[] {
  return roundNumbers(speedupSpan(reach), 4).map((value) => [value, `${localize(String(value))}×`]);
}

export function margin({ letters }: Style): Margin {
  return { l: letters * 3.7, r: letters * 0.7, t: letters * 0.5, b: letters * 1.8 };
}

type Values = Array<number | null>; // from x = 1 on

/** The line of the run before, where it ends above the axis with an arrow at its end. */
export function LineOfBefore({ plane, before, figure, style }: { plane: Plane; before: StagePayload["before"]; figure: "acceptance" | "speedup"; style: Style }) {
  if (!before) return null;
  const values = figure === "speedup" ? before.speedup : before.acceptance.map(inPercent);
  const look = figure === "acceptance" ? "accepted pale" : `corrected pale${before.trusted ? "" : " doubted"}`;
  const last = values.findLastIndex((value) => value !== null);
  const value = values[last] ?? 0;
  return <><Curve {...{ plane, values, look }} />{value > plane.ySpan[1] && <Dot {...{ plane, x: last + 1, value, look }} letters={style.letters} />}</>;
}

/** What a replay at another draft length comes to: a line across. */
export function Level({ plane, value, look }: { plane: Plane; value: number | null; look: string }) {
  if (value === null) return null;
  const y = plane.y(value);
  return <Line from={[plane.margin.l, y]} to={[plane.width - plane.margin.r, y]} class={`curve ${look} estimated`} />;
}

export function Curve({ plane, values, look }: { plane: Plane; values: Values; look: string }) {
  const places: Place[] = values.flatMap((value, i) => (value === null ? [] : [[plane.x(i + 1), plane.y(value)]]));
  return places.length ? <polyline points={places.join(" ")} class={`curve ${look}`} /> : null;
}

/** A line up to now with a dot at its end; each round's value as a tip. */
export function LineSoFar({ plane, values, look, style, words }: { plane: Plane; values: Values; look: string; style: Style; words: (value: number) => string }) {
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
export function LineAhead({ plane, values, done, look, style }: { plane: Plane; values: Values; done: number; look: string; style: Style }) {
  const ahead = values.map((value, i) => (i < done - 1 ? null : value));
  const last = ahead.findLastIndex((value) => value !== null);
  if (last < done) return null;
  const end = { plane, x: last + 1, value: ahead[last] ?? 0, look: `${look} hollow ahead`, letters: style.letters * 0.7 };
  return <><Curve plane={plane} values={ahead} look={`${look} ahead`} /><Dot {...end} /></>;
}

/** A dot; where the value is above the axis, an arrow at its end. */
export function Dot({ plane, x, value, look, letters }: { plane: Plane; x: number; value: number; look: string; letters: number }) {
  const [cx, cy, r] = [plane.x(x), plane.y(value), letters * DOT];
  if (value <= plane.ySpan[1]) return <circle {...{ cx, cy, r }} class={`dot ${look}`} />;
  return <polygon points={`${cx - r},${cy + 2 * r} ${cx + r},${cy + 2 * r} ${cx},${cy}`} class={`dot beyond ${look}`} />;
}

/** A column over one round that nobody sees, with its words. */
export function Tip({ plane, x, words }: { plane: Plane; x: number; words: string }) {
  const [from, to] = [plane.x(x - 0.5), plane.x(x + 0.5)];
  const { t, b } = plane.margin;
  return <rect x={from} y={t} width={to - from} height={plane.height - t - b} class="column"><title>{words}</title></rect>;
}
