import assert from "node:assert/strict";
import { test } from "node:test";

import { luminance } from "../../assets/browser/shared/theme.js";

test("luminance follows WCAG", () => {
  assert.equal(luminance("rgb(0, 0, 0)"), 0);
  assert.equal(Math.round(luminance("rgb(255, 255, 255)") * 1e6) / 1e6, 1);
  assert.equal(luminance("rgb(128, 128, 128)").toFixed(3), "0.216");
  assert.ok(luminance("rgb(15, 19, 24)") < 0.01); // the dark theme's background
});

test("a colour that cannot be read counts as light", () => {
  assert.ok(luminance("") > 0.99);
});
