// The words at a line across a small chart: never on another line, never outside the chart.

import assert from "node:assert/strict";
import { test } from "node:test";

import { level, placesOf, replayedInWords } from "../../assets/browser/stage/curves.js";
import { Plane } from "../../assets/browser/stage/plane.js";

const LETTERS = 12;
/** @typedef {{ tag: string, is: Record<string, string>, textContent: string }} Made */
globalThis.document = /** @type {Document} */ (/** @type {unknown} */ ({
  createElementNS: (/** @type {string} */ _, /** @type {string} */ tag) => ({
    tag, is: /** @type {Record<string, string>} */ ({}), setAttribute(/** @type {string} */ name, /** @type {string} */ value) { this.is[name] = value; },
  }),
}));

test("what a replay comes to is written beside its line, on no other line", () => {
  const plot = /** @type {HTMLElement} */ ({ clientWidth: 340, clientHeight: 105 });
  const plane = new Plane(plot, { l: 44, r: 8, t: 6, b: 22 }, [0.4, 20.6], [0, 105]);
  let above = 0;
  for (let value = 0; value <= 100; value += 4) {
    for (let now = 0; now <= 100; now += 3) {
      for (const before of [0, 30, 48, 59, 100]) {
        const lines = [now, before].map((share) => placesOf(plane, Array(20).fill(share)));
        const [, words] = /** @type {Made[]} */ (/** @type {unknown} */ (level(plane, value, 8, "accepted", lines, { letters: LETTERS, narrow: false, key: "" }, `about ${value}`)));
        assert.equal(words.textContent, `at 8: about ${value}`);
        const [top, bottom] = [Number(words.is.y) - 0.72 * LETTERS, Number(words.is.y) + 0.15 * LETTERS];
        for (const at of [value, now, before].map((share) => plane.y(share))) assert.ok(at <= top || at >= bottom, `${value} beside ${now} and ${before}`);
        assert.ok(top >= 0 && bottom <= plane.y(0), "inside the chart");
        above += Number(bottom < plane.y(value) && plane.y(value) - bottom < LETTERS);
      }
    }
  }
  assert.ok(above > 1000, "most often just above its line");
});

test("what a replay comes to has its interval where that is known, and a counted share is not about right", () => {
  const run = { rounds: [], accepted: 3, rejected: 1, discarded: 0, speedup: 1.234 };
  const data = (/** @type {boolean} */ exact) => /** @type {any} */ ({ replay: { why_not: null, exact } });
  const narrow = /** @type {any} */ ({ ...run, interval: [1.204, 1.3] });
  assert.deepEqual(replayedInWords(data(true), narrow), { accepted: "75 %", speedup: "1.20 to 1.30×" });
  assert.deepEqual(replayedInWords(data(false), /** @type {any} */ (run)), { accepted: "about 75 %", speedup: "about 1.23×" });
});
