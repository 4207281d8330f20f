import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Playhead } from "../../assets/browser/stage/playhead.js";

/** @type {Phase[]} */
const PHASES = ["propose", "check", "judge"];
const PROPOSE = 750; // ms at 1×
const CHECK = 650;
const JUDGE = 1150;

/** @import { Phase } from "../../assets/browser/dist/payloads.js" */
/** @import { Move } from "../../assets/browser/stage/playhead.js" */

/** @type {Playhead} */
let playhead;
/** @type {number} */
let reports;
let lessMotion = false;

/**
 * Time passes in small steps: a timer that starts another one is then on time.
 * @param {number} ms
 */
function pass(ms) {
  for (let passed = 0; passed < ms; passed += 1) mock.timers.tick(1);
}

/**
 * A run of so many rounds; `more` where others may still come.
 * @param {number} rounds
 * @param {{ id?: string, more?: boolean, place?: number | null }} options
 */
const run = (rounds, { id = "a", more = false, place = null } = {}) => ({
  run_id: id,
  rounds: Array(rounds).fill({}),
  more,
  playhead: place,
  phases: PHASES,
});

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  lessMotion = false;
  Object.assign(globalThis, { matchMedia: () => ({ matches: lessMotion }) });
  reports = 0;
  playhead = new Playhead(() => {}, () => (reports += 1));
});

test("a first run plays by itself, each step as long as its phase", () => {
  playhead.load(run(2));
  assert.deepEqual([playhead.step, playhead.playing], [0, true]);
  pass(PROPOSE - 1);
  assert.equal(playhead.phase, "propose");
  pass(1);
  assert.equal(playhead.phase, "check");
  pass(CHECK + JUDGE);
  assert.deepEqual([playhead.round, playhead.phase], [1, "propose"]);
  assert.equal(reports, 0); // playing reports nothing
});

test("it stops at the end and reports once", () => {
  playhead.load(run(1));
  pass(10_000);
  assert.deepEqual([playhead.step, playhead.playing, reports], [2, false, 1]);
});

test("the speed divides the waiting time", () => {
  playhead.load(run(2));
  playhead.setSpeed(2);
  pass(PROPOSE / 2);
  assert.equal(playhead.phase, "check");
});

test("a given place is shown, without playing, as soon as the run reaches it", () => {
  playhead.load(run(1, { place: 5, more: true }));
  assert.deepEqual([playhead.step, playhead.playing], [2, false]);
  playhead.load(run(2, { place: 5, more: true }));
  assert.equal(playhead.step, 5);
});

test("a run that grows is waited for, and goes on when a round arrives", () => {
  playhead.load(run(1, { more: true }));
  pass(10_000);
  assert.deepEqual([playhead.step, playhead.playing, playhead.waiting], [2, true, true]);
  playhead.load(run(2, { more: true }));
  pass(JUDGE);
  assert.deepEqual([playhead.step, playhead.waiting], [3, false]);
});

test("rounds that arrive do not delay the step that is due", () => {
  playhead.load(run(1, { more: true }));
  pass(PROPOSE - 10);
  playhead.load(run(2, { more: true }));
  pass(10);
  assert.equal(playhead.step, 1);
});

test("buttons move by steps and by rounds, inside the run", () => {
  playhead.load(run(3, { place: 4 }));
  /** @type {Move[]} */
  const moves = ["forward", "roundForward", "roundBack", "roundBack", "back", "last", "forward", "first", "back"];
  const places = moves.map((name) => {
    playhead.move(name);
    return playhead.step;
  });
  assert.deepEqual(places, [5, 8, 6, 3, 2, 8, 8, 0, 0]);
  assert.equal(reports, 9);
});

test("pause reports the place, and play goes on from it", () => {
  playhead.load(run(2));
  playhead.toggle();
  assert.deepEqual([playhead.playing, reports], [false, 1]);
  pass(10_000);
  assert.equal(playhead.step, 0);
  playhead.toggle();
  pass(PROPOSE);
  assert.equal(playhead.step, 1);
});

test("play at the end starts again", () => {
  playhead.load(run(1, { place: 2 }));
  playhead.toggle();
  assert.deepEqual([playhead.step, playhead.playing], [0, true]);
});

test("a visitor who stopped inside keeps the place in the next run", () => {
  playhead.load(run(3));
  playhead.seek(4);
  playhead.load(run(1, { id: "b", more: true }));
  assert.equal(playhead.step, 2);
  playhead.load(run(3, { id: "b" }));
  assert.deepEqual([playhead.step, playhead.playing], [4, false]);
});

test("a visitor at the end sees the next run from its start", () => {
  playhead.load(run(1));
  pass(10_000);
  playhead.load(run(2, { id: "b" }));
  assert.deepEqual([playhead.step, playhead.playing], [0, true]);
});

test("who asked for less motion sees the end at once", () => {
  lessMotion = true;
  playhead.load(run(2));
  assert.deepEqual([playhead.step, playhead.playing], [5, false]);
});

test("a run without rounds has no place", () => {
  playhead.load(run(0));
  assert.deepEqual([playhead.step, playhead.phase], [-1, null]);
});
