// What a stage makes of news from its page's feed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { grown, joined, newer } from "../../assets/browser/stage/channel.js";

const TRACE = { rounds: ["a", "b"], autoregressive: { seconds_per_token: [1, 2], token_ids: [] }, prompt: "p" };
const HAS = { stream: "page", version: 3, run_id: "live-1", running: true, run: { trace: TRACE, hidden: 0 }, notice: "old" };
const GROWTH = { run_id: "live-1", running: true, notice: null, badge: "", idle: "", start: 2, rounds: ["c"], plain_start: 2, plain: [3] };
const news = (growth, version = 4) => ({ stream: "page", version, whole: null, growth: { ...GROWTH, ...growth } });
const bare = { ...HAS, run: { ...HAS.run, trace: { ...TRACE, autoregressive: null } } };
const short = { ...HAS, run: { ...HAS.run, trace: { ...TRACE, rounds: ["b"] } } };

/** The rounds and steps after this growth, or "gap". */
function after(growth, has = HAS) {
  const sent = grown(has, news(growth));
  return sent === "gap" ? sent : [sent.run.trace.rounds.join(""), sent.run.trace.autoregressive?.seconds_per_token];
}

test("new rounds and steps are added once; a hole, a round missed, or another run is a gap", () => {
  for (const [growth, has, found] of [
    [{}, HAS, ["abc", [1, 2, 3]]],
    [{ start: 1, rounds: ["b", "c"], plain_start: 0, plain: [1, 2, 3] }, HAS, ["abc", [1, 2, 3]]], // sent twice
    [{ plain_start: 0, plain: [] }, bare, ["abc", undefined]],
    [{ plain_start: 0, plain: [3] }, bare, ["abc", [3]]], // the first steps can come later than the rounds
    [{ start: 3 }, HAS, "gap"],
    [{ plain_start: 3 }, HAS, "gap"],
    [{ run_id: "live-2" }, HAS, "gap"],
    [{ rounds: [], plain: [] }, short, "gap"],
  ]) assert.deepEqual(after(growth, has), found, JSON.stringify(growth));
});

test("what else is new replaces the old, what does not grow stays, and news without rounds change no run", () => {
  const { notice, version, run } = grown(HAS, news({}));
  const trace = { ...TRACE, rounds: ["a", "b", "c"], autoregressive: { seconds_per_token: [1, 2, 3], token_ids: [] } };
  assert.deepEqual([notice, version, run], [null, 4, { trace, hidden: 0 }]);
  assert.equal(grown(HAS, news({ rounds: [], plain: [] })).run, HAS.run);
});

test("older news, another page's, and none change nothing; a whole run replaces everything", () => {
  assert.equal(grown(HAS, news({}, 3)), null);
  assert.equal(grown(HAS, { ...news({}), stream: "other" }), null);
  assert.equal(grown({ ...HAS, stream: "" }, { ...news({}), stream: "" }), null);
  assert.equal(grown(HAS, undefined), null);
  const whole = { ...HAS, run_id: "live-2", version: 4 };
  assert.equal(grown(HAS, { stream: "page", version: 4, whole, growth: null }), whole);
});

test("what Streamlit gives again does not take the stage back, and the stage waits for its run", () => {
  const [later, other] = [{ ...HAS, version: 4 }, { ...HAS, stream: "other", version: 1 }];
  for (const [has, given, stays] of [[HAS, { ...HAS, version: 2 }, HAS], [HAS, later, later], [HAS, other, other], [null, HAS, HAS]]) assert.equal(newer(has, given), stays);
  const mount = { run_id: "live-1", version: 5, part: "a" };
  assert.equal(joined(mount, undefined), null);
  assert.deepEqual(joined(mount, { trace: TRACE }), { ...mount, run: { trace: TRACE } });
});
