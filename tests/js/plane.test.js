import assert from "node:assert/strict";
import { test } from "node:test";

import { Plane, roundNumbers } from "../../assets/browser/stage/plane.js";

test("ticks are round numbers inside the span, at most one more than asked for", () => {
  /** @type {[[number, number], number, number[]][]} */
  const cases = [
    [[0, 1.68], 4, [0, 0.5, 1, 1.5]],
    [[0, 83], 9, [0, 10, 20, 30, 40, 50, 60, 70, 80]],
    [[118, 201], 9, [120, 130, 140, 150, 160, 170, 180, 190, 200]],
    [[0, 0.03], 4, [0, 0.01, 0.02, 0.03]],
    [[0, 12_345], 4, [0, 5000, 10_000]],
    [[3, 3], 4, [3]],
  ];
  for (const [span, most, ticks] of cases) assert.deepEqual(roundNumbers(span, most), ticks);
});

test("a value above the axis is drawn at the axis' end", () => {
  const plot = /** @type {HTMLElement} */ ({ clientWidth: 120, clientHeight: 110 });
  const plane = new Plane(plot, { l: 10, r: 10, t: 5, b: 5 }, [0, 10], [0, 2]);
  assert.deepEqual([0, 1, 2, 9].map((value) => plane.y(value)), [105, 55, 5, 5]);
});
