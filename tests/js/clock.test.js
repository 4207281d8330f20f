import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { RaceClock } from "../../assets/browser/race/clock.js";

/** @type {RaceClock} */
let clock;
let reports = 0;
let lessMotion = false;
/** @type {FrameRequestCallback[]} */
let frames = [];

/**
 * One animation frame.
 * @param {number} now of the browser's clock, in ms
 */
function frame(now) {
  const due = frames;
  frames = [];
  for (const run of due) run(now);
}

beforeEach(() => {
  lessMotion = false;
  frames = [];
  reports = 0;
  Object.assign(globalThis, {
    matchMedia: () => ({ matches: lessMotion }),
    /** @param {FrameRequestCallback} run */
    requestAnimationFrame: (run) => frames.push(run),
    cancelAnimationFrame: () => (frames = []),
  });
  clock = new RaceClock(() => {}, () => (reports += 1));
});

test("a race plays by itself, so many times slower than it was", () => {
  clock.load({ end: 1000, slower: 4, place: null });
  frame(5000); // the first frame only says when now is
  assert.equal(clock.at, 0);
  frame(5100);
  assert.equal(clock.at, 25);
  assert.equal(reports, 0);
});

test("it stops at the end and reports once", () => {
  clock.load({ end: 100, slower: 1, place: null });
  for (let now = 0; now <= 300; now += 50) frame(now);
  assert.deepEqual([clock.at, clock.finished, clock.playing, reports], [100, true, false, 1]);
});

test("the time a hidden tab missed is not made up for at once", () => {
  clock.load({ end: 10_000, slower: 1, place: null });
  frame(0);
  frame(9000);
  assert.equal(clock.at, 250);
});

test("a given place is shown without playing, inside the race", () => {
  clock.load({ end: 1000, slower: 1, place: 400 });
  assert.deepEqual([clock.at, clock.playing], [400, false]);
  clock.load({ end: 1000, slower: 1, place: 5000 });
  assert.equal(clock.at, 1000);
});

test("who asked for less motion sees the end at once", () => {
  lessMotion = true;
  clock.load({ end: 1000, slower: 1, place: null });
  assert.deepEqual([clock.at, clock.playing, clock.finished], [1000, false, true]);
});

test("an arrow key moves a fiftieth of the race and reports", () => {
  clock.load({ end: 1000, slower: 1, place: 10 });
  clock.nudge(1);
  assert.equal(clock.at, 30);
  clock.nudge(-1);
  clock.nudge(-1);
  assert.deepEqual([clock.at, reports], [0, 3]);
});

test("play at the end starts again; pause reports", () => {
  clock.load({ end: 1000, slower: 1, place: 1000 });
  clock.toggle();
  assert.deepEqual([clock.at, clock.playing], [0, true]);
  clock.toggle();
  assert.deepEqual([clock.playing, reports], [false, 1]);
});

test("restart plays from the start", () => {
  clock.load({ end: 1000, slower: 1, place: 500 });
  clock.restart();
  assert.deepEqual([clock.at, clock.playing], [0, true]);
});
