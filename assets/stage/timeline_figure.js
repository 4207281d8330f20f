// The timeline's blocks, as Plotly draws them.

import { byTarget } from "../shared/chips.js";
import { laneWords } from "./plain_words.js";
import { axis, baseLayout } from "./plotting.js";

/** @import { RoundPayload, StagePayload } from "../shared/payloads.js" */
/** @import { Style } from "./style.js" */

/** @typedef {[number, number]} Span from and to, in ms or in the plot's own units */

/** @typedef {{ l: number, r: number, t: number, b: number }} Margin in pixels */

/** @type {Record<"alone" | "speculative", Span>} */
const LANES = { alone: [1.14, 1.86], speculative: [0.14, 0.86] };
export const LEFT_MARGIN = { wide: 96, narrow: 50 }; // pixels, for the lanes' names

/**
 * @param {StagePayload} data
 * @param {Span} window
 * @param {Margin} margin
 * @param {Style} style
 * @param {HTMLElement} plot
 * @param {number} judged how many rounds: what is drafted after them is neither accepted nor wasted yet
 */
export function timelineFigure(data, window, margin, style, plot, judged) {
  const [from, to] = window;
  const pixelsPerMs = (plot.clientWidth - margin.l - margin.r) / (to - from);
  const { narrow, speculative, alone } = laneWords(data);
  const names = style.narrow ? narrow : [speculative, alone];
  const layout = {
    ...baseLayout(style, plot),
    margin,
    xaxis: axis(style, { range: [from, to], ticksuffix: " ms", nticks: style.narrow ? 4 : 9, showline: false }),
    yaxis: axis(style, { range: [0, 2], tickvals: [0.5, 1.5], ticktext: names, showline: false, ticklabelstandoff: 8 }),
  };
  return { traces: blocks(data, window, pixelsPerMs, style, judged), layout };
}

/**
 * @param {StagePayload} data
 * @param {Span} window
 * @param {number} pixelsPerMs
 * @param {Style} style
 * @param {number} judged
 */
function blocks(data, window, pixelsPerMs, style, judged) {
  const gap = 1.5 / pixelsPerMs;
  /** @param {Span} span */
  const seen = ([start, end]) => end >= window[0] && start <= window[1];
  const plain = data.plain ?? [];
  const alone = plain.map((end, i) => /** @type {Span} */ ([i ? plain[i - 1] : 0, end]));
  /** @param {RoundPayload[]} rounds */
  const onScreen = (rounds) => rounds.filter((round) => seen([round.ms[0], round.ms[3]]));
  const rounds = onScreen(data.rounds);
  const { accepted, wasted } = draftBlocks(onScreen(data.rounds.slice(0, judged)));
  const proposed = onScreen(data.rounds.slice(judged)).flatMap((round) => draftSpans(round).map(({ span }) => span));
  const verify = rounds.map((round) => /** @type {Span} */ ([round.ms[1], round.ms[2]]));
  const hatch = { shape: "/", size: 5, solidity: 0.35, fgcolor: style.accepted, bgcolor: style.background };
  /** @param {string} colour */
  const thin = (colour) => ({ color: colour, width: 1, simplify: false });
  return [
    { ...boxes(alone.filter(seen), LANES.alone, gap), fillcolor: style.soft, line: thin(style.mute) },
    { ...boxes(accepted, LANES.speculative, gap), fillcolor: style.accepted, line: thin(style.accepted) },
    { ...boxes(proposed, LANES.speculative, gap), fillcolor: style.background, line: thin(style.accepted) },
    { ...boxes(wasted, LANES.speculative, gap), fillpattern: hatch, line: thin(style.accepted) },
    { ...boxes(verify, LANES.speculative, gap), fillcolor: style.ink, line: thin(style.ink) },
    labels(alone, (i) => String(i + 1), 1.5, style.mute, window, 26 / pixelsPerMs),
    labels(verify, () => laneWords(data).check, 0.5, style.background, window, 46 / pixelsPerMs),
  ];
}

/**
 * Closed boxes as one Plotly line with gaps: a single path however many there are.
 * @param {Span[]} intervals
 * @param {Span} lane
 * @param {number} inset
 */
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

/**
 * Each drafted token's share of its round's draft phase.
 * @param {RoundPayload} round
 */
function draftSpans(round) {
  const drafted = round.chips.filter((chip) => !byTarget(chip));
  const length = (round.ms[1] - round.ms[0]) / drafted.length;
  const start = round.ms[0];
  return drafted.map((chip, i) => ({ chip, span: /** @type {Span} */ ([start + i * length, start + (i + 1) * length]) }));
}

/**
 * The drafts of judged rounds.
 * @param {RoundPayload[]} rounds
 */
function draftBlocks(rounds) {
  /** @type {Span[]} */
  const accepted = [];
  /** @type {Span[]} */
  const wasted = [];
  for (const round of rounds) {
    for (const { chip, span } of draftSpans(round)) (chip.status === "accepted" ? accepted : wasted).push(span);
  }
  return { accepted, wasted };
}

/**
 * Words on the blocks that are wide enough, for those on screen.
 * @param {Span[]} intervals
 * @param {(i: number) => string} words
 * @param {number} y
 * @param {string} colour
 * @param {Span} window
 * @param {number} room ms that a word needs
 */
function labels(intervals, words, y, colour, [from, to], room) {
  const typical = intervals.reduce((sum, [start, end]) => sum + end - start, 0) / intervals.length;
  const fitting = intervals
    .map(([start, end], i) => ({ start, end, word: words(i) }))
    .filter(({ start, end }) => start >= from && end <= to && Math.min(end - start, typical) > room);
  const x = fitting.map(({ start, end }) => (start + end) / 2);
  const text = fitting.map(({ word }) => word);
  return { x, y: x.map(() => y), text, type: "scatter", mode: "text", textfont: { color: colour, size: 12 }, hoverinfo: "skip" };
}
