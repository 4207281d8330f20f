// A small chart's plane: where a value is, in pixels, and the axes around it.

import { UNTRANSLATED } from "../shared/dom.js";
import type { ComponentChildren } from "preact";

export type Span = [number, number]; // from and to
export type Margin = { l: number, r: number, t: number, b: number }; // in pixels
export type Tick = [number, string]; // where, and its words

export type Style = ReturnType<typeof readStyle>;

const NARROW_BELOW = 560; // pixels; the style sheet has the same limit
const LETTER = 0.56; // the width of one, of the letters' height
const LINE = 0.35; // of the letters' height: from their middle down to the line they stand on

/** What a drawing needs to know of the page: sizes. Colours are the style sheet's business. `key` changes when everything has to be drawn again. */
export function readStyle(node: HTMLElement) {
  const style = getComputedStyle(node);
  const letters = parseFloat(style.getPropertyValue("--letters")) * parseFloat(style.fontSize); // the height of a drawing's
  return { letters, narrow: node.clientWidth < NARROW_BELOW, key: `${letters} ${node.clientWidth}` };
}

export class Plane {
  width;
  height;

  /** `plot`: the element that holds the chart */
  constructor(plot: HTMLElement, public margin: Margin, public xSpan: Span, public ySpan: Span) {
    this.width = plot.clientWidth;
    this.height = plot.clientHeight;
  }

  x(value: number) {
    const { l, r } = this.margin;
    return l + part(value, this.xSpan) * (this.width - l - r);
  }

  /** `value`: one above the axis is drawn at its end */
  y(value: number) {
    const { t, b } = this.margin;
    return this.height - b - part(Math.min(value, this.ySpan[1]), this.ySpan) * (this.height - t - b);
  }
}

export function Drawing({ plane: { width, height }, children }: { plane: Plane; children: ComponentChildren }) {
  return <svg {...UNTRANSLATED} viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">{children}</svg>;
}

/** Both axes; a horizontal line at each tick where `grid` is set. `letters`: their height in pixels */
export function Axes({ plane, xTicks, yTicks, letters, grid }: { plane: Plane; xTicks: Tick[]; yTicks: Tick[]; letters: number; grid?: boolean }) {
  const { margin: { l, r, t, b }, width, height } = plane;
  const [right, bottom] = [width - r, height - b];
  return (
    <g class="axes">
      {grid && yTicks.map(([value]) => <Line from={[l, plane.y(value)]} to={[right, plane.y(value)]} class="grid-line" />)}
      <Line from={[l, bottom]} to={[right, bottom]} class="axis" />
      <Line from={[l, t]} to={[l, bottom]} class="axis" />
      {xTicks.map(([value, words]) => (
        <text x={Math.min(plane.x(value), width - (words.length * letters * LETTER) / 2)} y={bottom + letters * 1.2} class="middle">{words}</text>
      ))}
      {yTicks.map(([value, words]) => words.split("\n").map((each, i, { length }) => (
        <text x={l - letters * 0.4} y={plane.y(value) - ((length - 1) * letters) / 2 + (i + LINE) * letters} class="end">{each}</text>
      )))}
    </g>
  );
}

export type Place = [number, number]; // in pixels, from the left and from the top

export function Line({ from: [x1, y1], to: [x2, y2], class: look }: { from: Place; to: Place; class: string }) {
  return <line x1={x1} y1={y1} x2={x2} y2={y2} class={look} />;
}

/** Round numbers inside a span: steps of 1, 2 or 5 times a power of ten, at most so many. */
export function roundNumbers([from, to]: Span, most: number) {
  if (to <= from) return [from];
  const rough = (to - from) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function part(value: number, [from, to]: Span) {
  return (value - from) / (to - from || 1);
}
