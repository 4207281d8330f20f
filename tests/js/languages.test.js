// Figures in the language of the texts that are written before a program.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

const BROWSER = new URL("../../assets/browser/", import.meta.url).href;
const WRITTEN = `
const load = (file) => import("${BROWSER}" + file);
const { sayer } = await load("shared/fill.js");
const { fixed, grouped, percent, prob, times } = await load("shared/numbers.js");
const { layoutOf } = await load("chart/chart.js");
const say = sayer({ heat: "{t}: {n:one|many}" });
process.stdout.write([
  times(1.405), prob(0.0078), prob(0.99999), percent(0.81), fixed(1234.5, 1), grouped(1024), grouped(12345.5),
  say("heat", { t: 0.7, n: 1 }), say("heat", { t: 1024, n: 2 }), layoutOf({}, {}, 0).separators,
].join(" | "));`;

for (const [language, said] of [
  ["en", "1.41× | 0.78 % | >99.9 % | 81 % | 1234.5 | 1,024 | 12,345.5 | 0.7: one | 1024: many | .,"],
  ["es", "1,41× | 0,78\u00a0% | >99,9\u00a0% | 81\u00a0% | 1234,5 | 1024 | 12.345,5 | 0,7: one | 1024: many | ,."],
  ["zh-Hans", "1.41× | 0.78% | >99.9% | 81% | 1234.5 | 1024 | 12,345.5 | 0.7: many | 1024: many | .,"],
]) {
  test(`a browser writes figures in the language of its texts: ${language}`, () => {
    const code = `globalThis.TEXTS = { language: "${language}" };${WRITTEN}`;
    const found = execFileSync(process.execPath, [...process.execArgv.filter((option) => option !== "--test"), "--input-type=module", "--eval", code], { encoding: "utf-8" });
    assert.equal(found, said);
  });
}
