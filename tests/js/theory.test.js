// The rule for v(k), with the cases of Python's test.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { verificationSteps } from "../../assets/shared/theory.js";

test("the cost of a check is that of the table which Python has too", () => {
  const cases = JSON.parse(readFileSync(new URL("../fixtures/verification_steps.json", import.meta.url), "utf-8"));
  for (const { table, tokens, steps } of cases) {
    const known = new Map(Object.entries(table).map(([count, its]) => [Number(count), /** @type {number} */ (its)]));
    assert.ok(Math.abs(verificationSteps(known, tokens) - steps) < 1e-9, JSON.stringify({ table, tokens, steps }));
  }
  assert.ok(cases.length);
});
