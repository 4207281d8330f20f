import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { built } from "../../scripts/build_browser.js";

const shipped = (name) => readFileSync(new URL(`../../assets/browser/${name}`, import.meta.url), "utf-8");

test("the programs that ship are those that assets/browser gives: npm run build", async () => {
  const files = await built();
  assert.ok(files.length > 10);
  for (const [name, text] of files) assert.equal(shipped(`dist/${name}`) === text, true, name);
});
