// The equation of a run: what was counted, divided by what was timed, is the speedup as it is said.

import assert from "node:assert/strict";
import { test } from "node:test";

import { certainty, equationOf } from "../../assets/browser/stage/equation.js";

/** @import { ReplayedLength, StagePayload } from "../../assets/browser/dist/payloads.js" */

/**
 * A run of so many rounds of which the target alone takes `alone` ms a token.
 * @param {number} emitted
 * @param {number} rounds
 * @param {object} [result]
 * @param {number} [alone]
 */
function run(emitted, rounds, result = {}, alone = 1) {
  const accepted = emitted - rounds;
  const speedup = (alone * emitted) / (2 * rounds); // a round takes 0.5 + 1.25 + 0.25 ms
  const after = { emitted, accepted, drafted: 4 * rounds, acceptance: accepted / (4 * rounds), speedup };
  const each = Array.from({ length: rounds }, (_, i) => ({ after, ms: [2 * i, 2 * i + 0.5, 2 * i + 1.75, 2 * i + 2] }));
  const said = { says: "", reason: "", trusted: true, estimated: null, speedup: Number(speedup.toFixed(2)), interval: null, ...result };
  const data = { rounds: each, running: false, timed: true, result: said, replay: { why_not: null, times: "estimated from this run’s times", lengths: {} } };
  return /** @type {StagePayload} */ (/** @type {unknown} */ (data));
}

/** @param {StagePayload} data @param {ReplayedLength | null} [replay] */
function line(data, replay = null) {
  return equationOf(data, replay)?.pieces.map(({ words }) => words).join("");
}

test("the quotient of the two sides as they are shown is the speedup as it is said, and the steps are the timed ones", () => {
  let checked = 0;
  for (let rounds = 1; rounds <= 40; rounds += 1) {
    for (let emitted = rounds; emitted <= 5 * rounds; emitted += 3) {
      for (const alone of [0.37, 0.9, 1, 1.313, 4]) {
        const data = run(emitted, rounds, {}, alone);
        const found = /^([\d.]+) tokens per target call ÷ ([\d.]+) steps = ([\d.]+)×$/.exec(line(data) ?? "") ?? [];
        const [tokens, steps, speedup] = found.slice(1).map(Number);
        assert.equal(speedup, data.result?.speedup);
        assert.equal((tokens / steps).toFixed(2), speedup.toFixed(2), line(data));
        assert.ok(Math.abs(tokens - emitted / rounds) <= 0.005 + 1e-9, `${tokens}`);
        assert.ok(Math.abs(steps - 2 / alone) <= 0.005 + 0.005 * steps / speedup, `${line(data)}: ${2 / alone} steps`);
        checked += 1;
      }
    }
  }
  assert.ok(checked > 1000);
});

test("a speedup that was said in the middle of two roundings is the one of the equation", () => {
  const data = run(9, 4, { speedup: 1.12 }); // 1.125, which Python says as 1.12
  assert.match(line(data) ?? "", /= 1\.12×$/);
});

test("each part says what it is made of, and when it pays is said beside the speedup", () => {
  const { tips } = equationOf(run(64, 20, { interval: [1.5, 1.7] }), null) ?? assert.fail();
  assert.equal(tips.tokens, "64 tokens in 20 rounds: 44 accepted guesses, and 20 of the target’s own.");
  assert.match(tips.steps, /Here 0\.50 for the guesses, 1\.25 for the check and 0\.25 for the rest\. Timed, one run; 95 % interval 1\.88 to 2\.13 steps\.$/);
  assert.match(tips.speedup, /It pays above 2\.00 tokens per target call\.$/);
  assert.equal(certainty(run(64, 20, { interval: [1.5, 1.7] })), "One run; 95 % interval 1.88 to 2.13 steps, 1.50 to 1.70×.");
  assert.equal(certainty(run(64, 20)), "One run, timed once.");
  assert.equal(certainty(run(64, 20, { where: "recorded on an Intel Xeon" })), "One run, recorded on an Intel Xeon, timed once.");
});

test("the parts of a round add up to its steps as they are shown", () => {
  for (const alone of [0.3, 0.7, 1.1, 1.9, 3]) {
    const { pieces, tips } = equationOf(run(64, 20, {}, alone), null) ?? assert.fail();
    const [guesses, check, rest] = (/Here ([\d.]+) for the guesses, ([\d.]+) for the check and ([\d.]+)/.exec(tips.steps) ?? []).slice(1).map(Number);
    assert.ok(Math.abs(guesses + check + rest - Number.parseFloat(pieces[2].words)) < 0.0051, tips.steps);
  }
});

test("where the times are not trusted, or there are none, what was counted stays, and why the rest is missing", () => {
  const busy = run(64, 20, { trusted: false, speedup: 1.6 });
  assert.equal(line(busy), "3.20 tokens per target call ÷ ? steps: busy machine");
  assert.match(equationOf(busy, null)?.tips.steps ?? "", /This machine was busy: its times are not trusted\.$/);
  assert.doesNotMatch(JSON.stringify(equationOf(busy, null)), /1\.60|2\.00 (steps|tokens)|for the guesses/, "nothing that was timed");
  assert.equal(certainty(busy), null, "the reason says it");
  const untimed = run(64, 20, { speedup: null });
  assert.equal(line(untimed), "3.20 tokens per target call ÷ ? steps: not known");
  assert.equal(equationOf(/** @type {StagePayload} */ ({ ...busy, rounds: [] }), null), null, "no round, nothing to count");
  assert.equal(equationOf(/** @type {StagePayload} */ ({ ...busy, running: true }), null), null, "the result comes at the end");
});

test("where costs of a quiet moment are known, they fill the equation of a run on a busy machine", () => {
  const busy = run(64, 20, { trusted: false, speedup: null });
  const quiet = { rounds: Array(20).fill([3, 1, "correction", [], 0]), accepted: 44, rejected: 10, discarded: 26, per_call: 3.2, speedup: 1.4, interval: [1.37, 1.44] };
  const known = { ...busy, draft_length: 4, replay: { why_not: null, times: "estimated from quiet measurements of this pair", lengths: { 4: quiet } } };
  const data = /** @type {StagePayload} */ (/** @type {unknown} */ (known));
  assert.equal(line(data), "3.20 tokens per target call ÷ 2.29 steps = 1.37 to 1.44×");
  assert.match(equationOf(data, null)?.tips.steps ?? "", /This is estimated from quiet measurements of this pair\.$/);
  const trusted = { ...data, result: { says: "", same: "", reason: "", trusted: true, speedup: 1.6, interval: null, where: "" } };
  assert.equal(line(trusted), "3.20 tokens per target call ÷ 2.00 steps = 1.60×", "its own time says it");
});

test("of a replay the equation is estimated and says so", () => {
  /** @type {ReplayedLength} */
  const replay = { rounds: Array(15).fill([3, 1, "correction", [], 0]), accepted: 49, rejected: 10, discarded: 20, per_call: 64 / 15, speedup: 1.23, interval: null };
  assert.equal(line(run(64, 20), replay), "4.27 tokens per target call ÷ 3.47 steps = about 1.23×");
  const { tips } = equationOf(run(64, 20), replay) ?? assert.fail();
  assert.match(tips.tokens, /^64 tokens in 15 rounds: 49 accepted guesses, and 15 of the target’s own/);
  assert.match(tips.steps, /This is estimated from this run’s times\.$/);
  assert.equal(line(run(64, 20), { ...replay, interval: [1.15, 1.31] }), "4.27 tokens per target call ÷ 3.47 steps = 1.15 to 1.31×");
  assert.equal(line(run(64, 20, { trusted: false }), { ...replay, speedup: null }), "4.27 tokens per target call ÷ ? steps: busy machine");
});
