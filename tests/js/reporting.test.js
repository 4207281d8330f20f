import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Reporter } from "../../assets/browser/shared/reporting.js";

/** @type {number | null} */
let place = null;
/** @type {number[]} */
let sent = [];
/** @type {Reporter} */
let reporter;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  sent = [];
  reporter = new Reporter(() => place);
  reporter.send = (reported) => sent.push(reported);
});

test("several movements soon after each other are one report, of the last place", () => {
  for (place of [1, 2, 3]) reporter.report();
  mock.timers.tick(1000);
  assert.deepEqual(sent, [3]);
});

test("the same place is not reported twice", () => {
  place = 3;
  reporter.report();
  mock.timers.tick(1000);
  reporter.report();
  mock.timers.tick(1000);
  assert.deepEqual(sent, [3]);
});

test("nothing is reported while there is no place, or after the end", () => {
  place = null;
  reporter.report();
  mock.timers.tick(1000);
  place = 4;
  reporter.report();
  reporter.stop();
  mock.timers.tick(1000);
  assert.deepEqual(sent, []);
});
