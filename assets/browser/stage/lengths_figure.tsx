// Acceptance and speedup at every draft length, replayed from the run on screen. Both curves go through what was measured,
// at the run's own length. A dot follows the slider.

import { percent, times } from "../shared/numbers.js";
import { Curve, Dot, PERCENT, Tip, estimated, figuresOf, inPercent, margin, markOf, speedupSpan, speedupTicks, type Mark, type Point } from "./curves.js";
import { Axes, Drawing, Line, Plane, type Span, type Tick } from "./plane.js";
import { say } from "./words.js";
import type { ComparedPayload, StagePayload } from "../dist/payloads.js";
import type { Wanted } from "./figures.js";

export type Planes = { shares: Plane, speeds: Plane };

/** Acceptance (left axis) and speedup (right axis) at every draft length, and a dot at the slider's. */
export function LengthsFigure({ plot, style, data, asked, reach }: Wanted) {
  const { letters } = style;
  const sides = { ...margin(style), r: letters * 2.6 };
  const lengths = Array.from({ length: data.longest_draft }, (_, i) => i + 1);
  const span: Span = [0.5, lengths.length + 0.5];
  const planes = { shares: new Plane(plot, sides, span, [0, 105]), speeds: new Plane(plot, sides, span, speedupSpan(reach)) };
  const { shares, speeds } = planes;
  const right = shares.width - sides.r;
  const ticks = lengths.filter((length) => length === 1 || length % 4 === 0).map((length) => [length, String(length)] as Tick);
  const points = pointsOf(data, lengths);
  const [[, accepted], [, speedups]] = curvesOf(planes, points);
  const mark = markOf(data, asked);
  const open = asked.run || mark?.kind === "so_far";
  const looks = [open ? "accepted hollow" : "accepted", mark?.kind === "measured" ? "corrected" : "corrected hollow"];
  return (
    <Drawing plane={shares}>
      <Axes plane={shares} xTicks={ticks} yTicks={PERCENT} letters={letters} />
      {speedupTicks(reach).map(([value, words]) => <text x={right + letters * 0.3} y={speeds.y(value) + letters * 0.35} class="right">{words}</text>)}
      <Line from={[shares.x(span[0]), speeds.y(1)]} to={[right, speeds.y(1)]} class="break-even" />
      {data.before && <Before {...{ planes, letters }} before={data.before} />}
      <Between plane={speeds} data={data} />
      <Curve plane={shares} values={accepted} look="accepted" />
      <Curve plane={speeds} values={speedups} look="corrected estimated" />
      {mark && <Dots {...{ planes, looks, letters }} at={mark} />}
      {points.map((point) => <Tip plane={shares} x={point.length} words={inWords(point)} />)}
    </Drawing>
  );
}

function inWords(point: Mark) {
  const speed = point.kind === "estimated" ? `${estimated(point)}×` : times(point.speedup);
  return say("point", { length: point.length, share: percent(point.acceptance), speed });
}

/** The curves of the run before, and that run as a dot on them. */
function Before({ planes, before, letters }: { planes: Planes; before: ComparedPayload; letters: number }) {
  const curves = curvesOf(planes, before.lengths.map(([acceptance, speedup]) => ({ acceptance, speedup })));
  return (
    <>
      {curves.map(([plane, values, name]) => <Curve {...{ plane, values }} look={`${name} pale`} />)}
      <Dots {...{ planes, letters }} at={markOfBefore(before)} looks={["accepted pale", before.trusted ? "corrected pale" : "corrected pale hollow"]} />
    </>
  );
}

/** The interval of each length's estimate: where it is wide, a peak says nothing. */
function Between({ plane, data: { replay } }: { plane: Plane; data: StagePayload }) {
  const ends = replay.why_not === null ? Object.entries(replay.lengths).flatMap(([length, { interval }]) => (interval ? [{ x: plane.x(Number(length)), interval }] : [])) : [];
  const edge = (end: 0 | 1) => ends.map(({ x, interval }) => [x, plane.y(interval[end])]);
  return ends.length ? <polygon points={[...edge(0), ...edge(1).reverse()].join(" ")} class="between" /> : null;
}

/** Every draft length: the run's own as it is marked, so that the curves go through it; the others as they are replayed. */
function pointsOf(data: StagePayload, lengths: number[]): Mark[] {
  const { replay } = data;
  if (replay.why_not !== null) return [];
  const own = markOf(data, { length: data.draft_length, run: null, released: false });
  return lengths.map((length) => (own?.length === length ? own : { ...figuresOf(replay.lengths[length]), length, kind: "estimated" }));
}

/** Each with its values and its name in the style sheet. */
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
function Dots({ planes, at, looks, letters }: { planes: Planes; at: Point & { length: number }; looks: string[]; letters: number }) {
  const [share, x] = [inPercent(at.acceptance), at.length];
  return (
    <>
      {share !== null && <Dot {...{ x, letters }} plane={planes.shares} value={share} look={looks[0]} />}
      {at.speedup !== null && <Dot {...{ x, letters }} plane={planes.speeds} value={at.speedup} look={looks[1]} />}
    </>
  );
}
