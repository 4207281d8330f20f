import assert from "node:assert/strict";
import { test } from "node:test";

import { queryOf } from "../../assets/stage/share.js";

const LINK = { prompt: "a & b", run: "first" };

test("a link holds the settings and the step", () => {
  assert.equal(String(queryOf(LINK, 7, "full")), "prompt=a+%26+b&run=first&step=7");
  assert.equal(queryOf(LINK, -1, undefined).get("step"), "0");
});

test("a link holds the view only where it is the projector's or a frame's", () => {
  const views = /** @type {const} */ (["simple", "full", "projector", "stage"]);
  const held = views.map((view) => queryOf(LINK, 0, view).get("view"));
  assert.deepEqual(held, [null, null, "projector", "stage"]);
});
