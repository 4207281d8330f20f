import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { written } from "../../scripts/build_kernel.js";

test("the kernel that ships is the one that arithmetic.ts gives: npm run kernel", () => {
  const shipped = readFileSync(new URL("../../assets/browser/engine/kernel_bytes.js", import.meta.url), "utf-8");
  assert.equal(written(), shipped);
});
