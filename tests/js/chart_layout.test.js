import assert from "node:assert/strict";
import { test } from "node:test";

import { layoutOf, merged, themed } from "../../assets/browser/chart/layout.js";

const LOOK = { ink: "black", mute: "grey", line: "silver", veil: "clear", background: "white", font: "serif", room: 28 };

test("what is inside objects is merged; lists and values are replaced", () => {
  const base = { a: { b: 1, c: { d: 2, e: 3 } }, list: [1, 2], kept: 0 };
  const both = merged(base, { a: { c: { d: 4 } }, list: [5], more: null });
  assert.deepEqual(both, { a: { b: 1, c: { d: 4, e: 3 } }, list: [5], kept: 0, more: null });
  assert.deepEqual(base, { a: { b: 1, c: { d: 2, e: 3 } }, list: [1, 2], kept: 0 });
});

test("a chart keeps the shared look and adds its own", () => {
  const { width, height, xaxis } = layoutOf({ height: 300, xaxis: { title: { text: "γ" }, dtick: 1 } }, LOOK, 640);
  assert.deepEqual([width, height], [640, 300]);
  const { title, dtick, fixedrange } = /** @type {{ title: object, dtick: number, fixedrange: boolean }} */ (xaxis);
  assert.deepEqual(title, { text: "γ", font: { size: 14 }, standoff: 12 });
  assert.deepEqual([dtick, fixedrange], [1, true]);
});

test("a legend, which is as wide as the axis, leaves the button that saves its room", () => {
  assert.equal(/** @type {{ r: number }} */ (layoutOf({}, LOOK, 640).margin).r, 28);
});

test("a figure has the theme's colours where it names them, and is not changed itself", () => {
  const figure = { data: [{ line: { color: "var(--ink)" }, colorscale: [[0, "#D55E00"], [0.5, "var(--line)"]], name: "var(--ink) in a text", x: [1, null] }] };
  const [shown] = themed(figure, LOOK).data;
  assert.deepEqual(shown, { line: { color: "black" }, colorscale: [[0, "#D55E00"], [0.5, "silver"]], name: "var(--ink) in a text", x: [1, null] });
  assert.equal(figure.data[0].line.color, "var(--ink)");
});
