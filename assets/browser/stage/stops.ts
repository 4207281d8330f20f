// The picture of when to stop drafting: the draft's own probability of each guess of the round at the playhead, with the
// limit of the confidence stop; and the measured speedups with their intervals, by schedule and by batch.

import { byTarget, className } from "../shared/chips.js";
import { inHundred, prob, times } from "../shared/numbers.js";
import { box, label, svg } from "../shared/svg.js";
import { shorten, visible } from "../shared/text.js";
import { say, voiceOf, type Voice } from "./words.js";
import type { Chip, DiagramPayload, RoundPayload, StagePayload, StopsPayload, TargetChip } from "../dist/payloads.js";
import type { Drawing } from "./diagram.js";

export type DraftedChip = Exclude<Chip, TargetChip>;
export type Row = { name: string, value: number, low: number, high: number }; // a speedup and its interval
export type Guess = { text: string, kind: string, q: number, beyond: boolean }; // `beyond`: the stop would not draft it

const SCHEDULES: Record<string, "stop_fixed" | "stop_heuristic" | "stop_confidence"> = { fixed: "stop_fixed", heuristic: "stop_heuristic", confidence: "stop_confidence" };
const ROW = 21;
const LEFT = 300; // width of the guesses
const MOST = 8; // guesses drawn
const FIGURE = 36; // width of a probability and its gap

/** How many guesses have a row, in each round of a run. */
const rowsIn = ({ draft_length: longest }: Pick<StagePayload, "draft_length">) => Math.min(longest, MOST);

export function stopsHeight(stops: StopsPayload, run: StagePayload, { width }: Drawing["size"]) {
  const right = (stops.schedules.length + stops.batches.length) * ROW + 62;
  return width > 500 ? right : right + rowsIn(run) * ROW + 40;
}

/** The guesses of a round, and which of them the confidence stop would not draft: those after the first unsure one. */
export function guessesOf({ chips }: RoundPayload, limit: number): Guess[] {
  const drafted = chips.filter((chip) => !byTarget(chip)).map((chip) => chip as DraftedChip);
  const unsure = drafted.findIndex(({ q }) => q !== null && q < limit);
  return drafted.map(({ text, status, q }, i) => ({ text, kind: className(status), q: q ?? 0, beyond: unsure >= 0 && i > unsure }));
}

/** `index`: of the round */
export function drawStops(stops: StopsPayload, run: StagePayload, index: number, { top, size, words }: Drawing): SVGElement[] {
  const said = voiceOf(words);
  const wide = size.width > 500;
  const [x, y] = wide ? [LEFT + 50, top] : [4, top + rowsIn(run) * ROW + 38];
  return [
    ...drawGuesses(guessesOf(run.rounds[index], stops.limit).slice(0, MOST), stops.limit, top, wide ? LEFT : size.width - 8, said),
    ...drawSpeedups(stops, x, y, size.width - x - 8, said),
  ];
}

/** Where a text starts that stands after a bar: behind the line that it would lie under. `end`: of the bar. `width`: of the text */
export const afterBar = (end: number, width: number, line: number) => (end < line && line < end + width ? line : end);

function drawGuesses(guesses: Guess[], limit: number, top: number, width: number, said: Voice) {
  if (!guesses.length) return [label(said("nothing_drafted"), 4, top + 10, "small start")];
  const [x, full] = [86, width - 86 - 46];
  const line = x + full * limit;
  const rows = guesses.flatMap(({ text, kind, q, beyond }, i) => {
    const y = top + 20 + i * ROW;
    const bar = box(x, y, full * q, 12, `odds guessed ${beyond ? "later" : kind}`);
    const place = afterBar(x + full * q, beyond ? Infinity : FIGURE, line) + 5;
    return [label(shorten(visible(text), 9), 4, y + 11, "word"), bar, label(beyond ? say("after_the_stop") : prob(q), place, y + 11, "figure")];
  });
  const bottom = top + 20 + guesses.length * ROW;
  return [
    label(said("this_round"), 4, top + 9, "small start"),
    ...rows,
    svg("line", { x1: line, x2: line, y1: top + 15, y2: bottom, class: "limit" }),
    label(said("limit_of_stop", { limit: prob(limit) }), line, bottom + 12, "small"),
  ];
}

/** Each speedup as a dot with its interval, on one scale. */
function drawSpeedups(stops: StopsPayload, x: number, y: number, width: number, said: Voice) {
  const { schedules, batches } = rowsOf(stops, said);
  const all = [...schedules, ...batches];
  const [names, figures] = [150, 44];
  const [low, high] = [Math.min(1, ...all.map((row) => row.low)), Math.max(1, ...all.map((row) => row.high))];
  const at = (value: number) => x + names + ((width - names - figures) * (value - low)) / (high - low);
  const second = y + 18 + schedules.length * ROW + 6;
  const bottom = second + 18 + batches.length * ROW;
  const drawn = (rows: Row[], from: number) => rows.flatMap((row, i) => drawRow(row, x, from + 18 + i * ROW, at, x + width));
  return [
    svg("line", { x1: at(1), x2: at(1), y1: y + 14, y2: bottom, class: "limit" }),
    label(said("by_schedule", { measured: stops.measured[0] }), x, y + 9, "small start"),
    ...drawn(schedules, y),
    label(said("by_batch", { measured: stops.measured[1] }), x, second + 9, "small start"),
    ...drawn(batches, second),
    label(said("stops_scale"), x + width, bottom + 12, "small end"),
  ];
}

function drawRow({ name, value, low, high }: Row, x: number, y: number, at: (value: number) => number, right: number) {
  return [
    label(name, x, y + 9, "small start name"),
    svg("line", { x1: at(low), x2: at(high), y1: y + 5, y2: y + 5, class: "interval" }),
    svg("circle", { cx: at(value), cy: y + 5, r: 4, class: "odds passes" }),
    label(times(value), right, y + 9, "small end"),
  ];
}

function rowsOf({ schedules, batches }: StopsPayload, said: Voice): Record<"schedules" | "batches", Row[]> {
  return {
    schedules: schedules.map(([schedule, value, low, high]) => ({ name: said(SCHEDULES[schedule]), value, low, high })),
    batches: batches.map(([texts, length, value, low, high]) => ({ name: said("stop_batch", { texts, length }), value, low, high })),
  };
}

/** The picture as sentences, for a screen reader. */
export function stopsInWords(stops: StopsPayload, round: RoundPayload, words: DiagramPayload["words"]) {
  const said = voiceOf(words);
  const guesses = guessesOf(round, stops.limit).map(({ text, q, beyond }) => `${visible(text)} ${prob(q)}${beyond ? `, ${say("after_the_stop")}` : ""}`);
  const { schedules, batches } = rowsOf(stops, said);
  const list = (rows: Row[]) => rows.map(({ name, value, low, high }) => say("row_interval", { name, value: times(value), low: times(low), high: times(high) })).join("; ");
  const its = guesses.length ? `${said("this_round")}: ${guesses.join("; ")}. ${said("limit_of_stop", { limit: prob(stops.limit) })}.` : said("nothing_drafted");
  const shown = words === "plain" ? inHundred(its) : its;
  const [bySchedule, byBatch] = [said("by_schedule", { measured: stops.measured[0] }), said("by_batch", { measured: stops.measured[1] })];
  return `${shown} ${said("stops_scale")}. ${bySchedule}: ${list(schedules)}. ${byBatch}: ${list(batches)}.`;
}
