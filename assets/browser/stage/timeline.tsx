// The timeline: one-token steps of the target alone above draft and verify blocks, in measured milliseconds; a path a kind of
// block, however many there are. The cursor and the veil over what is still to come are two elements that only slide.

import { render } from "preact";
import { byTarget } from "../shared/chips.js";
import { find } from "../shared/dom.js";
import { localize, milliseconds, times } from "../shared/numbers.js";
import { Axes, Drawing, Plane, roundNumbers, type Margin, type Span, type Style, type Tick } from "./plane.js";
import { depthsOf } from "./tree.js";
import { say, voiceOf } from "./words.js";
import type { Chip, RoundPayload, StagePayload } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";

type Kind = "alone" | "accepted" | "proposed" | "wasted" | "verify" | "width";

const LANES: Array<[Kind, Span]> = [
  ["alone", [1.14, 1.86]],
  ["accepted", [0.14, 0.86]],
  ["proposed", [0.14, 0.86]],
  ["wasted", [0.14, 0.5]], // however narrow a block is, its height says what became of it
  ["verify", [0.14, 0.86]],
  ["width", [0.14, 0.86]], // of a tree: over the block of its check
];
const STEP_PIXELS = 62; // a one-token target step is drawn about this wide while zoomed in
const LEFT_MARGIN = { wide: 8, narrow: 4.2 }; // letters, for the lanes' names: at least
const NAME_LETTER = 0.5; // the width of one in a name
const BESIDE_NAMES = 0.4;
const GAP = 1.5; // pixels between two blocks
const NARROW = 4; // pixels: guesses with less room each are drawn as one block with those beside them that fared alike
const ROOM = { step: 2.2, check: 3.8 }; // letters that the words on a block need
const HATCH = "wasted-hatch";

export class Timeline {
  plot = find(this.stage, ".timeline .plot");
  area = find(this.stage, ".lane-area");
  zoomButton = find(this.stage, ".zoom");
  whole: boolean | null = null; // what the visitor chose; null: a part while it plays, all of it at the end
  window: Span = [0, 1];
  drawn = "";
  data: StagePayload | null = null;

  constructor(public stage: HTMLElement, public playhead: Playhead) {
    this.zoomButton.addEventListener("click", () => {
      const whole = !this.#showsWhole;
      this.whole = whole === playhead.over ? null : whole;
      this.window = [0, 0];
      playhead.moved();
    });
    this.area.addEventListener("click", (event) => {
      const round = this.#roundAt(event);
      if (round < 0) return;
      playhead.seekJudged(round);
      playhead.rested();
    });
    this.area.addEventListener("pointermove", (event) => (this.area.title = this.#inWords(this.#roundAt(event))));
  }

  load(data: StagePayload) {
    this.data = data;
    this.drawn = "";
    find(this.stage, ".lane-note").textContent = data.plain === null && !data.running ? say("not_recorded") : "";
    for (const part of [find(this.stage, ".lanes"), find(this.stage, ".keys"), this.zoomButton]) part.hidden = !data.timed;
    if (!data.timed) render(null, this.plot);
  }

  show(style: Style) {
    const { data, plot, area } = this;
    if (!data?.timed) return;
    const { round, substep, done } = this.playhead;
    const current = data.rounds[round];
    const now = current ? current.ms[1 + substep] : 0;
    const { letters, narrow } = style;
    const margin = { l: letters * leftMargin(laneNames(data, narrow), narrow), r: letters * 0.8, t: letters * 0.2, b: letters * 1.7 };
    const width = plot.clientWidth - margin.l - margin.r;
    this.#chooseWindow(data, now, current?.ms[0] ?? 0, width);
    const [from, to] = this.window;
    const wanted = `${this.window} ${done} ${data.rounds.length} ${data.plain?.length} ${style.key} ${plot.clientWidth} ${data.diagram?.words}`;
    if (wanted !== this.drawn && plot.clientWidth) {
      this.drawn = wanted;
      render(<Lanes {...{ data, margin, style, plot }} window={this.window} judged={done} />, plot);
    }
    Object.assign(area.style, { left: `${margin.l}px`, right: `${margin.r}px`, bottom: `${margin.b}px` });
    const x = Math.max(0, Math.min(1, (now - from) / (to - from))) * width;
    for (const part of [".cursor", ".veil"]) find(area, part).style.transform = `translateX(${x}px)`;
  }

  /** The time on screen: all of it, or pages of it that turn as the playhead leaves them. `width`: pixels */
  #chooseWindow({ rounds, plain, more }: StagePayload, now: number, roundStart: number, width: number) {
    const check = () => rounds.reduce((sum, { ms }) => sum + ms[2] - ms[1], 0) / rounds.length || 1;
    const step = plain?.length ? plain[plain.length - 1] / plain.length : check(); // of the target, or a check where the plain run is missing
    const end = Math.max(rounds.at(-1)?.ms[3] ?? 0, plain?.at(-1) ?? 0, 1);
    const span = (Math.max(width, 60) / STEP_PIXELS) * step;
    const fits = span >= end;
    this.zoomButton.hidden = fits; // its place stays: the row below would move
    this.zoomButton.textContent = say(this.#showsWhole ? "zoom_in" : "whole_run");
    const [from, to] = this.window;
    if (this.#showsWhole || fits) {
      this.window = [0, Math.max(end * 1.01, more ? span : 0)];
    } else if (now > from + span * 0.97 || roundStart < from || to - from !== span) {
      const start = now <= span * 0.9 ? 0 : Math.max(0, roundStart - span * 0.12);
      this.window = [start, start + span];
    }
  }

  get #showsWhole() {
    return this.whole ?? this.playhead.over;
  }

  /** The round at the pointer; -1 where there is none. */
  #roundAt(event: MouseEvent) {
    const box = this.area.getBoundingClientRect();
    const [from, to] = this.window;
    const time = from + ((event.clientX - box.left) / box.width) * (to - from);
    return this.data?.rounds.findIndex((round) => time >= round.ms[0] && time < round.ms[3]) ?? -1;
  }

  #inWords(index: number) {
    if (!this.data || index < 0) return "";
    const { rounds, measured } = this.data;
    const [start, drafted, verified, end] = rounds[index].ms;
    const wide = widthInWords(rounds[index], this.data);
    const [draft, check, rest] = [drafted - start, verified - drafted, end - verified].map(milliseconds);
    return say(wide ? "round_times_tree" : "round_times", { round: index + 1, draft, check, wide, rest, measured });
  }
}

/** What the check of a tree costs, beside a pass over one token; empty for any other round. */
export function widthInWords(round: RoundPayload | undefined, { plain }: StagePayload) {
  const one = round?.tree ? plainStep(plain) : null;
  if (!round?.tree || !one) return "";
  const [, drafted, verified] = round.ms;
  return say("tree_width", { tokens: round.tree.parents.length + 1, times: times((verified - drafted) / one) });
}

/** Milliseconds of a pass over one token, the median of the target alone; null where that was not measured. */
export function plainStep(plain: number[] | null) {
  if (!plain?.length) return null;
  const lengths = plain.map((end, i) => end - (i ? plain[i - 1] : 0)).sort((one, other) => one - other);
  return lengths[Math.floor(lengths.length / 2)];
}

type Wanted = { data: StagePayload, window: Span, margin: Margin, style: Style, plot: HTMLElement, judged: number };

/** `judged` is how many rounds: what is drafted after them is neither accepted nor wasted yet. */
function Lanes({ data, window, margin, style, plot, judged }: Wanted) {
  const { letters, narrow } = style;
  const plane = new Plane(plot, margin, window, [0, 2]);
  const steps = (data.plain ?? []).map((end, i, ends) => [i ? ends[i - 1] : 0, end] as Span);
  const seen = ([start, end]: Span) => end >= window[0] && start <= window[1];
  const rounds = data.rounds.filter(({ ms }) => seen([ms[0], ms[3]]));
  const one = data.rule === "tree" ? plainStep(data.plain) : null;
  const blocks: Record<Kind, Span[]> = {
    alone: steps.filter(seen),
    ...draftBlocks(rounds, data, judged, (NARROW * (window[1] - window[0])) / (plane.x(window[1]) - plane.x(window[0]))),
    verify: rounds.map(({ ms }) => [ms[1], ms[2]] as Span),
    width: rounds.flatMap(({ ms: [, drafted, verified], tree }) => (one !== null && tree && verified - drafted > one ? [[drafted + one, verified] as Span] : [])), // what a check of a whole tree takes longer
  };
  const names = laneNames(data, narrow);
  const at: Tick[] = roundNumbers(plane.xSpan, narrow ? 4 : 9).map((ms) => [ms, `${localize(String(ms))} ms`]);
  const check = voiceOf(data.diagram?.words)("lane_check");
  return (
    <Drawing plane={plane}>
      <defs>{/* drafts that were not accepted are seen without colour too */}
        <pattern id={HATCH} width={5} height={5} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width={5} height={5} class="hatch-ground" /><rect width={1.7} height={5} class="hatch-line" />
        </pattern>
      </defs>
      <Axes plane={plane} xTicks={at} yTicks={names.map((name, i) => [i + 0.5, name])} letters={letters} />
      {LANES.map(([kind, lane]) => (kind !== "width" || data.rule === "tree") && <Boxes {...{ plane, kind, lane }} spans={blocks[kind]} />)}
      <Labels {...{ plane, letters }} spans={steps} words={(i) => String(i + 1)} y={1.5} room={ROOM.step * letters} />
      <Labels {...{ plane, letters }} spans={blocks.verify} words={() => check} y={0.5} room={ROOM.check * letters} />
    </Drawing>
  );
}

function laneNames({ diagram }: StagePayload, narrow: boolean) {
  const said = voiceOf(diagram?.words);
  return narrow ? [said("lane_both_narrow"), said("lane_alone_narrow")] : [said("lane_both"), said("lane_alone")];
}

/** In letters: a translated name can be longer than the English one. */
export function leftMargin(names: string[], narrow: boolean) {
  const longest = Math.max(...names.flatMap((name) => name.split("\n")).map((line) => line.length));
  return Math.max(LEFT_MARGIN[narrow ? "narrow" : "wide"], longest * NAME_LETTER + BESIDE_NAMES);
}

function Boxes({ plane, spans, lane: [low, high], kind }: { plane: Plane; spans: Span[]; lane: Span; kind: Kind }) {
  const [top, bottom] = [plane.y(high), plane.y(low)];
  const [least, most] = [plane.margin.l, plane.width - plane.margin.r];
  const drawn = spans.map(([start, end]) => {
    const left = Math.max(plane.x(start), least);
    const right = Math.min(Math.max(plane.x(end) - GAP, plane.x(start) + GAP / 4), most);
    return right > left ? `M${left} ${top}H${right}V${bottom}H${left}Z` : ""; // a round may be on screen in part
  });
  return <path d={drawn.join("")} class={`block ${kind}`} fill={kind === "wasted" ? `url(#${HATCH})` : undefined} />;
}

/** Each draft step has a share of its round's draft phase: accepted where something of it was. `narrow`: milliseconds */
function draftBlocks(rounds: RoundPayload[], data: StagePayload, judged: number, narrow: number) {
  const blocks: Record<"accepted" | "wasted" | "proposed", Span[]> = { accepted: [], wasted: [], proposed: [] };
  const decided = new Set(data.rounds.slice(0, judged));
  for (const round of rounds) {
    const [start, end] = round.ms;
    const drafted = round.chips.filter((chip) => !byTarget(chip));
    let steps: Chip[][] = drafted.map((chip) => [chip]); // what each drafts: a token; of a tree, all guesses for a place; heads without order, everything at once
    if (data.method.at_once && drafted.length) steps = [drafted];
    else if (round.tree) {
      const depths = depthsOf(round.tree);
      steps = Array.from({ length: Math.max(...depths) + 1 }, (_, depth) => drafted.filter((_, i) => depths[i] === depth));
    }
    const length = (end - start) / steps.length;
    let before = null;
    for (const [i, guesses] of steps.entries()) {
      const span: Span = [start + i * length, start + (i + 1) * length];
      const accepted = guesses.some(({ status }) => status === "accepted");
      const kind = !decided.has(round) ? "proposed" : accepted ? "accepted" : "wasted";
      if (kind === before && length < narrow) (blocks[kind].at(-1) as Span)[1] = span[1];
      else blocks[kind].push(span);
      before = kind;
    }
  }
  return blocks;
}

type Words = { plane: Plane; spans: Span[]; words: (i: number) => string; y: number; room: number; letters: number }; // room: pixels that a word needs

/** Words on the blocks that are wide enough, for those on screen. */
function Labels({ plane, spans, words, y, room, letters }: Words) {
  const pixels = spans.map(([start, end]) => plane.x(end) - plane.x(start));
  const typical = pixels.reduce((sum, width) => sum + width, 0) / pixels.length;
  const [from, to] = plane.xSpan;
  return spans.map(([start, end], i) => {
    const fits = start >= from && end <= to && Math.min(pixels[i], typical) > room;
    return fits && <text x={plane.x((start + end) / 2)} y={plane.y(y) + letters * 0.35} class={y > 1 ? "middle" : "middle on-ink"}>{words(i)}</text>;
  });
}
