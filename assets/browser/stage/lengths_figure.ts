// Acceptance and speedup at every draft length, replayed from the run on screen. Both curves go through what was measured,
// at the run's own length. A dot follows the slider.

import { percent, times } from "../shared/numbers.js";
import { label, svg } from "../shared/svg.js";
import { PERCENT, curve, dotAt, estimated, figuresOf, inPercent, margin, markOf, speedupSpan, speedupTicks, tip, type Mark, type Point } from "./curves.js";
import { Plane, line, type Span, type Tick } from "./plane.js";
import { say } from "./words.js";
import type { ComparedPayload, StagePayload } from "../shared/payloads.js";
import type { Wanted } from "./figures.js";

export type Planes = { shares: Plane, speeds: Plane };

/** Acceptance (left axis) and speedup (right axis) at every draft length, and a dot at the slider's. */
export function lengthsFigure({ plot, style, data, asked, reach }: Wanted) {
  const { letters } = style;
  const sides = { ...margin(style), r: letters * 2.6 };
  const lengths = Array.from({ length: data.longest_draft }, (_, i) => i + 1);
  const span: Span = [0.5, lengths.length + 0.5];
  const planes = { shares: new Plane(plot, sides, span, [0, 105]), speeds: new Plane(plot, sides, span, speedupSpan(reach)) };
  const { shares, speeds } = planes;
  const root = shares.root();
  const right = shares.width - sides.r;
  const ticks = lengths.filter((length) => length === 1 || length % 4 === 0).map((length) => [length, String(length)] as Tick);
  root.append(shares.axes(ticks, PERCENT, letters));
  for (const [value, words] of speedupTicks(reach)) root.append(label(words, right + letters * 0.3, speeds.y(value) + letters * 0.35, "right"));
  root.append(line(shares.x(span[0]), speeds.y(1), right, speeds.y(1), "break-even"));
  const points = pointsOf(data, lengths);
  const now = curvesOf(planes, points);
  const { before } = data;
  const then = before ? curvesOf(planes, before.lengths.map(([acceptance, speedup]) => ({ acceptance, speedup }))) : [];
  if (before) {
    root.append(...then.flatMap(([plane, values, name]) => curve(plane, values, `${name} pale`)));
    root.append(...dots(planes, markOfBefore(before), ["accepted pale", before.trusted ? "corrected pale" : "corrected pale hollow"], letters));
  }
  const [[, accepted], [, speedups]] = now;
  root.append(...between(speeds, data), ...curve(shares, accepted, "accepted"), ...curve(speeds, speedups, "corrected estimated"));
  const mark = markOf(data, asked);
  const open = asked.run || mark?.kind === "so_far";
  const looks = [open ? "accepted hollow" : "accepted", mark?.kind === "measured" ? "corrected" : "corrected hollow"];
  if (mark) root.append(...dots(planes, mark, looks, letters));
  for (const point of points) {
    const speed = point.kind === "estimated" ? `${estimated(point)}×` : times(point.speedup);
    root.append(tip(shares, point.length, say("point", { length: point.length, share: percent(point.acceptance), speed })));
  }
  return root;
}

/** The interval of each length's estimate: where it is wide, a peak says nothing. */
function between(plane: Plane, { replay }: StagePayload) {
  const ends = replay.why_not === null ? Object.entries(replay.lengths).flatMap(([length, { interval }]) => (interval ? [{ x: plane.x(Number(length)), interval }] : [])) : [];
  const edge = (end: 0 | 1) => ends.map(({ x, interval }) => [x, plane.y(interval[end])]);
  return ends.length ? [svg("polygon", { points: [...edge(0), ...edge(1).reverse()].join(" "), class: "between" })] : [];
}

/** Every draft length: the run's own as it is marked, so that the curves go through it; the others as they are replayed. */
function pointsOf(data: StagePayload, lengths: number[]): Mark[] {
  const { replay } = data;
  if (replay.why_not !== null) return [];
  const own = markOf(data, { length: data.draft_length, run: null, released: false });
  return lengths.map((length) => (own?.length === length ? own : { ...figuresOf(replay.lengths[length]), length, kind: "estimated" }));
}

/** Returns each with its values and its name in the style sheet */
function curvesOf({ shares, speeds }: Planes, points: Point[]): Array<[Plane, Array<number | null>, string]> {
  return [
    [shares, points.map(({ acceptance }) => inPercent(acceptance)), "accepted"],
    [speeds, points.map(({ speedup }) => speedup), "corrected"],
  ];
}

/** The run before as a dot on its own curves. Where its time is not trusted, that is its estimate. */
function markOfBefore({ draft_length: length, acceptance, speedup, lengths, trusted }: ComparedPayload) {
  return { length, acceptance: acceptance.at(-1) ?? null, speedup: (trusted ? speedup.at(-1) : lengths[length - 1]?.[1]) ?? null };
}

/** `looks`: of the acceptance and of the speedup */
function dots({ shares, speeds }: Planes, { length, acceptance, speedup }: Point & { length: number }, looks: string[], letters: number) {
  const share = inPercent(acceptance);
  return [
    ...(share === null ? [] : [dotAt(shares, length, share, looks[0], letters)]),
    ...(speedup === null ? [] : [dotAt(speeds, length, speedup, looks[1], letters)]),
  ];
}
