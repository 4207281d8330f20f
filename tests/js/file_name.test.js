import assert from "node:assert/strict";
import { test } from "node:test";

import { fileName } from "../../assets/browser/shared/file_name.js";

test("a figure's file is named by what the figure shows", () => {
  assert.equal(fileName("Speedup by draft length, γ = 1 to 8."), "specviz-speedup-by-draft-length-γ-1-to-8");
  assert.equal(fileName("../../etc/passwd"), "specviz-etc-passwd");
  assert.equal(fileName(""), "specviz");
  assert.ok(fileName("a ".repeat(500)).length <= 60);
});
