// What a stage makes of news from its page's feed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { grown, joined, newer } from "../../assets/stage/growth.js";

/** @import { FeedPayload, RunPart, StageMount, StagePayload } from "../../assets/shared/payloads.js" */

const HAS = /** @type {StagePayload} */ (/** @type {unknown} */ ({ stream: "page", version: 3, run_id: "live-1", running: true, rounds: ["a", "b"], plain: [1, 2], notice: "old" }));
const GROWTH = { run_id: "live-1", running: true, more: true, notice: null, badge: "", idle: "", start: 2, rounds: ["c"], plain_start: 2, plain: [3] };
/** @param {object} growth */
const news = (growth, version = 4) =>
  /** @type {FeedPayload} */ (/** @type {unknown} */ ({ stream: "page", version, whole: null, growth: { ...GROWTH, ...growth } }));

/** @param {object} growth */
function after(growth) {
  const run = grown(HAS, news(growth));
  assert.ok(run && run !== "gap");
  return run;
}

test("new rounds and steps are added, and what else is new replaces the old", () => {
  const { rounds, plain, notice, version } = after({});
  assert.deepEqual([rounds, plain, notice, version], [["a", "b", "c"], [1, 2, 3], null, 4]);
});

test("what was sent twice is not there twice", () => {
  const { rounds, plain } = after({ start: 1, rounds: ["b", "c"], plain_start: 0, plain: [1, 2, 3] });
  assert.deepEqual([rounds, plain], [["a", "b", "c"], [1, 2, 3]]);
});

test("a hole in what was sent, or another run, is a gap", () => {
  for (const growth of [{ start: 3 }, { plain_start: 3 }, { run_id: "live-2" }]) assert.equal(grown(HAS, news(growth)), "gap");
});

test("older news, another page's, and none change nothing", () => {
  assert.equal(grown(HAS, news({}, 3)), null);
  assert.equal(grown(HAS, { ...news({}), stream: "other" }), null);
  assert.equal(grown({ ...HAS, stream: "" }, { ...news({}), stream: "" }), null);
  assert.equal(grown(HAS, undefined), null);
});

test("a whole run replaces everything", () => {
  const whole = { ...HAS, run_id: "live-2", version: 4 };
  assert.equal(grown(HAS, { stream: "page", version: 4, whole, growth: null }), whole);
});

test("what Streamlit gives again does not take the stage back", () => {
  assert.equal(newer(HAS, { ...HAS, version: 2 }), HAS);
  const later = { ...HAS, version: 4 };
  assert.equal(newer(HAS, later), later);
  const other = { ...HAS, stream: "other", version: 1 };
  assert.equal(newer(HAS, other), other);
  assert.equal(newer(null, HAS), HAS);
});

test("the stage waits for its run", () => {
  const given = /** @type {StageMount} */ (/** @type {unknown} */ ({ run_id: "live-1", version: 5, part: "a" }));
  const run = /** @type {RunPart} */ (/** @type {unknown} */ ({ rounds: ["a"], plain: [1] }));
  assert.equal(joined(given, undefined), null);
  assert.deepEqual(joined(given, run), { run_id: "live-1", version: 5, part: "a", rounds: ["a"], plain: [1] });
});
