// The lesson about latency and throughput: the formulas, on the published figures, and what is said of them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { STOPS, firstChoice, settingOf } from "../../assets/roofline/controls.js";
import { breakEven, cacheOfText, checkCost, corner, expertsTouched, memoryNeeded, parameters, pass, roundCost, speedup, tokensOfRound } from "../../assets/roofline/model.js";
import { reached, scales } from "../../assets/roofline/roof.js";
import { filled, inMs, reasons, verdict, wordOf } from "../../assets/roofline/words.js";

/** @import { PublishedMachine, RooflinePayload, Shape } from "../../assets/shared/payloads.js" */
/** @import { Setting } from "../../assets/roofline/model.js" */

/** @type {{ machines: PublishedMachine[], models: (Shape & { billions: number })[] }} */
const { machines, models } = JSON.parse(readFileSync(new URL("../../assets/roofline/machines.json", import.meta.url), "utf8"));
const [dense, mixtral, qwen] = /** @type {[Shape, Shape, Shape]} */ (/** @type {unknown} */ (models));
const machine = /** @type {PublishedMachine} */ (machines.find(({ short }) => short === "MI300X"));
const DRAFT = { alpha: 0.7, length: 4, cost: 0.05 };
const JUDGED = { neutral: 1.05, helps: "helps", even: "about even", hurts: "hurts" };
/** @type {(batch: number, context: number, shape?: Shape) => Setting} */
const setting = (batch, context, shape = dense) => ({ machine, shape, batch, context });
/** @type {(one: number, other: number, share?: number) => void} */
const near = (one, other, share = 1e-9) => assert.ok(Math.abs(one - other) <= share * Math.abs(other), `${one} is not ${other}`);

test("the shapes have as many weights as their makers say", () => {
  assert.equal(models.length, 3);
  for (const shape of models) near(parameters(shape), shape.billions * 1e9, 0.005);
});

test("random routing touches so many different experts", () => {
  near(expertsTouched(8, 2, 1), 2);
  near(expertsTouched(8, 2, 5), 8 * (1 - 0.75 ** 5));
  near(expertsTouched(8, 2, 5) / 2, 3.05, 0.01); // times the weights of one token
  assert.equal(expertsTouched(1, 1, 7), 1); // dense
  near(expertsTouched(128, 8, 10_000), 128);
  let sum = 0; // drawn: each of five tokens takes two different ones of eight
  const drawings = 20_000;
  for (let i = 0, seed = 1; i < drawings; i += 1) {
    const taken = new Set();
    for (let token = 0; token < 5; token += 1) {
      const left = [0, 1, 2, 3, 4, 5, 6, 7];
      for (let k = 0; k < 2; k += 1) {
        seed = (seed * 48271) % 2147483647;
        taken.add(left.splice(seed % left.length, 1)[0]);
      }
    }
    sum += taken.size;
  }
  near(sum / drawings, expertsTouched(8, 2, 5), 0.01);
});

test("a pass takes the longer time of its bytes and its arithmetic, for matrices and for attention", () => {
  const { weights, caches, seconds } = pass(setting(3, 1000), 2);
  near(caches.bytes, 3 * 2 * 32 * 8 * 128 * 1000 * 2);
  near(caches.flops, 3 * 2 * 4 * 32 * 32 * 128 * 1000);
  const matrices = 32 * (2 * 4096 * 128 * (32 + 8) + 3 * 4096 * 14336) + 128256 * 4096;
  near(weights.bytes, 2 * matrices);
  near(weights.flops, 2 * 3 * 2 * matrices);
  near(weights.fetching, weights.bytes / 5.3e12);
  near(weights.computing, weights.flops / 1307.4e12);
  near(seconds, Math.max(weights.fetching, weights.computing) + Math.max(caches.fetching, caches.computing));
  near(memoryNeeded(setting(3, 1000)), 2 * parameters(dense) + 3 * cacheOfText(dense, 1000));
});

test("the matrices do as many operations a byte as there are tokens in the pass, attention as many as share a cache", () => {
  for (const batch of [1, 16, 256]) {
    const { weights, caches } = pass(setting(batch, 2048), 5);
    near(weights.flops / weights.bytes, 5 * batch);
    near(caches.flops / caches.bytes, (5 * 32) / 8);
  }
});

test("with experts a small batch fetches other weights for each text, so its matrices gain far fewer operations a byte", () => {
  const operations = (/** @type {Shape} */ shape, /** @type {number} */ batch) => {
    const { weights } = pass(setting(batch, 512, shape), 1);
    return weights.flops / weights.bytes;
  };
  near(operations(dense, 8), 8);
  for (const shape of [mixtral, qwen]) assert.ok(operations(shape, 8) < 2.5);
});

test("a check is a plain pass where the machine waits, and as many as it has tokens where it is busy", () => {
  near(checkCost(setting(1, 512), 5), 1);
  assert.equal(checkCost(setting(256, 2048), 1), 1);
  near(checkCost(setting(4096, 1), 5), 5, 0.01);
  for (const batch of STOPS.batch) assert.ok(checkCost(setting(batch, 512), 5) >= 1);
});

test("what a batch changes: the gain of one text is lost in a large batch of short ones", () => {
  const gains = STOPS.batch.map((batch) => speedup(setting(batch, 512), DRAFT));
  assert.ok(Number(gains[0]) > 2 && Number(gains.at(-1)) < 1);
  assert.ok(gains.every((gain, i) => i === 0 || gain <= Number(gains[i - 1]) + 1e-9)); // never up again
});

test("why a long context brings it back: the share of attention grows, and a check fetches it once", () => {
  const gains = STOPS.context.map((context) => speedup(setting(128, context), DRAFT));
  assert.ok(gains.every((gain, i) => i === 0 || gain > Number(gains[i - 1])));
  const share = (/** @type {number} */ context) => pass(setting(128, context), 1).caches.seconds / pass(setting(128, context), 1).seconds;
  assert.ok(share(512) < 0.5 && share(8192) > 0.8);
});

test("why experts change it: one text loses, a medium batch gains, a large one less again", () => {
  const gain = (/** @type {number} */ batch) => speedup(setting(batch, 512, mixtral), DRAFT);
  assert.ok(gain(1) < 1 && gain(32) > 2 && gain(512) < gain(32));
  assert.ok(speedup(setting(1, 512, qwen), DRAFT) < 1 && speedup(setting(64, 512, qwen), DRAFT) > 2);
  const everyone = { ...qwen, experts: 1, active: 1 };
  near(checkCost(setting(1, 512, everyone), 5), 1); // dense: nothing more to fetch
});

test("a round writes 1 + α + … + α^γ tokens, and breaks even where it writes what it costs", () => {
  near(tokensOfRound(0.7, 4), 1 + 0.7 + 0.49 + 0.343 + 0.2401);
  assert.equal(tokensOfRound(1, 4), 5);
  assert.equal(tokensOfRound(0, 4), 1);
  const busy = setting(128, 512);
  const needed = breakEven(busy, DRAFT);
  assert.ok(needed !== null && needed > 0 && needed < 1);
  near(tokensOfRound(needed, 4), roundCost(busy, DRAFT));
  near(speedup(busy, { ...DRAFT, alpha: needed }), 1);
  assert.equal(breakEven(setting(4096, 1), { ...DRAFT, cost: 0.5 }), null);
  assert.equal(breakEven(setting(1, 512), { ...DRAFT, cost: 0 }), 0);
});

test("the roof has its corner where both times are equal, and every mark is on the picture", () => {
  near(corner(machine), 1307.4 / 5.3);
  near(reached(machine, 1), 5.3);
  assert.equal(reached(machine, 1e6), 1307.4);
  const { x, y } = scales(400);
  for (const each of machines)
    for (const shape of models)
      for (const batch of STOPS.batch)
        for (const work of [pass({ machine: each, shape, batch, context: 512 }, 11), pass({ machine: each, shape, batch, context: 512 }, 1)].flatMap(({ weights, caches }) => [weights, caches])) {
          const intensity = work.flops / work.bytes;
          assert.ok(x(intensity) > 42 && x(intensity) < 390, `${intensity}`);
          assert.ok(y(reached(each, intensity)) > 20 && y(reached(each, intensity)) < 265);
        }
});

const SAID = /** @type {Record<string, string>} */ ({
  verdict: "{check} for {tokens}, {round} for {written}.", above: "above {needed}, now {acceptance}", always: "always", never: "never",
  free: "free.", experts: "{more_experts} experts, not {experts}.", busy: "{all} tokens.", caches: "{share} attention.",
});

test("the verdict has the words of the one judge, and the reasons fit it", () => {
  assert.deepEqual([1.06, 1.05, 1, 0.96, 0.95].map((ratio) => wordOf(ratio, JUDGED)), ["helps", "even", "even", "even", "hurts"]);
  assert.match(verdict(setting(256, 512), DRAFT, SAID), /^2.\d\d for 5, \d.\d\d for 2\.77\. above \d+\u00a0%, now 70\u00a0%$/);
  assert.match(verdict(setting(4096, 1), { ...DRAFT, cost: 0.5 }, SAID), /never$/);
  assert.match(verdict(setting(1, 512), { ...DRAFT, cost: 0 }, SAID), /always$/);
  assert.equal(reasons(setting(1, 512), DRAFT, SAID), "free.");
  assert.match(reasons(setting(256, 512), DRAFT, SAID), /^1,280 tokens\./);
  assert.match(reasons(setting(128, 8192), DRAFT, SAID), /640 tokens\. 90\u00a0% attention\.$/);
  assert.match(reasons(setting(1, 512, qwen), DRAFT, SAID), /35\.3 experts, not 8\.0\./);
});

test("figures are written as people read them, and an unknown name stays", () => {
  assert.deepEqual([0.00001, 0.0031, 0.031, 1.5].map(inMs), ["0.01 ms", "3.1 ms", "31 ms", "1,500 ms"]);
  assert.equal(filled("{a} of {b}", { a: "1" }), "1 of {b}");
});

test("the controls hold every setting of an answer", () => {
  const shows = [{ machine: "MI300X", model: qwen.name, batch: 64, context: 512 }];
  const data = /** @type {RooflinePayload} */ (/** @type {unknown} */ ({ words: "technical", machines, models, draft: { acceptance: 70, length: 4, cost: 5 }, questions: [{ shows }] }));
  const chosen = firstChoice(data);
  for (const [name, stops] of Object.entries(STOPS)) assert.ok(stops.includes(Number(chosen[/** @type {keyof typeof STOPS} */ (name)])), name);
  assert.equal(settingOf(chosen, data).shape.name, qwen.name);
  assert.throws(() => settingOf({ ...chosen, model: "no such" }, data), /There is no MI300X or no such/);
});
