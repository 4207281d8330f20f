import assert from "node:assert/strict";
import { test } from "node:test";

import { queryOf } from "../../assets/browser/stage/transport.js";

const LINK = { prompt: "a & b", run: "first" };

test("a link holds the settings and the step", () => {
  assert.equal(String(queryOf(LINK, 7, undefined)), "prompt=a+%26+b&run=first&step=7");
  assert.equal(queryOf(LINK, -1, undefined).get("step"), "0");
});

test("a link holds the view of who copies it", () => {
  const views = /** @type {const} */ (["simple", "full", "projector", "stage"]);
  assert.deepEqual(views.map((view) => queryOf(LINK, 0, view).get("view")), views);
});
