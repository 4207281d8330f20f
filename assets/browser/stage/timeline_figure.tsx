// The timeline's blocks: a path a kind of block, however many there are.

import { byTarget } from "../shared/chips.js";
import { localize } from "../shared/localize.js";
import { Axes, Drawing, Plane, roundNumbers, type Margin, type Span, type Tick } from "./plane.js";
import { depthsOf } from "./tree.js";
import { voiceOf } from "./words.js";
import type { Chip, RoundPayload, StagePayload } from "../dist/payloads.js";
import type { Style } from "./style.js";

export type Wanted = { data: StagePayload, window: Span, margin: Margin, style: Style, plot: HTMLElement, judged: number };

const LANES: Record<"alone" | "speculative" | "low", Span> = { alone: [1.14, 1.86], speculative: [0.14, 0.86], low: [0.14, 0.5] };
const BLOCKS: Array<["alone" | "accepted" | "proposed" | "wasted" | "verify" | "width", keyof typeof LANES]> = [
  ["alone", "alone"],
  ["accepted", "speculative"],
  ["proposed", "speculative"],
  ["wasted", "low"], // however narrow a block is, its height says what became of it
  ["verify", "speculative"],
  ["width", "speculative"], // of a tree: over the block of its check
];
const LEFT_MARGIN = { wide: 8, narrow: 4.2 }; // letters, for the lanes' names
const GAP = 1.5; // pixels between two blocks
const NARROW = 4; // pixels: guesses with less room each are drawn as one block with those beside them that fared alike
const ROOM = { step: 2.2, check: 3.8 }; // letters that the words on a block need
const HATCH = "wasted-hatch";

export function timelineMargin({ letters, narrow }: Style): Margin {
  return { l: letters * LEFT_MARGIN[narrow ? "narrow" : "wide"], r: letters * 0.8, t: letters * 0.2, b: letters * 1.7 };
}

/** `judged` is how many rounds: what is drafted after them is neither accepted nor wasted yet. */
export function TimelineFigure({ data, window, margin, style, plot, judged }: Wanted) {
  const plane = new Plane(plot, margin, window, [0, 2]);
  const blocks = blocksOf(data, window, judged, (NARROW * (window[1] - window[0])) / (plane.x(window[1]) - plane.x(window[0])));
  const said = voiceOf(data.diagram?.words);
  const names = style.narrow ? [said("lane_both_narrow"), said("lane_alone_narrow")] : [said("lane_both"), said("lane_alone")];
  const times: Tick[] = roundNumbers(plane.xSpan, style.narrow ? 4 : 9).map((ms) => [ms, `${localize(String(ms))} ms`]);
  const check = said("lane_check");
  return (
    <Drawing plane={plane}>
      <Hatch />
      <Axes plane={plane} xTicks={times} yTicks={names.map((name, i) => [i + 0.5, name])} letters={style.letters} />
      {BLOCKS.map(([kind, lane]) => (kind !== "width" || data.rule === "tree") && <Boxes {...{ plane, kind }} spans={blocks[kind]} lane={LANES[lane]} />)}
      <Labels {...{ plane, style }} spans={steps(data)} words={(i) => String(i + 1)} y={1.5} room={ROOM.step * style.letters} />
      <Labels {...{ plane, style }} spans={blocks.verify} words={() => check} y={0.5} room={ROOM.check * style.letters} />
    </Drawing>
  );
}

function steps({ plain }: StagePayload) {
  return (plain ?? []).map((end, i, ends) => [i ? ends[i - 1] : 0, end] as Span);
}

/** What is on screen, by kind of block. `narrow`: milliseconds */
function blocksOf(data: StagePayload, window: Span, judged: number, narrow: number) {
  const seen = ([start, end]: Span) => end >= window[0] && start <= window[1];
  const onScreen = (rounds: RoundPayload[]) => rounds.filter((round) => seen([round.ms[0], round.ms[3]]));
  const one = data.rule === "tree" ? plainStep(data.plain) : null;
  return {
    alone: steps(data).filter(seen),
    ...draftBlocks(onScreen(data.rounds), data, judged, narrow),
    verify: onScreen(data.rounds).map((round) => [round.ms[1], round.ms[2]] as Span),
    width: one === null ? [] : onScreen(data.rounds).flatMap((round) => widthOf(round, one)),
  };
}

function Boxes({ plane, spans, lane: [low, high], kind }: { plane: Plane; spans: Span[]; lane: Span; kind: string }) {
  const [top, bottom] = [plane.y(high), plane.y(low)];
  const [least, most] = [plane.margin.l, plane.width - plane.margin.r];
  const drawn = spans.map(([start, end]) => {
    const left = Math.max(plane.x(start), least);
    const right = Math.min(Math.max(plane.x(end) - GAP, plane.x(start) + GAP / 4), most);
    return right > left ? `M${left} ${top}H${right}V${bottom}H${left}Z` : ""; // a round may be on screen in part
  });
  return <path d={drawn.join("")} class={`block ${kind}`} fill={kind === "wasted" ? `url(#${HATCH})` : undefined} />;
}

/** The pattern of drafts that were not accepted: seen without colour too. */
function Hatch() {
  return (
    <defs>
      <pattern id={HATCH} width={5} height={5} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width={5} height={5} class="hatch-ground" /><rect width={1.7} height={5} class="hatch-line" />
      </pattern>
    </defs>
  );
}

/** Each draft step's share of its round's draft phase, and whether something of it was accepted. */
function draftSpans(round: RoundPayload, { method }: StagePayload) {
  const [start, end] = round.ms;
  const steps = draftSteps(round, method.at_once);
  const length = (end - start) / steps.length;
  return steps.map((guesses, i) => ({
    accepted: guesses.some((chip) => chip.status === "accepted"),
    span: [start + i * length, start + (i + 1) * length] as Span,
  }));
}

/** What each step drafts: a token; of a tree, all guesses for a place; heads without order, everything at once. */
function draftSteps({ chips, tree }: RoundPayload, atOnce: boolean): Chip[][] {
  const drafted = chips.filter((chip) => !byTarget(chip));
  if (atOnce && drafted.length) return [drafted];
  if (!tree) return drafted.map((chip) => [chip]);
  const steps: Chip[][] = [];
  for (const [i, depth] of depthsOf(tree).entries()) (steps[depth] ??= []).push(drafted[i]);
  return steps;
}

/** `narrow`: milliseconds */
function draftBlocks(rounds: RoundPayload[], data: StagePayload, judged: number, narrow: number) {
  const blocks: Record<"accepted" | "wasted" | "proposed", Span[]> = { accepted: [], wasted: [], proposed: [] };
  const decided = new Set(data.rounds.slice(0, judged));
  for (const round of rounds) {
    let before = null;
    for (const { accepted, span } of draftSpans(round, data)) {
      const kind = !decided.has(round) ? "proposed" : accepted ? "accepted" : "wasted";
      if (kind === before && span[1] - span[0] < narrow) (blocks[kind].at(-1) as Span)[1] = span[1];
      else blocks[kind].push(span);
      before = kind;
    }
  }
  return blocks;
}

/** What a check of a whole tree takes longer than a pass over one token. `one`: milliseconds of that pass */
function widthOf({ ms: [, drafted, verified], tree }: RoundPayload, one: number): Span[] {
  return tree && verified - drafted > one ? [[drafted + one, verified]] : [];
}

/** Milliseconds of a pass over one token, the median of the target alone; null where that was not measured. */
export function plainStep(plain: number[] | null) {
  if (!plain?.length) return null;
  const lengths = plain.map((end, i) => end - (i ? plain[i - 1] : 0)).sort((one, other) => one - other);
  return lengths[Math.floor(lengths.length / 2)];
}

type Words = { plane: Plane; spans: Span[]; words: (i: number) => string; y: number; room: number; style: Style }; // room: pixels that a word needs

/** Words on the blocks that are wide enough, for those on screen. */
function Labels({ plane, spans, words, y, room, style }: Words) {
  const pixels = spans.map(([start, end]) => plane.x(end) - plane.x(start));
  const typical = pixels.reduce((sum, width) => sum + width, 0) / pixels.length;
  const [from, to] = plane.xSpan;
  const middle = plane.y(y) + style.letters * 0.35;
  return spans.map(([start, end], i) => {
    const fits = start >= from && end <= to && Math.min(pixels[i], typical) > room;
    return fits && <text x={plane.x((start + end) / 2)} y={middle} class={y > 1 ? "middle" : "middle on-ink"}>{words(i)}</text>;
  });
}
