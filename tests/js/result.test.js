// What the stage says of a run and of the run before, and how far the axes of its plots go.

import assert from "node:assert/strict";
import { test } from "node:test";

import { figuresOf, lastOf, markOf, speedupTicks } from "../../assets/browser/stage/curves.js";
import { noteOn, reachOf, valuesOf } from "../../assets/browser/stage/figures.js";
import { explained, outcomeOf } from "../../assets/browser/stage/result.js";

/** @import { ReplayedLength, StagePayload } from "../../assets/browser/dist/payloads.js" */

/** @param {any} node @returns {string} */
const textOf = (node) => (Array.isArray(node) ? node.map(textOf).join("") : typeof node === "object" && node ? textOf(node.props.children) : (node ?? ""));

/** @type {ReplayedLength} */
const AT_6 = { rounds: Array(3).fill([5, 0, "bonus", [], 0]), accepted: 15, rejected: 2, discarded: 3, per_call: 5, speedup: 1.234, interval: null };
const DONE = {
  running: false, draft_length: 4, name: "nano, 4", differs: "", measured: "measured on a machine",
  rounds: [{ after: { emitted: 3, acceptance: 0.4, speedup: 1.1 } }, { after: { emitted: 7, acceptance: 0.59, speedup: 1.54 } }],
  result: { says: "1.54 times as fast", same: "Identical.", reason: "It pays", trusted: true, speedup: 1.54, interval: null },
  replay: { why_not: null, tokens: Array(16).fill("a"), lengths: { 6: AT_6 }, times: "estimated from this run’s times", exact: true },
};
const EQUATION = "[3.50 tokens per target call: tip-tokens] ÷ [2.27 steps: tip-steps] = [1.54×: tip-speedup] ";
const AT_6_EQUATION = "[5.00 tokens per target call: tip-tokens] ÷ [4.05 steps: tip-steps] = [about 1.23×: tip-speedup] ";
const BEFORE = { name: "small, 4", differs: "", acceptance: [0.5, 0.86], speedup: [1, 1.56], lengths: [], draft_length: 4, per_call: 4.25, trusted: true, pinned: false };

/** @param {object} [changes] */
const run = (changes) => /** @type {StagePayload} */ (/** @type {unknown} */ ({ ...DONE, ...changes }));

/**
 * What is said; a term in brackets, with the id of its tip.
 * @param {StagePayload} data
 * @param {ReplayedLength | null} [replayed]
 * @param {boolean} [over]
 */
function shown(data, replayed = null, over = true) {
  const outcome = outcomeOf(data, { length: 6, run: replayed, released: false }, over) ?? assert.fail();
  const { equation, reason } = outcome;
  const term = (/** @type {string} */ words, /** @type {string | null | undefined} */ tip) => (tip ? `[${words}: ${tip}]` : words);
  const pieces = equation?.pieces.map(({ words, part }) => term(words, part && `tip-${part}`)) ?? [];
  return { ...outcome, reason: [pieces.join(""), equation && " ", ...explained(reason).map(({ words, tip }) => term(words, tip))].join("") };
}

test("during the tour nothing is run, and the line does not say so", () => {
  assert.match(shown(run({}), AT_6).reason, /Release the slider to run it\.$/);
  assert.match(shown(run({ tour: { started: 1, at: 5 } }), AT_6).reason, /estimated from this run’s times\. The tour runs nothing\.$/);
});

test("the result and its reason are those of the run, and one line compares it with the run before", () => {
  /** @type {Array<[object, string]>} */
  const cases = [
    [{ before: BEFORE }, "86 % accepted, 1.56× (small, 4) → now 59 % accepted, 1.54× (nano, 4)"],
    [{ before: BEFORE, running: true }, "86 % accepted, 1.56× (small, 4) → now … (nano, 4)"],
    [{}, "Choose another draft or draft length to compare."],
    [{ running: true }, ""],
  ];
  for (const [changes, change] of cases) assert.equal(shown(run(changes)).change, change);
  const { says, reason, doubted } = shown(run({ before: BEFORE }));
  assert.deepEqual([says, reason, doubted], ["1.54 times as fast", `${EQUATION}It pays`, false]);
  assert.equal(shown(run({ result: { ...DONE.result, trusted: false } })).doubted, true);
  assert.equal(outcomeOf(run({ result: undefined }), { length: 6, run: null, released: false }, true), null, "a link can hide it");
});

test("where the machine was busy, only what is exact is compared", () => {
  const busy = { ...DONE.result, trusted: false, speedup: null };
  const start = "Busy machine: time cannot rank them. Exact:";
  /** @type {Array<[object, string]>} */
  const cases = [
    [{ before: BEFORE, result: busy }, `${start} 86 % accepted, 4.25 tokens per target call (small, 4) → now 59 %, 3.50 (nano, 4).`],
    [{ before: { ...BEFORE, trusted: false }, running: true }, "86 % accepted (small, 4) → now … (nano, 4)"],
    [
      { before: { ...BEFORE, trusted: false, pinned: true, differs: "temperature 0" }, differs: "temperature 1" },
      `${start} 86 % accepted, 4.25 tokens per target call (small, 4, temperature 0) → now 59 %, 3.50 (nano, 4, temperature 1).`,
    ],
  ];
  for (const [changes, change] of cases) {
    const said = shown(run(changes));
    assert.equal(said.change, change);
    assert.match(said.reason, /It pays$/);
  }
});

test("the first place of a word that needs it has its explanation", () => {
  const reason = "It pays if more than 56 % of the judged guesses are accepted. Many judged guesses. At calibrated costs: 1.8.";
  assert.equal(
    shown(run({ result: { ...DONE.result, reason } })).reason,
    `${EQUATION}It pays if more than 56 % of the [judged guesses: tip-judged] are accepted. Many judged guesses. At [calibrated costs: tip-calibrated]: 1.8.`,
  );
});

test("until all of it was played, the result says that it is the one at the end", () => {
  assert.equal(shown(run(), null, false).when, "at the end");
  assert.equal(shown(run(), null, true).when, "");
  assert.equal(shown(run({ running: true }), null, false).when, "", "there is none yet");
  assert.equal(shown(run(), AT_6, false).when, "", "an estimate is of the whole text");
});

test("a run has one speedup: the measured one, and where that is not trusted its estimate, which says so", () => {
  const at4 = { ...AT_6, speedup: 1.8 };
  const busy = { result: { ...DONE.result, trusted: false }, replay: { ...DONE.replay, lengths: { 4: at4, 6: AT_6 } } };
  const unknown = { ...busy, replay: { ...DONE.replay, lengths: { 4: { ...at4, speedup: null } } } };
  /** @type {Array<[object, ReplayedLength | null, string, string, string]>} */
  const cases = [
    [{}, null, "1.54×", "59 %, 1.54×", "— accepted, - - speedup estimated, ● measured"],
    [{}, AT_6, "1.54×", "75 %, about 1.23×", "— accepted, - - speedup estimated, ● measured"],
    [{ ...busy, replay: { ...DONE.replay, lengths: { 4: { ...at4, interval: [1.71, 1.9] } } } }, null, "not trusted", "59 %, 1.71 to 1.90×", "— accepted, - - speedup estimated: busy machine"],
    [busy, null, "not trusted", "59 %, about 1.80×", "— accepted, - - speedup estimated: busy machine"],
    [unknown, null, "not trusted", "59 %", "— accepted, no speedup: busy machine"],
    [{ replay: { why_not: "sampled" } }, null, "1.54×", "59 %, 1.54×", "sampled"],
    [{ running: true, replay: { why_not: "wait" } }, null, "1.54×", "59 %, 1.54× so far", "wait"],
    [{ running: true, rounds: [] }, null, "–", "–", "— accepted, - - speedup estimated, ● measured"],
  ];
  for (const [changes, replayed, soFar, atLength, note] of cases) {
    const data = run(changes);
    const { speedup, lengths } = valuesOf(data, data.rounds[1]?.after, { length: replayed ? 6 : 4, run: replayed, released: false });
    assert.deepEqual([speedup, lengths, textOf(noteOn(data))], [soFar, atLength, note]);
  }
  assert.deepEqual(markOf(run(busy), { length: 4, run: null, released: false }), { length: 4, acceptance: 0.59, speedup: 1.8, interval: null, kind: "estimated" });
});

test("while the slider moves, what is said is estimated and says so", () => {
  const { says, reason, change } = shown(run({ before: BEFORE }), AT_6);
  assert.equal(says, "About 1.23 times as fast, estimated: 16 tokens in 3 passes");
  const sure = shown(run({}), { ...AT_6, interval: [1.15, 1.31] });
  assert.equal(sure.says, "1.15 to 1.31 times as fast, estimated: 16 tokens in 3 passes");
  assert.match(sure.change, /→ 75 % accepted, 1\.15 to 1\.31× at 6, estimated/);
  assert.match(shown(run({}), { ...AT_6, interval: [1.231, 1.234] }).says, /^1\.23 times as fast/);
  assert.equal(reason, `${AT_6_EQUATION}Not measured: estimated from this run’s times. Release the slider to run it.`);
  assert.equal(change, "59 % accepted, 1.54× at draft length 4 (lines and timeline) → 75 % accepted, about 1.23× at 6, estimated (dashed)");
  const unknown = shown(run({ replay: { ...DONE.replay, times: "not known: this machine was busy" } }), { ...AT_6, speedup: null });
  assert.equal(unknown.says, "At draft length 6: 16 tokens in 3 passes");
  assert.equal(
    unknown.reason,
    "[5.00 tokens per target call: tip-tokens] ÷ [? steps: not known: tip-steps] Its speed is not known: this machine was busy. Release the slider to run it.",
  );
  assert.ok(unknown.change.endsWith("→ 75 % accepted at 6, estimated (dashed)"));
  const busy = shown(run({ result: { ...DONE.result, trusted: false } }), AT_6);
  assert.equal(busy.change, "59 % accepted at draft length 4 (lines and timeline) → 75 % accepted, about 1.23× at 6, estimated (dashed)");
});

test("a run's figures are two numbers, of a run that goes on not yet", () => {
  assert.deepEqual(figuresOf(AT_6), { acceptance: 0.75, speedup: 1.234, interval: null });
  assert.deepEqual(figuresOf({ ...AT_6, accepted: 0, rejected: 0, discarded: 0 }).acceptance, null);
  assert.deepEqual(lastOf(run()), { acceptance: 0.59, speedup: 1.54 });
  assert.equal(lastOf(run({ running: true })), null);
  assert.equal(lastOf(run({ rounds: [] })), null);
});

test("the axes reach what is drawn, and nothing of a run before the last two", () => {
  /** @param {object} [changes] */
  const reach = (changes) => {
    const { rounds, speedup } = reachOf(run(changes));
    return { rounds, speedup };
  };
  const sampled = { replay: { why_not: "sampled" } };
  const of = (/** @type {number[]} */ ...speedups) => ({ ...sampled, rounds: speedups.map((speedup) => ({ after: { speedup } })) });
  assert.deepEqual(reach(sampled), { rounds: 4, speedup: 1.54 });
  assert.deepEqual(reach({ replay: { ...DONE.replay, lengths: { 6: { ...AT_6, speedup: 1.8 } } } }), { rounds: 4, speedup: 1.8 });
  assert.deepEqual(reach({ before: { ...BEFORE, speedup: [1, null, 1, 1, 2.1], lengths: [[0.5, 2.4], [0.4, null]] } }), { rounds: 5, speedup: 2.4 });
  assert.deepEqual(reach({ ...of(...Array(39).fill(1.2)), before: { ...BEFORE, speedup: Array(58).fill(1.1) } }), { rounds: 58, speedup: 1.5 });
  assert.deepEqual(reach({ ...of(...Array(20).fill(1.2)), before: { ...BEFORE, speedup: Array(39).fill(1.2) } }), { rounds: 39, speedup: 1.5 }, "two runs ago there were 58");
  for (const changes of [{}, { running: true }, { result: { ...DONE.result, trusted: false } }]) {
    assert.deepEqual(reach({ ...of(3.3, 2, 1.7, 1.6, 1.5), ...changes }), { rounds: 5, speedup: 3.3 }, "the first rounds too");
  }
  assert.equal(reach({ before: { ...BEFORE, trusted: false, speedup: [2.6] } }).speedup, 2.6);
  assert.equal(reach(of(400, 1.5)).speedup, 5, "no round writes more than 4 guesses and a token");
  assert.equal(reach({ ...sampled, before: { ...BEFORE, draft_length: 1, speedup: [9] } }).speedup, 2);
  assert.equal(reachOf(run({ ...sampled, before: { ...BEFORE, draft_length: 1, speedup: [9] } })).lengths, 2, "at each draft length only the whole runs are drawn");
  assert.deepEqual(reachOf(run(of(4.4, 2, 1.6))), { rounds: 4, speedup: 4.4, lengths: 1.6 });
  assert.deepEqual(speedupTicks({ speedup: 2.4 }).map(([, words]) => words), ["0×", "1×", "2×"]);
});
