// The thread that decodes: that it has ended is noticed, however it ended.

import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { startThread } from "../../assets/browser/live/worker_thread.js";

const clock = { setInterval, clearInterval };
/** @type {Set<() => void>} */
const timers = new Set();
/** @type {any} */
let worker;
/** @type {any[]} */
let heard = [];
let deaths = 0;

beforeEach(() => {
  timers.clear();
  Object.assign(globalThis, { setInterval: (/** @type {() => void} */ each) => timers.add(each) && each, clearInterval: (/** @type {() => void} */ each) => timers.delete(each) });
  [heard, deaths] = [[], 0];
  globalThis.Worker = /** @type {any} */ (class {
    constructor() {
      Object.assign(this, { alive: true, sent: [] });
      worker = this;
    }

    /** @param {{ kind: string }} message */
    postMessage(message) {
      worker.sent.push(message);
      if (worker.alive && message.kind === "ping") worker.onmessage({ data: { kind: "alive" } });
    }

    terminate() {
      worker.alive = false;
    }
  });
});
after(() => Object.assign(globalThis, clock));

const started = () => startThread("", (message) => heard.push(message), () => (deaths += 1));
const wait = (/** @type {number} */ times) => Array.from({ length: times }, () => timers.forEach((each) => each()));

test("one that answers is never taken for dead, and its answers are nobody else's business", () => {
  started();
  wait(50);
  assert.deepEqual([deaths, heard, worker.sent.length], [0, [], 50]);
});

test("the address of its script is given back", () => {
  const given = [];
  const { revokeObjectURL } = URL;
  URL.revokeObjectURL = (address) => given.push(address);
  started().end();
  URL.revokeObjectURL = revokeObjectURL;
  assert.equal(given.length, 1);
});

test("one that was ended is noticed, once", () => {
  started();
  wait(3);
  worker.alive = false;
  wait(50);
  assert.equal(deaths, 1);
});

test("any message says that it is alive", () => {
  started();
  worker.alive = false;
  for (let i = 0; i < 20; i += 1) {
    wait(1);
    worker.onmessage({ data: { kind: "loading" } });
  }
  assert.deepEqual([deaths, heard.length], [0, 20]);
});

test("an error ends it, and one that the page ends is not reported", () => {
  started();
  worker.onerror({ preventDefault() {} });
  wait(50);
  assert.equal(deaths, 1);
  const other = started();
  other.end();
  wait(50);
  assert.equal(deaths, 1);
});
