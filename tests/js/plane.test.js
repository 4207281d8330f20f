import assert from "node:assert/strict";
import { test } from "node:test";

import { roundNumbers } from "../../assets/stage/plane.js";

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
