import assert from "node:assert/strict";
import { test } from "node:test";

import { whatWasDone } from "../../assets/browser/stage/until.js";

/** @import { Beat, Chip, ReplayedLength, RoundPayload } from "../../assets/browser/dist/payloads.js" */
/** @import { Chosen, Doing } from "../../assets/browser/stage/until.js" */

/** @type {Doing} */
const START = { step: 3, last: 8, round: 1, phase: "propose", done: 1, chosen: null, released: null };

/**
 * @param {Beat["until"]} until
 * @param {Record<string, string>} [did]
 * @returns {Beat}
 */
const beat = (until, did = { done: "done" }) => ({
  until, did, says: "", asks: "", keys: "", round: 1, phase: "propose", lights: [], place: "mixed", least: 8, moves: false,
});

/**
 * A round with chips of these statuses, named a, b, c …
 * @param {Chip["status"][]} statuses
 */
const round = (...statuses) =>
  /** @type {RoundPayload} */ (/** @type {unknown} */ ({ chips: statuses.map((status, i) => ({ status, text: "abcde"[i] })) }));

const ROUNDS = [round("accepted", "correction"), round("accepted", "rejected", "correction"), round("accepted", "accepted", "bonus")];

/**
 * @param {Beat} asked
 * @param {Partial<Doing>} doing
 */
const after = (asked, doing) => whatWasDone(asked, { ...START, ...doing }, ROUNDS);

/**
 * @param {Chosen["status"]} status
 * @param {number} [at]
 * @returns {Chosen}
 */
const token = (status, at = 1) => ({ round: at, status, text: " big" });

/** @param {Partial<ReplayedLength>} run */
const replayed = (run) => /** @type {ReplayedLength} */ ({ rounds: [], rejected: 0, discarded: 0, ...run });

test("the check is reached by a step forward, not by a step back", () => {
  const asked = beat("checked");
  assert.equal(after(asked, {}), null);
  assert.equal(after(asked, { round: 0, phase: "judge" }), null);
  assert.equal(after(asked, { phase: "check" }), "done");
  assert.equal(after(asked, { round: 2, phase: "propose" }), "done");
});

test("a guess is a drafted token of the beat's round, and the answer depends on its status", () => {
  const asked = beat("guessed", { rejected: "{token} fails", accepted: "{token} stays", discarded: "{token} is never judged" });
  assert.equal(after(asked, {}), null);
  assert.equal(after(asked, { chosen: token("rejected", 0) }), null);
  assert.equal(after(asked, { chosen: token("correction") }), null);
  assert.equal(after(asked, { chosen: token("rejected") }), "“big” fails");
  assert.equal(after(asked, { chosen: token("accepted") }), "“big” stays");
  assert.equal(after(asked, { chosen: token("discarded") }), "“big” is never judged");
});

test("only a rejected token that is judged can be opened", () => {
  const asked = beat("opened");
  assert.equal(after(asked, { chosen: token("rejected") }), null); // its round is not judged yet
  assert.equal(after(asked, { done: 2, chosen: token("accepted") }), null);
  assert.equal(after(asked, { done: 2, chosen: token("rejected") }), "done");
});

test("a round without a wrong guess counts once it is judged, and needs a draft", () => {
  const asked = beat("full", { done: "round {round}: {drafted}, {token}" });
  assert.equal(after(asked, { round: 1, phase: "judge" }), null);
  assert.equal(after(asked, { round: 2, phase: "check" }), null);
  assert.equal(after(asked, { round: 2, phase: "judge" }), "round 3: 2, “c”");
  assert.equal(whatWasDone(asked, { ...START, phase: "judge" }, [round(), round("bonus")]), null);
  assert.equal(whatWasDone(asked, { ...START, phase: "judge" }, []), null);
});

test("the slider counts where it is released, at the length asked for or above", () => {
  const asked = beat("length", { done: "{length}: {passes} passes, {wasted} wasted" });
  const run = replayed({ rounds: Array(19).fill([0, 0, "none", [], 0]), rejected: 16, discarded: 78 });
  assert.equal(after(asked, {}), null);
  assert.equal(after(asked, { released: { length: 7, run } }), null);
  assert.equal(after(asked, { released: { length: 8, run } }), "8: 19 passes, 94 wasted");
  assert.equal(after(asked, { released: { length: 16, run } }), "16: 19 passes, 94 wasted");
});

test("the run is seen when the playhead is at its last step", () => {
  assert.equal(after(beat("ended"), { step: 7 }), null);
  assert.equal(after(beat("ended"), { step: 8 }), "done");
});
