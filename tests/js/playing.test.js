// Time in the browser: the clock of a race, the playhead of a run, what is reported when, and how often a run is drawn.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Pace } from "../../assets/browser/live/decoder.js";
import { RaceClock } from "../../assets/browser/race/clock.js";
import { Reporter, mount } from "../../assets/browser/shared/mounting.js";
import { Playhead } from "../../assets/browser/stage/playhead.js";

const [PROPOSE, CHECK, JUDGE] = [750, 650, 1150]; // ms at 1×
let clock, playhead, reports, lessMotion, frames;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  [reports, lessMotion, frames] = [0, false, []];
  Object.assign(globalThis, {
    matchMedia: () => ({ matches: lessMotion }),
    requestAnimationFrame: (run) => frames.push(run),
    cancelAnimationFrame: () => (frames = []),
  });
  const report = () => (reports += 1);
  clock = new RaceClock(() => {}, report);
  playhead = new Playhead(() => {}, report);
});

// ---- the clock of a race

/** One animation frame, at this time of the browser's clock in ms. */
const frame = (now) => frames.splice(0).forEach((run) => run(now));
const race = (place = null, slower = 1, end = 1000) => clock.load({ end, slower, place });

test("a race plays by itself, so many times slower than it was, and not what a hidden tab missed", () => {
  race(null, 4);
  frame(5000); // the first frame only says when now is
  assert.equal(clock.at, 0);
  frame(5100);
  assert.equal(clock.at, 25);
  assert.equal(reports, 0);
  race(null, 1, 10_000);
  frame(0);
  frame(9000);
  assert.equal(clock.at, 250);
});

test("a race stops at its end and reports once", () => {
  race(null, 1, 100);
  for (let now = 0; now <= 300; now += 50) frame(now);
  assert.deepEqual([clock.at, clock.finished, clock.playing, reports], [100, true, false, 1]);
});

test("a given place is shown without playing, inside the race; with less motion it is the end", () => {
  for (const [place, at] of [[400, 400], [5000, 1000]]) {
    race(place);
    assert.deepEqual([clock.at, clock.playing], [at, false]);
  }
  lessMotion = true;
  race();
  assert.deepEqual([clock.at, clock.playing, clock.finished], [1000, false, true]);
});

test("an arrow key moves a fiftieth of the race and reports; play at its end and restart begin again; pause reports", () => {
  race(10);
  const after = (act) => (act(), [clock.at, clock.playing, reports]);
  assert.deepEqual(after(() => clock.nudge(1)), [30, false, 1]);
  assert.deepEqual(after(() => clock.nudge(-1) ?? clock.nudge(-1)), [0, false, 3]);
  race(1000);
  assert.deepEqual(after(() => clock.toggle()), [0, true, 3]);
  assert.deepEqual(after(() => clock.toggle()), [0, false, 4]);
  race(500);
  assert.deepEqual(after(() => clock.restart()).slice(0, 2), [0, true]);
});

// ---- the playhead of a run

/** Time passes in small steps: a timer that starts another one is then on time. */
const pass = (ms) => Array.from({ length: ms }, () => mock.timers.tick(1));
/** `more`: others may still come. */
const run = (rounds, { id = "a", more = false, place = null } = {}) =>
  playhead.load({ run_id: id, rounds: Array(rounds).fill({}), more, playhead: place, phases: ["propose", "check", "judge"] });

test("a first run plays by itself, each step as long as its phase over the speed, and reports nothing", () => {
  for (const speed of [1, 2]) {
    playhead.setSpeed(speed);
    run(2, { id: `at ${speed}` });
    assert.deepEqual([playhead.step, playhead.playing], [0, true]);
    pass(PROPOSE / speed - 1);
    assert.equal(playhead.phase, "propose");
    pass(1);
    assert.equal(playhead.phase, "check");
    pass((CHECK + JUDGE) / speed);
    assert.deepEqual([playhead.round, playhead.phase, reports], [1, "propose", 0]);
    pass(10_000);
    assert.equal(reports, 1); // it stops at the end and reports once
    reports = 0;
  }
});

test("a given place is shown, without playing, as soon as the run reaches it", () => {
  for (const [rounds, step] of [[1, 2], [2, 5]]) {
    run(rounds, { place: 5, more: true });
    assert.deepEqual([playhead.step, playhead.playing], [step, false]);
  }
});

test("a run that grows is waited for, goes on when a round arrives, and no step is late for it", () => {
  run(1, { more: true });
  pass(PROPOSE - 10);
  run(1, { more: true });
  pass(10);
  assert.equal(playhead.step, 1);
  pass(10_000);
  assert.deepEqual([playhead.step, playhead.playing, playhead.waiting], [2, true, true]);
  run(2, { more: true });
  pass(JUDGE);
  assert.deepEqual([playhead.step, playhead.waiting], [3, false]);
});

test("buttons move by steps and by rounds, inside the run", () => {
  run(3, { place: 4 });
  const moves = ["forward", "roundForward", "roundBack", "roundBack", "back", "last", "forward", "first", "back"];
  assert.deepEqual(moves.map((name) => (playhead.move(name), playhead.step)), [5, 8, 6, 3, 2, 8, 8, 0, 0]);
  assert.equal(reports, 9);
});

test("pause reports the place, play goes on from it, and at the end it starts again", () => {
  run(2);
  playhead.toggle();
  pass(10_000);
  assert.deepEqual([playhead.step, playhead.playing, reports], [0, false, 1]);
  playhead.toggle();
  pass(PROPOSE);
  assert.equal(playhead.step, 1);
  playhead.toggle();
  playhead.move("last");
  playhead.toggle();
  assert.deepEqual([playhead.step, playhead.playing], [0, true]);
});

test("a visitor who stopped inside keeps the place in the next run, and one at the end sees it from its start", () => {
  run(3);
  playhead.seek(4);
  run(1, { id: "b", more: true });
  assert.equal(playhead.step, 2);
  run(3, { id: "b" });
  assert.deepEqual([playhead.step, playhead.playing], [4, false]);
  playhead.move("last");
  run(2, { id: "c" });
  assert.deepEqual([playhead.step, playhead.playing], [0, true]);
});

test("who asked for less motion sees the end at once; a run without rounds has no place", () => {
  lessMotion = true;
  run(2);
  assert.deepEqual([playhead.step, playhead.playing], [5, false]);
  run(0, { id: "b" });
  assert.deepEqual([playhead.step, playhead.phase], [-1, null]);
});

// ---- reports and drawings

test("movements soon after each other are one report of the last place; none of the same place, of none, or after the end", () => {
  const sent = [];
  let place = null;
  const reporter = new Reporter(() => place);
  reporter.send = (reported) => sent.push(reported);
  const report = (...places) => { for (place of places) reporter.report(); };
  for (const places of [[null], [1, 2, 3], [3]]) {
    report(...places);
    mock.timers.tick(1000);
  }
  report(4);
  reporter.stop();
  mock.timers.tick(1000);
  assert.deepEqual(sent, [3]);
});

test("after a drawing three times as long is left; the first trace of a run and the last one are always drawn", () => {
  let now = 1000;
  const [pace, drawn] = [new Pace(() => now), []];
  const arrives = (at, last = false) => {
    now = at;
    pace.take(last, () => {
      drawn.push(at);
      now += 100; // a slow processor
    });
  };
  for (const at of [1000, 1150, 1399, 1400, 1600]) arrives(at);
  assert.deepEqual(drawn, [1000, 1400]);
  arrives(1650, true);
  assert.deepEqual(drawn, [1000, 1400, 1650]);
  pace.begin();
  arrives(1800);
  assert.deepEqual(drawn, [1000, 1400, 1650, 1800]);
});

test("a part that stays gets every payload; one whose place is another is stopped; an end that comes too late ends nothing", () => {
  Object.assign(globalThis, { ShadowRoot: class {}, HTMLElement: class {} });
  const [made, root] = [[], { isConnected: true, querySelector: () => root.node }];
  const place = () => (root.node = { isConnected: true });
  const update = mount(".part", () => {
    const part = { node: root.node, loaded: [], stopped: 0, load: ({ data }) => part.loaded.push(data), stop: () => (part.stopped += 1) };
    made.push(part);
    return part;
  });
  const given = (data) => update({ parentElement: root, data: data && new TextEncoder().encode(JSON.stringify(data)) });
  const became = () => made.map(({ loaded, stopped }) => [loaded, stopped]);
  place();
  given(null);
  given(1)();
  given(2)();
  assert.deepEqual(became(), [[[1, 2], 0]]);
  place();
  const end = given(3);
  root.isConnected = false;
  end();
  assert.deepEqual(became(), [[[1, 2], 1], [[3], 1]]);
});
