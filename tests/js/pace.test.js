// A run that grows is drawn as often as the processor allows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "../../assets/browser/live/pace.js";

test("after a drawing three times as long is left; the first trace of a run and the last one are always drawn", () => {
  let clock = 1000;
  const pace = new Pace(() => clock);
  /** @type {number[]} */
  const drawn = [];
  const arrives = (/** @type {number} */ at, last = false) => {
    clock = at;
    pace.take(last, () => {
      drawn.push(at);
      clock += 100; // a slow processor
    });
  };
  for (const at of [1000, 1150, 1399, 1400, 1600]) arrives(at);
  assert.deepEqual(drawn, [1000, 1400]);
  arrives(1650, true);
  assert.deepEqual(drawn, [1000, 1400, 1650]);
  pace.begin();
  arrives(1800);
  assert.deepEqual(drawn, [1000, 1400, 1650, 1800]);
});
