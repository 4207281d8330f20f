// A small chart's plane: where a value is, in pixels, and the axes around it.

import { label, svg } from "../shared/svg.js";

export type Span = [number, number]; // from and to

export type Margin = { l: number, r: number, t: number, b: number }; // in pixels

export type Tick = [number, string]; // where, and its words

export const LETTER = 0.56; // the width of one, of the letters' height
const LINE = 0.35; // of the letters' height: from their middle down to the line they stand on

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

  /** The drawing's root, empty. */
  root() {
    return svg("svg", { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height, "aria-hidden": "true" });
  }

  /** Both axes; a horizontal line at each tick where `grid` is set. `letters`: their height in pixels */
  axes(xTicks: Tick[], yTicks: Tick[], letters: number, grid: boolean = false) {
    const { l, r, t, b } = this.margin;
    const [left, right, bottom] = [l, this.width - r, this.height - b];
    const group = svg("g", { class: "axes" });
    if (grid) for (const [value] of yTicks) group.append(line(left, this.y(value), right, this.y(value), "grid-line"));
    group.append(line(left, bottom, right, bottom, "axis"), line(left, t, left, bottom, "axis"));
    for (const [value, words] of xTicks) group.append(label(words, Math.min(this.x(value), this.width - words.length * letters * LETTER / 2), bottom + letters * 1.2, "middle"));
    for (const [value, words] of yTicks) group.append(...this.#yLabel(this.y(value), words.split("\n"), letters));
    return group;
  }

  /** Words left of the axis, in one line or several. */
  #yLabel(middle: number, lines: string[], letters: number) {
    const first = middle - ((lines.length - 1) * letters) / 2;
    return lines.map((words, i) => label(words, this.margin.l - letters * 0.4, first + (i + LINE) * letters, "end"));
  }
}

export function line(x1: number, y1: number, x2: number, y2: number, className: string) {
  return svg("line", { x1, y1, x2, y2, class: className });
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
