// The thread that decodes: that it has ended is noticed, however it ended.

import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { startThread } from "../../assets/browser/live/decoder.js";

const before = { setInterval, clearInterval, revokeObjectURL: URL.revokeObjectURL };
const timers = new Set();
let worker, heard, deaths, given;

beforeEach(() => {
  timers.clear();
  [heard, deaths, given] = [[], 0, []];
  URL.revokeObjectURL = (address) => given.push(address);
  Object.assign(globalThis, { setInterval: (each) => timers.add(each) && each, clearInterval: (each) => timers.delete(each) });
  globalThis.Worker = class {
    alive = true;
    sent = [];
    constructor() {
      worker = this;
    }
    postMessage(message) {
      this.sent.push(message);
      if (this.alive && message.kind === "ping") this.onmessage({ data: { kind: "alive" } });
    }
    terminate() {
      this.alive = false;
    }
  };
});
after(() => {
  Object.assign(globalThis, { setInterval: before.setInterval, clearInterval: before.clearInterval });
  URL.revokeObjectURL = before.revokeObjectURL;
});

const started = () => startThread("", (message) => heard.push(message), () => (deaths += 1));
const wait = (times) => Array.from({ length: times }, () => timers.forEach((each) => each()));

test("one that answers is never taken for dead, and its answers are nobody else's business", () => {
  started();
  wait(50);
  assert.deepEqual([deaths, heard, worker.sent.length], [0, [], 50]);
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

test("an error ends it; one that the page ends is not reported, and gives its script's address back", () => {
  started();
  worker.onerror({ preventDefault() {} });
  wait(50);
  assert.deepEqual([deaths, given.length], [1, 1]);
  started().end();
  wait(50);
  assert.deepEqual([deaths, given.length], [1, 2]);
});
