// The thread that decodes: that it has ended is noticed, however it ended.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { startThread } from "../../assets/browser/live/decoder.js";

const timers = new Set();
let worker, heard, deaths, given;

beforeEach(() => {
  mock.reset();
  timers.clear();
  mock.method(globalThis, "setInterval", (each) => timers.add(each) && each);
  mock.method(globalThis, "clearInterval", (each) => timers.delete(each));
  [heard, deaths, given] = [[], 0, []];
  mock.method(URL, "revokeObjectURL", (address) => given.push(address));
  globalThis.Worker = class {
    alive = true;
    constructor() {
      worker = this;
    }
    postMessage({ kind }) {
      if (this.alive && kind === "ping") this.onmessage({ data: { kind: "alive" } });
    }
    terminate() {
      this.alive = false;
    }
  };
});

const started = () => startThread("", (message) => heard.push(message), () => (deaths += 1));
const wait = (times) => Array.from({ length: times }, () => timers.forEach((each) => each()));

test("one that answers is never taken for dead, and its answers are nobody else's business; one that was ended is noticed, once", () => {
  started();
  wait(50);
  assert.deepEqual([deaths, heard], [0, []]);
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
  started().end();
  wait(50);
  assert.deepEqual([deaths, given.length], [1, 2]);
});
