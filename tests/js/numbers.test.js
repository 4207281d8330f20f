import assert from "node:assert/strict";
import { test } from "node:test";

import { milliseconds, percent, prob, seconds, times } from "../../assets/browser/shared/numbers.js";

test("a probability is in per cent, with two digits that count", () => {
  /** @type {[number, string][]} */
  const cases = [
    [0, "0 %"],
    [1, "100 %"],
    [0.5, "50 %"],
    [0.314, "31 %"],
    [0.0784, "7.8 %"],
    [0.00784, "0.78 %"],
    [0.00004, "<0.01 %"],
    [0.9949, "99 %"],
    [0.9952, "99.5 %"],
    [0.9996, ">99.9 %"],
  ];
  for (const [value, text] of cases) assert.equal(prob(value), text);
});

test("no probability below 1 is rounded to 1", () => {
  for (let value = 0.99; value < 1; value += 0.0001) assert.match(prob(value), /^(99(\.\d)?|>99\.9) %$/);
});

test("a number that is not known is a dash", () => {
  for (const format of [prob, percent, times, milliseconds, seconds]) {
    assert.equal(format(null), "–");
    assert.equal(format(undefined), "–");
  }
});

test("shares, ratios and times", () => {
  assert.equal(percent(0.786), "79 %");
  assert.equal(times(1.9), "1.90×");
  assert.equal(times(12.34), "12.3×");
  assert.equal(milliseconds(9.94), "9.9 ms");
  assert.equal(milliseconds(10.4), "10 ms");
  assert.equal(seconds(1234), "1.23 s");
});
