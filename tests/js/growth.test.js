// What a stage makes of news from its page's feed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { grown, joined, newer } from "../../assets/browser/stage/growth.js";

/** @import { FeedPayload, SentRun, SentStage, StageMount } from "../../assets/browser/dist/payloads.js" */

const TRACE = { rounds: ["a", "b"], autoregressive: { seconds_per_token: [1, 2], token_ids: [] }, prompt: "p" };
const HAS = /** @type {SentStage} */ (/** @type {unknown} */ ({ stream: "page", version: 3, run_id: "live-1", running: true, run: { trace: TRACE, hidden: 0 }, notice: "old" }));
const GROWTH = { run_id: "live-1", running: true, notice: null, badge: "", idle: "", start: 2, rounds: ["c"], plain_start: 2, plain: [3] };
/** @param {object} growth */
const news = (growth, version = 4) =>
  /** @type {FeedPayload} */ (/** @type {unknown} */ ({ stream: "page", version, whole: null, growth: { ...GROWTH, ...growth } }));

/** @param {object} growth */
function after(growth) {
  const sent = grown(HAS, news(growth));
  assert.ok(sent && sent !== "gap");
  const { rounds, autoregressive } = sent.run.trace;
  return { ...sent, rounds, plain: autoregressive?.seconds_per_token };
}

test("new rounds and steps are added, and what else is new replaces the old", () => {
  const { rounds, plain, notice, version } = after({});
  assert.deepEqual([rounds, plain, notice, version], [["a", "b", "c"], [1, 2, 3], null, 4]);
});

test("what does not grow stays, and the first plain steps can come later than the rounds", () => {
  assert.deepEqual(after({}).run, { trace: { ...TRACE, rounds: ["a", "b", "c"], autoregressive: { seconds_per_token: [1, 2, 3], token_ids: [] } }, hidden: 0 });
  const bare = { ...HAS, run: { ...HAS.run, trace: { ...HAS.run.trace, autoregressive: null } } };
  for (const [plain, there] of /** @type {[number[], number[] | undefined][]} */ ([[[], undefined], [[3], [3]]])) {
    const sent = grown(bare, news({ plain_start: 0, plain }));
    assert.ok(sent && sent !== "gap");
    assert.deepEqual(sent.run.trace.autoregressive?.seconds_per_token, there);
  }
});

test("news without rounds change no run, and show a stage with fewer rounds that it missed some", () => {
  const nothing = news({ rounds: [], plain: [] });
  const sent = grown(HAS, nothing);
  assert.ok(sent && sent !== "gap");
  assert.equal(sent.run, HAS.run);
  const missed = { ...HAS, run: { ...HAS.run, trace: { ...HAS.run.trace, rounds: HAS.run.trace.rounds.slice(1) } } };
  assert.equal(grown(missed, nothing), "gap");
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
  const run = /** @type {SentRun} */ (/** @type {unknown} */ ({ trace: TRACE }));
  assert.equal(joined(given, undefined), null);
  assert.deepEqual(joined(given, run), { run_id: "live-1", version: 5, part: "a", run });
});
